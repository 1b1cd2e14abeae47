# The examples in docs/ about schedules, worked out by the code that they are about. Those of records and dialects: decode.cmake.
tarry_test(test_semantics_pages FOLDER unit LABEL "unit;schedules;cron" ROOMS bridge scheduler base
    SOURCES support/page_block.c support/ids_example.c support/core_case.c cron/cron_case.c cron/zone_file.c)
target_compile_definitions(test_semantics_pages PRIVATE "DOCS_DIR=\"${CMAKE_SOURCE_DIR}/docs\"" CRON_ZONES="${CMAKE_CURRENT_SOURCE_DIR}/cron/zones")
