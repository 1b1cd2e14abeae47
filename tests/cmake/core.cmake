tarry_test(test_core_firing FOLDER unit LABEL unit ROOMS scheduler base SOURCES support/core_case.c)
tarry_test(test_core_progress FOLDER unit LABEL unit ROOMS scheduler base SOURCES support/core_case.c)
tarry_test(test_world FOLDER sim LABEL sim ROOMS scheduler base SOURCES
           sim/world.c sim/world_check.c sim/world_commands.c sim/world_disk.c sim/world_events.c sim/world_faults.c
           sim/world_group.c sim/world_oracle.c sim/world_say.c sim/world_shell.c sim/world_traits.c TIMEOUT 300)
