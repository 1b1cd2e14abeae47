/* Any bytes as JSON: never read outside, agree with the second opinion, and texts unescape into valid UTF-8. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "bridge/json_text.h"
#include "fuzz/fuzz.h"
#include "support/json_oracle.h"

static void check_text(const struct json_scan_value *string)
{
    size_t room = json_text_inner(string).length + 1;
    uint8_t *text = memory_new(room, 1);
    size_t length = 0;
    FUZZ_CHECK(json_text_copy(string, text, room, &length)); /* an escape is never shorter than what it means */
    FUZZ_CHECK(text_is_utf8((struct span){text, length}));
    FUZZ_CHECK(json_text_same(string, string));
    free(text);
}

static void walk_members(struct span text)
{
    struct json_scan scan;
    struct json_scan_value name;
    struct json_scan_value value;
    json_scan_begin(&scan, text);
    if (!json_scan_enter(&scan)) {
        return;
    }
    while (json_scan_member(&scan, &name, &value) == JSON_SCAN_MEMBER) {
        check_text(&name);
        if (value.kind == JSON_SCAN_STRING) {
            check_text(&value);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = {data, size};
    struct json_scan scan;
    struct json_scan_value value;
    json_scan_begin(&scan, text);
    bool good = json_scan_value(&scan, &value) && json_scan_finish(&scan);
    FUZZ_CHECK(good == json_oracle_valid(text, JSON_SCAN_DEPTH_MAX));
    FUZZ_CHECK(good || scan.trouble != NULL);
    walk_members(text);
    return 0;
}
