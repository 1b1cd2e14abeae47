# Writes by HTTP: records and controls into source topics, steering, what repeats, who did what.
tarry_test(test_decode_request FOLDER unit LABEL unit ROOMS bridge base SOURCES support/sample_record.c)
tarry_test(test_request_sink FOLDER unit LABEL "mock;http" ROOMS bridge base LIBRARIES support_kafka SOURCES support/await.c)
tarry_test(test_api_idempotency FOLDER unit LABEL "unit;http" ROOMS ops base)
tarry_test(test_api_audit FOLDER unit LABEL "unit;http" ROOMS ops base LIBRARIES PkgConfig::CJSON)
tarry_test(test_api_record FOLDER unit LABEL "unit;http" ROOMS ops bridge base SOURCES support/sample_record.c LIBRARIES PkgConfig::CJSON)
tarry_test(test_daemon_watch FOLDER unit LABEL "unit;http" ROOMS ops bridge scheduler base SOURCES support/daemon_scene.c)

add_library(support_write_client STATIC support/write_client.c support/http_client.c)
target_link_libraries(support_write_client PRIVATE tarry_options PUBLIC support_e2e PkgConfig::CJSON)
foreach(name e2e_api_writes e2e_api_owners)
    tarry_test(${name} FOLDER e2e LABEL "e2e;http" TIMEOUT 240 LIBRARIES support_e2e support_schedules support_write_client)
    add_dependencies(${name} tarry)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE
        ENVIRONMENT "E2E_TARRY_BIN=$<TARGET_FILE:tarry>;NATS_SERVER=${CMAKE_SOURCE_DIR}/build/deps/nats/2.15/nats-server")
endforeach()
