# What the API says of single events, of numbers and of what is to come.
foreach(name event forecast)
    tarry_test(test_core_${name} FOLDER unit LABEL "unit;http" ROOMS scheduler base SOURCES support/core_case.c)
endforeach()
tarry_test(test_api_past FOLDER unit LABEL "unit;http" ROOMS ops base)
tarry_test(test_api_row FOLDER unit LABEL "unit;http" ROOMS ops base SOURCES support/list_scene.c support/temp.c)
tarry_test(test_api_get FOLDER unit LABEL "unit;http" ROOMS ops base SOURCES support/api_scene.c support/daemon_scene.c support/list_scene.c support/temp.c)
tarry_test(test_daemon_outcomes FOLDER unit LABEL "unit;http" ROOMS ops scheduler base)
tarry_test(test_daemon_api_get FOLDER unit LABEL "unit;http" ROOMS ops scheduler base
    SOURCES support/daemon_scene.c support/list_scene.c support/temp.c)

# Each state of an event, numbers and forecasts of a real tarry on a real Kafka. (e2e.cmake, which has the libraries, comes later.)
tarry_test(e2e_api_reads FOLDER e2e LABEL "e2e;http" TIMEOUT 180 LIBRARIES support_schedules SOURCES support/http_client.c)
add_dependencies(e2e_api_reads tarry)
set_tests_properties(e2e_api_reads PROPERTIES RUN_SERIAL TRUE ENVIRONMENT "E2E_TARRY_BIN=$<TARGET_FILE:tarry>")
