/* Any text as a letter in JSON: never read outside; what is read is written, and reads back to the same text. */
#include "dlq/letter_json.h"
#include "fuzz/fuzz.h"

#define MOST (1U << 26)

static void check_again(const struct letter *letter, enum letter_state state)
{
    struct buffer first = buffer_new(MOST);
    struct buffer second = buffer_new(MOST);
    struct buffer room = buffer_new(MOST);
    struct letter again;
    enum letter_state state_again;
    struct letter named = *letter;
    if (named.id[0] == '\0') {
        letter_id(named.id, SPAN_ABSENT, SPAN_ABSENT, &named.origin, 0);
    }
    FUZZ_CHECK(letter_json_write(&first, &named, state, true, NULL));
    FUZZ_CHECK(letter_json_read(buffer_span(&first), &room, &again, &state_again, NULL));
    FUZZ_CHECK(state == state_again);
    FUZZ_CHECK(letter_json_write(&second, &again, state_again, true, NULL));
    FUZZ_CHECK(span_equal(buffer_span(&first), buffer_span(&second)));
    buffer_clear(&first);
    FUZZ_CHECK(letter_encode(&first, &named, NULL)); /* whatever JSON says, it is a letter that can be kept */
    buffer_free(&first);
    buffer_free(&second);
    buffer_free(&room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer room = buffer_new(MOST);
    struct letter letter;
    enum letter_state state;
    struct error error;
    if (letter_json_read((struct span){data, size}, &room, &letter, &state, &error)) {
        FUZZ_CHECK(!room.full && letter.origin.topic.data != NULL);
        check_again(&letter, state);
    } else {
        FUZZ_CHECK(error.code == ERROR_INVALID || error.code == ERROR_FULL);
    }
    buffer_free(&room);
    return 0;
}
