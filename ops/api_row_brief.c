/* See api_row_brief.h. */
#include "ops/api_row_brief.h"

#include <string.h>

#include "base/memory.h"

/* Its bytes from here on; absent stays absent. */
static void keep(struct span *span, uint8_t **to)
{
    if (span->data == NULL) {
        return;
    }
    memcpy(*to, span->data, span->length);
    span->data = *to;
    *to += span->length;
}

struct api_row_brief *api_row_brief_new(struct span bytes, struct error *error)
{
    static const uint8_t nothing[1];
    struct row row;
    if (!row_decode(bytes, &row, error)) {
        return NULL;
    }
    struct decoded *decoded = &row.decoded;
    bool keeps_key = decoded->key.length <= API_ROW_BRIEF_MOST;
    size_t key_bytes = keeps_key ? decoded->key.length : 0;
    bool cut = row.headers.length > API_ROW_BRIEF_MOST - key_bytes;
    row.headers.length = cut ? API_ROW_BRIEF_MOST - key_bytes : row.headers.length;
    size_t length = decoded->id.length + decoded->target.length + decoded->recurrence.cron.length + decoded->recurrence.zone.length + key_bytes + row.headers.length;
    struct api_row_brief *brief = memory_new(1, sizeof(*brief) + length + 1); /* so that what is empty has bytes to point to */
    uint8_t *to = brief->bytes;
    keep(&decoded->id, &to);
    keep(&decoded->target, &to);
    keep(&decoded->recurrence.cron, &to);
    keep(&decoded->recurrence.zone, &to);
    if (keeps_key) {
        keep(&decoded->key, &to);
    } else {
        decoded->key.data = nothing;
    }
    keep(&row.headers, &to);
    decoded->value.data = decoded->value.data == NULL ? NULL : nothing;
    decoded->request = SPAN_ABSENT;
    row.record.key = SPAN_ABSENT;
    row.record.value = SPAN_ABSENT;
    brief->row = row;
    brief->cut = cut;
    return brief;
}
