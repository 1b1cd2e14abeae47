/* "tarry-root: <offset>:<timestamp in ms, -1 for none>", which stands on re-appends alone (R4). */
#include "bridge/decimal.h"
#include "bridge/decode.h"
#include "bridge/refusal.h"

#define NAME "tarry-root"

static bool refuse(struct span value, const char *what, struct refusal *refusal)
{
    return refusal_set(refusal, REFUSAL_BAD_ROOT, "header " NAME " is %s: %s; tarry writes it on records that it writes again, leave it out",
                       refusal_show(value).text, what);
}

static bool read_timestamp(struct span text, int64_t *timestamp_ms)
{
    if (span_equals_text(text, "-1")) {
        *timestamp_ms = -1;
        return true;
    }
    return decimal_parse(text, timestamp_ms) == DECIMAL_READ;
}

static bool read_value(struct span value, int64_t *offset, int64_t *timestamp_ms)
{
    const uint8_t *colon = value.length == 0 ? NULL : memchr(value.data, ':', value.length);
    if (colon == NULL) {
        return false;
    }
    size_t before = (size_t)(colon - value.data);
    return decimal_parse((struct span){value.data, before}, offset) == DECIMAL_READ &&
           read_timestamp((struct span){colon + 1, value.length - before - 1}, timestamp_ms);
}

/* The one header of that name: NULL if there is none. False: there are more. */
static bool find(const struct record *record, const struct record_header **found)
{
    *found = NULL;
    for (size_t i = 0; i < record->header_count; i++) {
        if (!span_equals_text(record->headers[i].name, NAME)) {
            continue;
        }
        if (*found != NULL) {
            return false;
        }
        *found = &record->headers[i];
    }
    return true;
}

bool decode_root(const struct record *record, int64_t *root, int64_t *root_timestamp_ms, struct refusal *refusal)
{
    const struct record_header *header;
    int64_t offset = -1;
    int64_t timestamp_ms = -1;
    *root = -1;
    *root_timestamp_ms = -1;
    if (!find(record, &header)) {
        return refuse(header->value, "it is given more than once", refusal);
    }
    if (header == NULL) {
        return true;
    }
    if (!read_value(header->value, &offset, &timestamp_ms)) {
        return refuse(header->value, "not an offset and a timestamp in ms with a colon between", refusal);
    }
    if (offset >= record->offset) {
        return refuse(header->value, "its offset is not below the record's own", refusal);
    }
    *root = offset;
    *root_timestamp_ms = timestamp_ms;
    return true;
}
