# The store: what every store does (twice: LMDB and the fake of the simulations), and what only LMDB can get wrong.
add_library(store_case OBJECT support/store_case.c support/temp.c)
target_include_directories(store_case PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(store_case PRIVATE tarry_options PkgConfig::CMOCKA)

add_library(store_fake STATIC support/store_fake.c support/store_fake_disk.c support/store_fake_ids.c)
target_include_directories(store_fake PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(store_fake PRIVATE tarry_options PUBLIC room_base)

foreach(name conformance control model)
    tarry_test(test_store_${name} FOLDER unit LABEL unit ROOMS store SOURCES $<TARGET_OBJECTS:store_case>)
    add_executable(test_store_${name}_fake unit/test_store_${name}.c $<TARGET_OBJECTS:store_case>)
    target_link_libraries(test_store_${name}_fake PRIVATE tarry_options PkgConfig::CMOCKA store_fake)
    target_include_directories(test_store_${name}_fake PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    add_test(NAME test_store_${name}_fake COMMAND test_store_${name}_fake)
    set_tests_properties(test_store_${name}_fake PROPERTIES LABELS unit TIMEOUT 120)
endforeach()

foreach(name layout open disk damage full crash threads browse browse_threads)
    tarry_test(test_store_${name} FOLDER unit LABEL unit ROOMS store SOURCES $<TARGET_OBJECTS:store_case>
               LIBRARIES PkgConfig::LMDB Threads::Threads)
endforeach()
