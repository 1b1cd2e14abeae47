# tarry dlq: filters, output, counting and importing by themselves; and the program against a real nats-server.
foreach(name test_dlq_filter test_dlq_reasons)
    tarry_test(${name} FOLDER unit LABEL unit ROOMS cli ops dlq bridge base)
endforeach()
foreach(name test_output test_dlq_import)
    tarry_test(${name} FOLDER unit LABEL unit ROOMS cli ops dlq bridge base SOURCES support/temp.c)
endforeach()
tarry_nats_test(test_dlq_read ROOMS dlq base LIBRARIES support_nats SOURCES support/cli_program.c
    ENVIRONMENT E2E_TARRY_BIN=$<TARGET_FILE:tarry>)
