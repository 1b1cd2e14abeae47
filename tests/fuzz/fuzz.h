/* What a fuzz target is: libFuzzer calls it when built with TARRY_FUZZ, fuzz/replay.c with the files of its corpus
 * otherwise. */
#ifndef TARRY_TESTS_FUZZ_FUZZ_H
#define TARRY_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                      \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
