# docs/openapi.yaml: valid, the same as the table of routes, and true of a running tarry. What its tests import deps_openapi fetches (scripts/lib/deps.sh).
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(openapi_environment "PYTHONPATH=${CMAKE_SOURCE_DIR}/build/deps/openapi" "PYTHONDONTWRITEBYTECODE=1")
set(openapi_checks ${CMAKE_CURRENT_SOURCE_DIR}/http)
set(openapi_file ${CMAKE_SOURCE_DIR}/docs/openapi.yaml)

add_test(NAME openapi_valid COMMAND ${Python3_EXECUTABLE} ${openapi_checks}/check_openapi.py ${openapi_file} ${CMAKE_SOURCE_DIR}/docs/http.md)
tarry_test_program(print_routes FOLDER http ROOMS ops base)
add_test(NAME openapi_routes COMMAND ${Python3_EXECUTABLE} ${openapi_checks}/check_routes.py ${openapi_file} $<TARGET_FILE:print_routes>)
set_tests_properties(openapi_valid openapi_routes PROPERTIES LABELS http TIMEOUT 60 ENVIRONMENT "${openapi_environment}")

# A real Kafka, nats-server and tarry, asked by check_server.py.
tarry_test(e2e_openapi FOLDER http LABEL "e2e;http" TIMEOUT 240 LIBRARIES support_dlq_e2e)
add_dependencies(e2e_openapi tarry)
set_tests_properties(e2e_openapi PROPERTIES RUN_SERIAL TRUE
    ENVIRONMENT "${openapi_environment};E2E_TARRY_BIN=$<TARGET_FILE:tarry>;NATS_SERVER=${CMAKE_SOURCE_DIR}/build/deps/nats/2.15/nats-server;PYTHON=${Python3_EXECUTABLE};OPENAPI=${openapi_file};CHECK_SERVER=${openapi_checks}/check_server.py")
