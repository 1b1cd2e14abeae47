# Alert rules and dashboard: their names against the table of metrics, their timing by promtool, and the live ones by a real Prometheus. Metrics over a restart.
set(prometheus ${CMAKE_SOURCE_DIR}/build/deps/prometheus) # scripts/lib/prometheus.sh fetches it
set(alerts ${CMAKE_CURRENT_SOURCE_DIR}/alerts)

add_test(NAME alerts_rules COMMAND ${alerts}/check_rules.sh ${prometheus}/promtool ${CMAKE_SOURCE_DIR}/deploy/prometheus)
add_test(NAME alerts_names COMMAND ${Python3_EXECUTABLE} -B ${alerts}/check_names.py ${CMAKE_SOURCE_DIR})
add_test(NAME alerts_names_self_test COMMAND ${Python3_EXECUTABLE} -B ${alerts}/check_names.py ${CMAKE_SOURCE_DIR} --self-test)
set_tests_properties(alerts_rules alerts_names alerts_names_self_test PROPERTIES LABELS alerts TIMEOUT 120)

tarry_test(e2e_alerts FOLDER e2e LABEL alerts TIMEOUT 420 SOURCES support/prometheus.c LIBRARIES support_dlq_e2e support_write_client PkgConfig::CJSON)
target_compile_definitions(e2e_alerts PRIVATE TARRY_RULES="${CMAKE_SOURCE_DIR}/deploy/prometheus/tarry.rules.yml"
    TARRY_DASHBOARD="${CMAKE_SOURCE_DIR}/deploy/grafana/tarry.json")
add_dependencies(e2e_alerts tarry clock_shift)
set_tests_properties(e2e_alerts PROPERTIES RUN_SERIAL TRUE
    ENVIRONMENT "${e2e_environment};E2E_CLOCK_SHIFT=$<TARGET_FILE:clock_shift>;E2E_PROMETHEUS=${prometheus}/prometheus")

tarry_test(e2e_metrics FOLDER e2e LABEL "e2e;metrics" TIMEOUT 180 LIBRARIES support_dlq_e2e)
add_dependencies(e2e_metrics tarry)
set_tests_properties(e2e_metrics PROPERTIES ENVIRONMENT "${e2e_environment}")
