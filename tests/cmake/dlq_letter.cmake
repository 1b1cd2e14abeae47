# Letters, their JSON, their subjects, nacks as letters: pure.
foreach(stem letter subject letter_json failure_headers nack_family nack_stream)
    tarry_test(test_${stem} FOLDER unit LABEL "unit;dlq" ROOMS dlq base SOURCES support/sample_letter.c LIBRARIES PkgConfig::CJSON PkgConfig::NATS)
endforeach()
tarry_test(test_nack_reader_item FOLDER unit LABEL "unit;dlq" ROOMS ops dlq base SOURCES support/config_text.c support/temp.c)

if(TARRY_FUZZ)
    target_compile_options(objects_dlq PRIVATE -fsanitize=fuzzer-no-link)
endif()
tarry_fuzz(fuzz_letter ROOMS dlq base)
tarry_fuzz(fuzz_letter_json ROOMS dlq base)
tarry_fuzz(fuzz_nack ROOMS dlq base)
