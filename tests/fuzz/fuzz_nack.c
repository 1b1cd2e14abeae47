/* Any headers (the first byte is the family) as a nack: never read outside; what comes out is a letter that can be kept and gone again with. */
#include <string.h>

#include "dlq/failure_headers.h"
#include "dlq/letter_record.h"
#include "dlq/nack_family.h"
#include "dlq/subject.h"
#include "fuzz/fuzz.h"

#define MOST (1U << 24)

static void check_kept(struct letter *letter)
{
    struct buffer bytes = buffer_new(MOST);
    struct buffer headers = buffer_new(MOST);
    const struct letter_origin place = {span_of_text("nacks"), 0, 0, 0};
    char subject[SUBJECT_SIZE];
    struct letter read;
    letter_id(letter->id, SPAN_ABSENT, SPAN_ABSENT, &place, 0);
    FUZZ_CHECK(letter_encode(&bytes, letter, NULL));
    FUZZ_CHECK(letter_decode(buffer_span(&bytes), &read, NULL));
    failure_headers_add(&headers, &read, FAILURE_HEADERS_REDELIVERED);
    FUZZ_CHECK(letter_record_headers_readable(buffer_span(&headers)));
    subject_of(subject, "", SUBJECT_DLQ, letter->target);
    FUZZ_CHECK(strpbrk(subject, " \t\r\n*>") == NULL);
    buffer_free(&bytes);
    buffer_free(&headers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const struct letter_record record = {SPAN_ABSENT, SPAN_ABSENT, {data + 1, size - 1}};
    struct nack_family_room room = nack_family_room_new(MOST);
    struct letter letter;
    if (letter_record_headers_readable(record.headers)) {
        bool known = nack_family_read((enum nack_family)(data[0] % NACK_FAMILIES), &record, &room, &letter);
        FUZZ_CHECK(known == (letter.target.data != NULL));
        FUZZ_CHECK(letter.origin.partition >= -1 && letter.origin.offset >= -1 && letter.origin.timestamp_ms >= -1 && letter.attempt >= 1);
        check_kept(&letter);
    }
    nack_family_room_free(&room);
    return 0;
}
