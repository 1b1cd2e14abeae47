/* What a scene's tarry has made of failed records: the letters in JetStream. For scenes that were opened with `letters`. */
#ifndef TARRY_TESTS_SUPPORT_SCENE_LETTERS_H
#define TARRY_TESTS_SUPPORT_SCENE_LETTERS_H

#include "dlq/letter.h"
#include "tests/support/scene.h"

struct scene_letter {
    struct letter letter; /* borrows from bytes */
    struct buffer bytes;
    struct buffer record; /* of one that stood apart */
    uint64_t sequence;
};

struct scene_letters {
    struct scene_letter *items; /* in the order of the stream */
    size_t count;
};

/* All that stand in the stream of waiting or of parked ones; none when there is no such stream yet. Free them with scene_letters_free. */
struct scene_letters scene_letters_read(struct scene *scene, enum letter_state state);

/* Waits until there are `count` of them at least and returns them; fails when there are not within timeout_ms. */
struct scene_letters scene_letters_await(struct scene *scene, enum letter_state state, size_t count, int64_t timeout_ms);

void scene_letters_free(struct scene_letters *letters);

/* Whether the letter's error says `part`. */
bool scene_letters_says(const struct scene_letter *letter, const char *part);

/* How often the record of the letter has a header of that name; *value (may be NULL) is the first one's. */
size_t scene_letters_header(const struct scene_letter *letter, const char *name, struct span *value);

/* Fails unless the record in the letter is this one: key, value and all headers in order, bytes for bytes. */
void scene_letters_assert_record(const struct scene_letter *letter,
                                 struct span key,
                                 struct span value,
                                 const struct record_header *headers,
                                 size_t header_count);

#endif
