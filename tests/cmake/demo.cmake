# `tarry demo`: its judgement, and the whole of it as a user runs it, with each version of nats-server that we support (scripts/lib/nats.sh fetches both).
tarry_test(test_demo FOLDER unit LABEL unit ROOMS cli)
tarry_test(test_demo_failure FOLDER unit LABEL unit ROOMS cli)
foreach(version 2.9 2.15)
    string(REPLACE "." "" digits ${version})
    add_test(NAME demo_nats${digits}
             COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/check_demo.sh $<TARGET_FILE:tarry> ${CMAKE_SOURCE_DIR}/build/deps/nats/${version}/nats-server)
    set_tests_properties(demo_nats${digits} PROPERTIES LABELS demo TIMEOUT 240)
endforeach()
