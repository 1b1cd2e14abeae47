# Lists of what is pending: their parts, the walk through a real store, and the rule of what is done against the core.
tarry_test(test_api_list FOLDER unit LABEL "unit;http" ROOMS ops base)
tarry_test(test_api_list_walk FOLDER unit LABEL "unit;http" ROOMS ops base SOURCES support/list_scene.c support/temp.c)
tarry_test(test_api_list_core FOLDER unit LABEL "unit;http" ROOMS ops base SOURCES support/core_case.c)
tarry_test(test_api_event FOLDER unit LABEL "unit;http" ROOMS ops base)
tarry_test(test_api_list_answer FOLDER unit LABEL "unit;http" ROOMS ops base
    SOURCES support/api_scene.c support/daemon_scene.c support/list_scene.c support/temp.c)

# Pages of a real tarry on a real Kafka. (e2e.cmake, which has the libraries, comes later.)
tarry_test(e2e_api_list FOLDER e2e LABEL "e2e;http" TIMEOUT 180 LIBRARIES support_schedules SOURCES support/http_client.c)
add_dependencies(e2e_api_list tarry)
set_tests_properties(e2e_api_list PROPERTIES RUN_SERIAL TRUE ENVIRONMENT "E2E_TARRY_BIN=$<TARGET_FILE:tarry>")
