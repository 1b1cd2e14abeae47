# How everything of ours is compiled: carried by the interface library tarry_options.
add_library(tarry_options INTERFACE)
target_compile_definitions(tarry_options INTERFACE _GNU_SOURCE TARRY_VERSION="${PROJECT_VERSION}")
target_compile_options(tarry_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes
    -Wmissing-declarations -Wcast-qual -Wcast-align -Wpointer-arith -Wwrite-strings -Wformat=2 -Wundef -Wvla
    -Wswitch-enum -Wimplicit-fallthrough -Wdouble-promotion -Wno-overlength-strings
    -fno-common -fstack-protector-strong)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(tarry_options INTERFACE -Wduplicated-cond -Wduplicated-branches -Wlogical-op)
endif()
if(CMAKE_C_COMPILER_ID MATCHES "Clang") # librdkafka's macros are GNU C, and it takes void * where const is meant
    target_compile_options(tarry_options INTERFACE -Wno-gnu-statement-expression -Wno-cast-qual)
endif()
if(TARRY_WERROR)
    target_compile_options(tarry_options INTERFACE -Werror)
endif()
if(TARRY_SANITIZE)
    list(JOIN TARRY_SANITIZE "," sanitizers)
    target_compile_options(tarry_options INTERFACE -fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(tarry_options INTERFACE -fsanitize=${sanitizers})
endif()
if(TARRY_COVERAGE)
    target_compile_options(tarry_options INTERFACE --coverage)
    target_link_options(tarry_options INTERFACE --coverage)
endif()
if(TARRY_ANALYZE)
    target_compile_options(tarry_options INTERFACE -fanalyzer)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(tarry_options INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-clash-protection)
    target_compile_options(tarry_options INTERFACE $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-fcf-protection>)
    target_link_options(tarry_options INTERFACE -Wl,-z,relro,-z,now -Wl,-z,noexecstack -Wl,--as-needed)
endif()
