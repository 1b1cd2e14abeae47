#include "bridge/target.h"

#define TARGET_NAME_MAX 249

static bool name_byte(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '.' || byte == '_' || byte == '-';
}

bool target_name_valid(struct span topic)
{
    if (topic.length == 0 || topic.length > TARGET_NAME_MAX) {
        return false;
    }
    for (size_t i = 0; i < topic.length; i++) {
        if (!name_byte(topic.data[i])) {
            return false;
        }
    }
    return !span_equals_text(topic, ".") && !span_equals_text(topic, "..");
}

/* The pieces between the stars are found one after the other, each at its first place: an earlier place never rules
 * out a match that a later one allows. memmem is linear, and no byte of the text is searched twice. */
static bool match_after_star(const char *pattern, const uint8_t *text, const uint8_t *end)
{
    for (;;) {
        size_t piece = strcspn(pattern, "*");
        size_t left = (size_t)(end - text);
        if (pattern[piece] == '\0') {
            return piece <= left && memcmp(end - piece, pattern, piece) == 0;
        }
        const uint8_t *found = memmem(text, left, pattern, piece);
        if (found == NULL) {
            return false;
        }
        text = found + piece;
        pattern += piece + 1;
    }
}

bool target_glob_match(const char *pattern, struct span text)
{
    size_t piece = strcspn(pattern, "*");
    if (text.data == NULL || piece > text.length || memcmp(pattern, text.data, piece) != 0) {
        return false;
    }
    if (pattern[piece] == '\0') {
        return piece == text.length;
    }
    return match_after_star(pattern + piece + 1, text.data + piece, text.data + text.length);
}

bool target_lane(const struct target_list *list, struct span topic, lane_index *lane)
{
    for (size_t i = 0; i < list->pattern_count; i++) {
        if (target_glob_match(list->patterns[i].match, topic)) {
            *lane = list->patterns[i].lane;
            return true;
        }
    }
    for (size_t i = 0; i < list->known_count; i++) {
        if (span_equals_text(topic, list->known[i])) {
            *lane = list->default_lane;
            return true;
        }
    }
    return false;
}
