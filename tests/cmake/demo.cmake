# `tarry demo` as a user runs it.
add_test(NAME demo COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/check_demo.sh $<TARGET_FILE:tarry>)
set_tests_properties(demo PROPERTIES LABELS demo TIMEOUT 180)
