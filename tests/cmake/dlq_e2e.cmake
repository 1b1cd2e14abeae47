# Dead letters end to end: the real tarry, a real Kafka, real nats-servers. Two run at a time, as they mostly wait.
add_library(support_dlq_e2e STATIC support/scene_dlq.c support/cli_program.c)
target_include_directories(support_dlq_e2e PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(support_dlq_e2e PRIVATE tarry_options PUBLIC support_e2e support_kafka support_nats room_dlq room_base PkgConfig::CMOCKA PkgConfig::NATS)

foreach(name e2e_dlq_life e2e_dlq_crash e2e_dlq_two e2e_dlq_reports e2e_nack)
    set(labels "e2e;dlq")
    if(name STREQUAL e2e_nack)
        list(APPEND labels nack)
    endif()
    tarry_nats_test(${name} FOLDER e2e LABEL "${labels}" TIMEOUT 300 LIBRARIES support_dlq_e2e
        ENVIRONMENT "E2E_TARRY_BIN=$<TARGET_FILE:tarry>")
    add_dependencies(${name} tarry)
endforeach()

# With the newest server alone: clusters are of it, and the transcript is one text.
tarry_test(e2e_dlq_cluster FOLDER e2e LABEL "e2e;dlq" TIMEOUT 300 LIBRARIES support_dlq_e2e)
tarry_test(e2e_dlq_transcript FOLDER e2e LABEL "e2e;dlq" TIMEOUT 300 SOURCES support/replay_scene.c ROOMS dlq base LIBRARIES support_nats support_kafka)
target_compile_definitions(e2e_dlq_transcript PRIVATE TRANSCRIPT_DOCS="${CMAKE_SOURCE_DIR}/docs/dead-letters-transcript.md")
foreach(name e2e_dlq_cluster e2e_dlq_transcript)
    add_dependencies(${name} tarry)
    set_tests_properties(${name} PROPERTIES
        ENVIRONMENT "E2E_TARRY_BIN=$<TARGET_FILE:tarry>;NATS_SERVER=${CMAKE_SOURCE_DIR}/build/deps/nats/2.15/nats-server")
endforeach()
