/* Any bytes as a moment and as a delay: no overflow (UBSan watches), results within what the forms can say. */
#include "bridge/delay_text.h"
#include "bridge/time_text.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = {data, size};
    int64_t ms = -1;
    if (delay_text_parse(text, &ms) == DECIMAL_READ) {
        FUZZ_CHECK(ms >= 0);
    } else {
        FUZZ_CHECK(ms == -1);
    }
    if (time_text_parse(text, &ms)) {
        FUZZ_CHECK(size >= 20);
        FUZZ_CHECK(ms >= INT64_C(-62167305600000) && ms <= TIME_TEXT_LAST_MS + 86400001);
    }
    return 0;
}
