# The command line: its table of verbs as documents; asking a daemon, against a server that answers by a script; completion in the shells themselves.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
tarry_test(test_verb_docs FOLDER unit LABEL "unit;cli" ROOMS cli ops dlq bridge base)
target_compile_definitions(test_verb_docs PRIVATE "SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
tarry_test(test_sse FOLDER unit LABEL "unit;cli" ROOMS cli base)
tarry_test(test_api_client_address FOLDER unit LABEL "unit;cli" ROOMS cli ops base)

foreach(name client daemon_verbs daemon_views completion table)
    add_test(NAME cli_${name} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/cli/test_${name}.py)
    set_tests_properties(cli_${name} PROPERTIES LABELS cli TIMEOUT 400 ENVIRONMENT "E2E_TARRY_BIN=$<TARGET_FILE:tarry>")
endforeach()
