/* By how much a source's `spread` moves a record. */
#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

#include "bridge/decode.h"

#define PLACE_TEXT_MAX 320 /* 249 bytes of topic and two numbers */

int64_t decode_spread_offset_ms(const struct decode_rules *rules, struct span id, int32_t partition, int64_t offset)
{
    char place[PLACE_TEXT_MAX];
    if (rules->spread_ms <= 0) {
        return 0;
    }
    if (id.data == NULL) {
        snprintf(place, sizeof place, "%s/%" PRId32 "/%" PRId64, rules->topic == NULL ? "" : rules->topic, partition, offset);
        id = span_of_text(place);
    }
    return (int64_t)(XXH3_64bits(id.data, id.length) % (uint64_t)rules->spread_ms);
}
