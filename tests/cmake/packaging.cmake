# Scripts, Dockerfile and compose file, each by its own linter.
foreach(kind scripts dockerfile compose)
    add_test(NAME lint_${kind} COMMAND ${CMAKE_SOURCE_DIR}/tests/lint/check_packaging.sh ${kind})
    set_tests_properties(lint_${kind} PROPERTIES LABELS lint TIMEOUT 120)
endforeach()
