# Logs, secrets, health, signals, the service manager.
tarry_test(test_log_limit FOLDER unit LABEL unit ROOMS ops base)
tarry_test(test_log_record FOLDER unit LABEL unit ROOMS ops dlq bridge base SOURCES support/sample_record.c support/sample_letter.c)

# One tarry on a mock cluster, operated: no broker needed.
add_library(support_operated STATIC support/operated.c support/http_client.c)
target_include_directories(support_operated PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(support_operated PRIVATE tarry_options PUBLIC support_e2e)

# tarry_operated(NAME TIMEOUT [LABEL...])
function(tarry_operated name timeout)
    tarry_test(${name} FOLDER e2e LABEL "mock" TIMEOUT ${timeout} LIBRARIES support_operated)
    add_dependencies(${name} tarry)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE ENVIRONMENT "${e2e_environment}")
    set_property(TEST ${name} APPEND PROPERTY LABELS ${ARGN})
endfunction()

tarry_operated(e2e_manager 240 systemd)
tarry_operated(e2e_signals 300)
tarry_operated(e2e_secrets 300)
target_sources(e2e_secrets PRIVATE support/cli_program.c)
target_compile_definitions(e2e_secrets PRIVATE TARRY_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

# The unit file, by systemd's own tools.
add_test(NAME systemd_unit COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/systemd/check_unit.sh $<TARGET_FILE:tarry>)
set_tests_properties(systemd_unit PROPERTIES LABELS "systemd" TIMEOUT 120)
