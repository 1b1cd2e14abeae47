# Log lines, mailbox, metrics, health, HTTP, signals, service manager.
get_filename_component(HTTP_REPOSITORY ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)

foreach(name test_clock test_log_output test_mailbox test_health test_signals test_notify)
    tarry_test(${name} FOLDER unit LABEL unit ROOMS ops base)
endforeach()
tarry_test(test_clock_kernel FOLDER unit LABEL "unit;metrics" ROOMS ops base)
tarry_test(test_metrics FOLDER unit LABEL "unit;metrics" ROOMS ops base SOURCES ${HTTP_REPOSITORY}/tests/support/exposition.c)
target_compile_definitions(test_metrics PRIVATE METRICS_DOCS="${HTTP_REPOSITORY}/docs/metrics.md")
set(http_support ${HTTP_REPOSITORY}/tests/support/http_client.c ${HTTP_REPOSITORY}/tests/support/http_scene.c)
tarry_test(test_http FOLDER unit LABEL "unit;http" ROOMS ops base
           SOURCES ${HTTP_REPOSITORY}/tests/support/exposition.c ${HTTP_REPOSITORY}/tests/support/http_client.c)
tarry_test(test_http_table FOLDER unit LABEL "unit;http" ROOMS ops base)
target_compile_definitions(test_http_table PRIVATE HTTP_DOCS="${HTTP_REPOSITORY}/docs/http.md")
tarry_test(test_http_parts FOLDER unit LABEL "unit;http" ROOMS ops base)
tarry_test(test_event_feed FOLDER unit LABEL "unit;http" ROOMS ops base)
tarry_test(test_api_parameter FOLDER unit LABEL "unit;http" ROOMS ops base)
foreach(name test_http_guards test_http_socket test_http_events test_api_pool)
    tarry_test(${name} FOLDER unit LABEL "unit;http" ROOMS ops base SOURCES ${http_support})
endforeach()

# The whole daemon among clients that misbehave, with librdkafka's mock cluster: no broker needed.
tarry_test(e2e_http FOLDER e2e LABEL "mock;http" TIMEOUT 180 LIBRARIES support_e2e SOURCES ${HTTP_REPOSITORY}/tests/support/http_client.c)
add_dependencies(e2e_http tarry)
set_tests_properties(e2e_http PROPERTIES RUN_SERIAL TRUE ENVIRONMENT "E2E_TARRY_BIN=$<TARGET_FILE:tarry>")
