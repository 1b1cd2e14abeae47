# What tests need to speak to Kafka themselves: a real broker (jars by scripts/lib/kafka.sh), its administration, a plain client.
add_library(support_kafka STATIC support/kafka_broker.c support/kafka_client.c support/kafka_topics.c)
target_compile_definitions(support_kafka PRIVATE TARRY_TEST_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_include_directories(support_kafka PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(support_kafka PRIVATE tarry_options PUBLIC room_base PkgConfig::CMOCKA PkgConfig::RDKAFKA)
