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
    FUZZ_CHECK(row.root == -1 ? row.root_timestamp_ms == -1 : row.root >= 0 && row.root < row.record.offset);
    FUZZ_CHECK(row.root_timestamp_ms >= -1);
    while (row_next_header(&row.headers, &header, &damaged)) {
        check_within(bytes, header.name);
        check_within(bytes, header.value);
    }
    return 0;
}
