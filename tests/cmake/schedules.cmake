# Schedules end to end, with the clock stepped, processes killed, and ids that come again. (Registered from here, as each room's tests are.)

# The wall clock that a test sets for the process under test. Not sanitized: it is loaded before everything else.
add_library(clock_shift MODULE support/clock_shift.c)
target_include_directories(clock_shift PRIVATE ${CMAKE_SOURCE_DIR})
target_compile_definitions(clock_shift PRIVATE _GNU_SOURCE)
target_compile_options(clock_shift PRIVATE -Wall -Wextra -Werror)

tarry_test(test_clock_shift FOLDER unit LABEL "unit;schedules" LIBRARIES support_e2e)
add_dependencies(test_clock_shift clock_shift)
set_property(TEST test_clock_shift APPEND PROPERTY ENVIRONMENT "E2E_CLOCK_SHIFT=$<TARGET_FILE:clock_shift>")

add_library(support_schedules STATIC support/scene_schedules.c)
target_link_libraries(support_schedules PRIVATE tarry_options PUBLIC support_e2e PkgConfig::CJSON)

# tarry_schedules(NAME TIMEOUT [LABEL...])
function(tarry_schedules name timeout)
    tarry_e2e(${name} ${timeout} schedules ${ARGN})
    target_link_libraries(${name} PRIVATE support_schedules)
    add_dependencies(${name} clock_shift)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "E2E_CLOCK_SHIFT=$<TARGET_FILE:clock_shift>")
endfunction()

tarry_schedules(e2e_clock 240 exactly_once)
tarry_schedules(e2e_recurrence_crash 300 exactly_once)
tarry_schedules(e2e_cancel 300 exactly_once metrics) # gauges go back to 0
tarry_schedules(e2e_recurrence 240 exactly_once)
tarry_schedules(e2e_ids 240 exactly_once)
