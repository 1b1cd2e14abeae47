# End to end: the real tarry and a real Kafka. Each program starts a broker of its own; two run at a time, as they mostly wait.
add_library(support_e2e STATIC support/await.c support/claims.c support/exposition.c support/http_get.c support/ledger.c support/log_tail.c
    support/scene.c support/scene_instance.c support/scene_letters.c support/shifted_clock.c support/tarry_process.c support/temp.c)
target_include_directories(support_e2e PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(support_e2e PRIVATE tarry_options PUBLIC support_kafka support_nats room_dlq room_scheduler room_base PkgConfig::CMOCKA)

# For scenes with dead letters.
set(e2e_environment "E2E_TARRY_BIN=$<TARGET_FILE:tarry>" "NATS_SERVER=${CMAKE_SOURCE_DIR}/build/deps/nats/2.15/nats-server")

# tarry_e2e(NAME TIMEOUT [LABEL...]): further labels beside e2e.
function(tarry_e2e name timeout)
    tarry_test(${name} FOLDER e2e LABEL e2e TIMEOUT ${timeout} LIBRARIES support_e2e)
    add_dependencies(${name} tarry)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${e2e_environment}")
    set_property(TEST ${name} APPEND PROPERTY LABELS ${ARGN})
endfunction()

tarry_e2e(e2e_example 180)
tarry_e2e(e2e_bulk 300)
tarry_e2e(e2e_crash 600)
tarry_e2e(e2e_outage 300)
tarry_e2e(e2e_idle 180)
tarry_e2e(e2e_restart 420)
tarry_e2e(e2e_topics 420)
tarry_e2e(e2e_disk 300)
tarry_e2e(e2e_hostile 240)
tarry_e2e(e2e_pressure 420)
tarry_e2e(e2e_wheel 240)
tarry_e2e(e2e_exact 420 exactly_once)
tarry_e2e(e2e_exact_trouble 180 exactly_once)
tarry_e2e(e2e_exact_change 300 exactly_once)
tarry_e2e(e2e_takeover 420 exactly_once)
tarry_e2e(e2e_takeover_changed 300 exactly_once)
tarry_e2e(e2e_copy 300 exactly_once)
tarry_e2e(e2e_copy_change 240 exactly_once)

# These measure the machine: processor time of a quiet tarry, memory and pace under pressure.
set_tests_properties(e2e_idle e2e_pressure PROPERTIES RUN_SERIAL TRUE)

tarry_nats_test(e2e_letters FOLDER e2e LABEL "e2e;dlq" TIMEOUT 600 LIBRARIES support_e2e ENVIRONMENT "E2E_TARRY_BIN=$<TARGET_FILE:tarry>")
add_dependencies(e2e_letters tarry)

# The real tarry and librdkafka's mock cluster, which answers with errors: no broker needed.
tarry_test(e2e_faults FOLDER e2e LABEL "mock;exactly_once" TIMEOUT 300 LIBRARIES support_e2e)
add_dependencies(e2e_faults tarry)
set_tests_properties(e2e_faults PROPERTIES RUN_SERIAL TRUE ENVIRONMENT "E2E_TARRY_BIN=$<TARGET_FILE:tarry>")

tarry_test(test_ledger FOLDER unit LABEL unit SOURCES support/ledger.c ROOMS base)
