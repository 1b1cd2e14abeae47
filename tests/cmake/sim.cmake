# The simulator (tests/sim/README.md). What runs in it is compiled fast, with its assertions on: ten thousand worlds, each run twice, in minutes.
file(GLOB sim_rooms CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/scheduler/*.c ${CMAKE_SOURCE_DIR}/base/*.c)
file(GLOB sim_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/sim/world*.c)
add_library(sim_world STATIC ${sim_rooms} ${sim_sources})
target_include_directories(sim_world PUBLIC ${CMAKE_SOURCE_DIR})
target_link_libraries(sim_world PUBLIC tarry_options Threads::Threads)
if(NOT TARRY_SANITIZE AND NOT TARRY_COVERAGE)
    target_compile_options(sim_world PRIVATE -O2)
endif()

# tarry_sim_program(NAME SOURCE): a program of the simulator.
function(tarry_sim_program name source)
    add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/sim/${source})
    target_link_libraries(${name} PRIVATE sim_world)
    if("thread" IN_LIST TARRY_SANITIZE)
        target_sources(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support/c11_threads.c)
        set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
    endif()
endfunction()

tarry_sim_program(tarry_sim simulate.c)
add_test(NAME sim_seeds COMMAND tarry_sim --seeds 0..10000)
set_tests_properties(sim_seeds PROPERTIES LABELS "sim;schedules" TIMEOUT 900 PROCESSORS 2 COST 1000)

tarry_sim_program(test_overdue test_overdue.c)
add_test(NAME sim_overdue COMMAND test_overdue)
set_tests_properties(sim_overdue PROPERTIES LABELS sim TIMEOUT 300)

tarry_sim_program(test_million test_million.c)
add_test(NAME sim_million COMMAND test_million)
set_tests_properties(sim_million PROPERTIES LABELS sim TIMEOUT 300)

# Each scenario is a case of its own: a new file is enough.
file(GLOB scenarios CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/sim/scenarios/*.txt)
foreach(scenario ${scenarios})
    get_filename_component(name ${scenario} NAME_WE)
    add_test(NAME sim_${name} COMMAND tarry_sim --scenario ${scenario})
    file(STRINGS ${scenario} of_schedules REGEX "period |if none|^dedupe ")
    set(labels sim)
    if(of_schedules)
        list(APPEND labels schedules)
    endif()
    set_tests_properties(sim_${name} PROPERTIES LABELS "${labels}" TIMEOUT 60)
endforeach()
