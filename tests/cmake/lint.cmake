# The rules of the house on all C code, and on the symbols of the rooms that are built.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(lint ${CMAKE_CURRENT_SOURCE_DIR}/lint/lint.py)
set(archives)
foreach(room base scheduler store bridge dlq ops cli)
    if(TARGET room_${room})
        list(APPEND archives $<TARGET_FILE:room_${room}>)
    endif()
endforeach()
add_test(NAME lint COMMAND ${Python3_EXECUTABLE} -B ${lint} --root ${CMAKE_SOURCE_DIR} --archives ${archives})
add_test(NAME lint_self_test COMMAND ${Python3_EXECUTABLE} -B ${lint} --self-test)
set_tests_properties(lint lint_self_test PROPERTIES LABELS lint TIMEOUT 120)

# Some three minutes: a label of its own, so that `-L lint` stays quick.
add_test(NAME tidy COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lint/check_tidy.sh ${CMAKE_BINARY_DIR})
set_tests_properties(tidy PROPERTIES LABELS tidy TIMEOUT 1200)
