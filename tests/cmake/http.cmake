# Log lines, mailbox, metrics, health, HTTP, signals, service manager.
get_filename_component(HTTP_REPOSITORY ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)

foreach(name test_clock test_log_output test_mailbox test_health test_signals test_notify)
    tarry_test(${name} FOLDER unit LABEL unit ROOMS ops base)
endforeach()
tarry_test(test_clock_kernel FOLDER unit LABEL "unit;metrics" ROOMS ops base)
tarry_test(test_metrics FOLDER unit LABEL "unit;metrics" ROOMS ops base SOURCES ${HTTP_REPOSITORY}/tests/support/exposition.c)
target_compile_definitions(test_metrics PRIVATE METRICS_DOCS="${HTTP_REPOSITORY}/docs/metrics.md")
tarry_test(test_http FOLDER unit LABEL unit ROOMS ops base
           SOURCES ${HTTP_REPOSITORY}/tests/support/exposition.c ${HTTP_REPOSITORY}/tests/support/http_client.c)
tarry_test(test_http_parts FOLDER unit LABEL unit ROOMS ops base)
