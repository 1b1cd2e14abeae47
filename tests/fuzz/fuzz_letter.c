/* Any bytes as a letter, and as what stands under a right checksum: never read outside; what reads back is within the bytes, and is written the same again. */
#include <string.h>

#include "dlq/letter.h"
#include "dlq/letter_record.h"
#include "fuzz/fuzz.h"

#define MOST (1U << 24)

static void check_within(struct span outer, struct span inner)
{
    if (inner.data != NULL) {
        FUZZ_CHECK(inner.data >= outer.data && inner.length <= outer.length);
        FUZZ_CHECK((size_t)(inner.data - outer.data) <= outer.length - inner.length);
    }
}

static void check_record(struct span bytes, const struct letter_record *record)
{
    struct span headers = record->headers;
    struct span name, value;
    check_within(bytes, record->key);
    check_within(bytes, record->value);
    while (letter_next_header(&headers, &name, &value)) {
        FUZZ_CHECK(name.data != NULL);
        check_within(bytes, name);
        check_within(bytes, value);
    }
    FUZZ_CHECK(headers.length == 0);
}

/* What was read can be written, and reads back to the same bytes. */
static void check_again(const struct letter *letter)
{
    struct buffer first = buffer_new(MOST);
    struct buffer second = buffer_new(MOST);
    struct letter again;
    FUZZ_CHECK(letter_encode(&first, letter, NULL));
    FUZZ_CHECK(letter_decode(buffer_span(&first), &again, NULL));
    FUZZ_CHECK(letter_encode(&second, &again, NULL));
    FUZZ_CHECK(span_equal(buffer_span(&first), buffer_span(&second)));
    buffer_free(&first);
    buffer_free(&second);
}

static bool check(struct span bytes)
{
    struct letter letter;
    struct letter_record record;
    struct error error;
    if (letter_decode_record(bytes, &record, &error)) {
        check_record(bytes, &record);
    }
    if (!letter_decode(bytes, &letter, &error)) {
        FUZZ_CHECK(error.code == ERROR_CORRUPT || error.code == ERROR_TOO_NEW);
        return false;
    }
    check_within(bytes, letter.error);
    check_within(bytes, letter.target);
    check_within(bytes, letter.origin.topic);
    check_within(bytes, letter.group);
    check_within(bytes, letter.schedule_id);
    check_record(bytes, &letter.record);
    check_again(&letter);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer signed_bytes = buffer_new(MOST);
    (void)check((struct span){data, size});
    buffer_add(&signed_bytes, data, size);
    if (size > 0 && letter_record_finish(&signed_bytes, 0, NULL)) {
        (void)check(buffer_span(&signed_bytes));
    }
    buffer_free(&signed_bytes);
    return 0;
}
