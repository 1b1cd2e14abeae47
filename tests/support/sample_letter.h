/* Letters for tests: the same seed gives the same letter. */
#ifndef TARRY_TESTS_SAMPLE_LETTER_H
#define TARRY_TESTS_SAMPLE_LETTER_H

#include "base/random.h"
#include "dlq/letter.h"

struct sample_letter {
    struct letter letter;
    struct buffer bytes; /* what its spans point into */
    struct buffer headers;
    char error[LETTER_ERROR_MAX];
};

/* Anything a letter can hold: null, empty, binary, repeated headers, extremes of all numbers; no parts. */
void sample_letter_fill(struct sample_letter *sample, struct random *random);
void sample_letter_free(struct sample_letter *sample);

/* A plain one, of static text. */
struct letter sample_letter_plain(void);

/* Fails the test unless all fields are the same. */
void sample_letter_assert_same(const struct letter *a, const struct letter *b);

#endif
