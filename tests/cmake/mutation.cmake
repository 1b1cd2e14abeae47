# The core, broken on purpose (docs/internals/mutations.md): each way still applies to the code as it is, and is noticed.
set(mutate ${CMAKE_SOURCE_DIR}/scripts/mutate)
add_test(NAME lint_mutations COMMAND ${Python3_EXECUTABLE} -B ${mutate} --check)
set_tests_properties(lint_mutations PROPERTIES LABELS lint TIMEOUT 60)
add_test(NAME mutations COMMAND ${Python3_EXECUTABLE} -B ${mutate} -j 2)
set_tests_properties(mutations PROPERTIES LABELS mutation TIMEOUT 1800 PROCESSORS 2)
