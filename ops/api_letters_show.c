#include "ops/api_letters_show.h"

#include "dlq/letter_json.h"
#include "dlq/reader.h"
#include "ops/api_letters_link.h"

/* *shown: the record is at hand and small enough. False: nobody answers. */
static bool load(const struct api_letters_show *show, struct letter *letter, size_t bytes, struct buffer *room, bool *shown, struct error *error)
{
    struct error own = {ERROR_NONE, ""};
    bool fits = bytes <= show->bytes_most && letter->parts_bytes <= show->bytes_most;
    *shown = fits && (letter->parts == 0 || reader_load(show->link, api_letters_link_streams(show->api), letter, room, &own));
    return own.code != ERROR_UNAVAILABLE || error_set(error, own.code, "%s", own.text);
}

/* What the object has beside the letter's own: before its last brace. */
static void add_notes(const struct api_letters_show *show, bool cut, struct buffer *out)
{
    const char *policy = show->api->payloads == CONFIG_PAYLOADS_MASKED ? ",\"payloads\":\"masked\"" : show->api->payloads == CONFIG_PAYLOADS_OFF ? ",\"payloads\":\"off\"" : "";
    if (cut || policy[0] != '\0') {
        out->length--;
        buffer_add_text(out, policy);
        buffer_add_text(out, cut ? ",\"cut\":true}" : "}");
    }
}

bool api_letters_show(const struct api_letters_show *show, enum letter_state state, const struct letter *letter, size_t bytes, struct buffer *out, struct error *error)
{
    struct letter copy = *letter;
    struct buffer room = buffer_new(show->bytes_most);
    bool wanted = show->payload && show->api->payloads == CONFIG_PAYLOADS_FULL;
    bool shown = false;
    bool written = !wanted || load(show, &copy, bytes, &room, &shown, error);
    if (written && shown && !letter_json_write(out, &copy, state, true, error)) {
        shown = false; /* as text it is longer than the answer may be */
        out->full = false;
    }
    if (written && !shown) {
        written = letter_json_write(out, letter, state, false, error);
    }
    if (written) {
        add_notes(show, wanted && !shown, out);
    }
    buffer_free(&room);
    return written && !out->full;
}
