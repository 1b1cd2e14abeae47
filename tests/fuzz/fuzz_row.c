/* Any bytes as a row: never read outside; what reads back is within the bytes. */
#include "bridge/row.h"
#include "fuzz/fuzz.h"

static void check_within(struct span outer, struct span inner)
{
    if (inner.data != NULL) {
        FUZZ_CHECK(inner.data >= outer.data && inner.length <= outer.length);
        FUZZ_CHECK((size_t)(inner.data - outer.data) <= outer.length - inner.length);
    }
}

static void check_extras(const struct decoded *decoded)
{
    const struct decoded_recurrence *recurrence = &decoded->recurrence;
    FUZZ_CHECK(decoded->expires_ms == -1 || decoded->expires_ms > 0);
    FUZZ_CHECK(recurrence->cron.length <= DECODE_CRON_MAX && recurrence->zone.length <= DECODE_ZONE_MAX);
    FUZZ_CHECK(recurrence->kind == DECODE_RECURRENCE_EVERY ? recurrence->every_ms >= DECODE_EVERY_LEAST_MS : recurrence->every_ms == 0);
    FUZZ_CHECK(recurrence->count >= 0 && recurrence->count <= DECODE_COUNT_MOST && recurrence->runs >= 0 && recurrence->runs <= DECODE_COUNT_MOST);
    FUZZ_CHECK(recurrence->kind != DECODE_RECURRENCE_NONE || (recurrence->zone.data == NULL && recurrence->until_ms == -1 && recurrence->runs == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span bytes = {data, size};
    struct record_header header;
    struct error error;
    struct row row;
    bool damaged = false;
    if (!row_decode(bytes, &row, &error)) {
        FUZZ_CHECK(error.code == ERROR_CORRUPT || error.code == ERROR_TOO_NEW);
        return 0;
    }
    check_within(bytes, row.record.key);
    check_within(bytes, row.record.value);
    check_within(bytes, row.decoded.target);
    check_within(bytes, row.decoded.key);
    check_within(bytes, row.decoded.value);
    check_within(bytes, row.decoded.id);
    check_within(bytes, row.decoded.recurrence.cron);
    check_within(bytes, row.decoded.recurrence.zone);
    check_extras(&row.decoded);
    FUZZ_CHECK(row.root == -1 ? row.root_timestamp_ms == -1 : row.root >= 0 && row.root < row.record.offset);
    FUZZ_CHECK(row.root_timestamp_ms >= -1);
    while (row_next_header(&row.headers, &header, &damaged)) {
        check_within(bytes, header.name);
        check_within(bytes, header.value);
    }
    return 0;
}
