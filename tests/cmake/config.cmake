# Configuration: files, values, overlays, what is printed; the verbs that show it; the manual pages.
foreach(name test_config_value test_yaml_tree test_config_load test_config_dlq test_config_schedule test_config_kafka test_config_override test_config_show test_config_diff test_config_credential)
    tarry_test(${name} FOLDER unit LABEL unit ROOMS ops SOURCES support/config_text.c support/temp.c)
    target_compile_definitions(${name} PRIVATE TARRY_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
endforeach()

set_property(TEST test_config_schedule APPEND PROPERTY LABELS schedules dialects)

add_test(NAME cli_verbs COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/check_verbs.sh $<TARGET_FILE:tarry>)
set_tests_properties(cli_verbs PROPERTIES LABELS cli TIMEOUT 120)

add_test(NAME lint_manuals COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/check_manuals.sh)
set_tests_properties(lint_manuals PROPERTIES LABELS lint TIMEOUT 60)
