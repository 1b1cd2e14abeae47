# Recurring schedules: cron expressions, zones, what follows a firing, the life of a schedule. The fuzzer of both texts: fuzz_cron.cmake.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(cron_folder ${CMAKE_CURRENT_SOURCE_DIR}/cron)
set(cron_case cron/cron_case.c cron/zone_file.c)

foreach(name cron cron_dst zone recurrence)
    tarry_test(test_${name} FOLDER unit LABEL "unit;cron" ROOMS bridge scheduler base SOURCES ${cron_case})
    target_compile_definitions(test_${name} PRIVATE CRON_ZONES="${cron_folder}/zones")
endforeach()
tarry_test(test_firing FOLDER unit LABEL "unit;cron" ROOMS scheduler base)
tarry_test(test_schedule_state FOLDER unit LABEL "unit;cron" ROOMS scheduler base)
target_compile_definitions(test_schedule_state PRIVATE SCHEDULE_STATES_DOCS="${CMAKE_SOURCE_DIR}/docs/schedules-states.md")
tarry_test(test_zones FOLDER unit LABEL "unit;cron" ROOMS ops base SOURCES ${cron_case} support/temp.c)
target_compile_definitions(test_zones PRIVATE CRON_ZONES="${cron_folder}/zones")

# cron_next() beside two implementations of others, over 10,000 random cases. More: --seed N. Its packages are fetched once, for all build folders.
tarry_test_program(cron_next_main FOLDER cron ROOMS scheduler base SOURCES cron/zone_file.c)
add_test(NAME cron_oracle COMMAND ${Python3_EXECUTABLE} -B ${cron_folder}/oracle.py --program $<TARGET_FILE:cron_next_main>
         --packages ${CMAKE_SOURCE_DIR}/build/deps/cron-oracle)
set_tests_properties(cron_oracle PROPERTIES LABELS cron TIMEOUT 300)
