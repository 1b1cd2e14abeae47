# Dead letters and NATS: against real nats-servers that the tests start, of the oldest and the newest version we support (scripts/lib/nats.sh fetches both).

# What tests need to speak to NATS themselves: servers, a plain client, letters.
add_library(support_nats STATIC support/nats_server.c support/nats_client.c support/nats_letters.c support/http_get.c support/await.c support/temp.c)
target_include_directories(support_nats PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(support_nats PRIVATE tarry_options PUBLIC room_dlq room_base PkgConfig::CMOCKA PkgConfig::NATS)

tarry_test(test_nats_answer FOLDER unit LABEL unit ROOMS dlq base LIBRARIES PkgConfig::NATS)
tarry_nats_test(test_nats_link ROOMS dlq base LIBRARIES support_nats)
tarry_nats_test(test_nats_streams ROOMS dlq base LIBRARIES support_nats)
tarry_nats_test(test_nats_jobs ROOMS dlq base LIBRARIES support_nats)
tarry_nats_test(test_nats_mailer ROOMS dlq base LIBRARIES support_nats)
tarry_nats_test(test_nats_outbox ROOMS dlq base LIBRARIES support_nats)
