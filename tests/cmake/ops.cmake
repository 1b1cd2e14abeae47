# What the daemon's loop is made of: identity of partitions (R8), lanes, slots, rows in memory, reports awaited, the writer thread.
foreach(name test_identity test_identity_random test_lanes test_letter_options test_partitions test_arena test_in_flight)
    tarry_test(${name} FOLDER unit LABEL unit ROOMS ops base)
endforeach()
tarry_test(test_writer FOLDER unit LABEL unit ROOMS ops store base SOURCES $<TARGET_OBJECTS:store_case>)

# Schedules, end to end.
tarry_e2e(e2e_schedules 420 schedules exactly_once)
target_link_libraries(e2e_schedules PRIVATE support_schedules)
tarry_test(test_steering FOLDER unit LABEL "unit;schedules" ROOMS ops base)
tarry_test(test_daemon_steering FOLDER unit LABEL "unit;schedules" ROOMS ops scheduler base
    SOURCES support/daemon_scene.c support/list_scene.c support/temp.c)
tarry_test(test_daemon_schedules FOLDER unit LABEL "unit;schedules" ROOMS ops scheduler base)
