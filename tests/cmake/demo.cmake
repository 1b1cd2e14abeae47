# `tarry demo`: its judgement, and the whole of it as a user runs it.
tarry_test(test_demo FOLDER unit LABEL unit ROOMS cli)
add_test(NAME demo COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/check_demo.sh $<TARGET_FILE:tarry>)
set_tests_properties(demo PROPERTIES LABELS demo TIMEOUT 180)
