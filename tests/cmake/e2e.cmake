# End to end: the real tarry and a real Kafka. Each program starts a broker of its own and has the machine to itself.
add_library(support_e2e STATIC support/await.c support/claims.c support/http_get.c support/ledger.c support/scene.c
    support/tarry_process.c support/temp.c)
target_include_directories(support_e2e PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(support_e2e PRIVATE tarry_options PUBLIC support_kafka room_scheduler room_base PkgConfig::CMOCKA)

function(tarry_e2e name timeout)
    tarry_test(${name} FOLDER e2e LABEL e2e TIMEOUT ${timeout} LIBRARIES support_e2e)
    add_dependencies(${name} tarry)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE ENVIRONMENT "E2E_TARRY_BIN=$<TARGET_FILE:tarry>")
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

tarry_test(test_ledger FOLDER unit LABEL unit SOURCES support/ledger.c ROOMS base)
