# In a file of its own, whose name comes after decode.cmake: tarry_fuzz is defined there.
if(TARRY_FUZZ)
    target_compile_options(objects_scheduler PRIVATE -fsanitize=fuzzer-no-link)
endif()
tarry_fuzz(fuzz_cron ROOMS scheduler base)
set_property(TEST fuzz_cron PROPERTY LABELS unit fuzz cron)
