#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "dlq/reader.h"
#include "tests/support/await.h"
#include "tests/support/scene_letters.h"

#define LINK_MS 10000
#define END_MS 200
#define POLL_MS 100
#define LETTER_BYTES_MAX ((size_t)64 << 20)

static struct streams_options streams_of(const struct scene *scene)
{
    return (struct streams_options){scene->dlq_stream, scene->parked_stream, scene->subject_prefix, 1, 1, NULL};
}

static void add(struct scene_letters *letters, struct link *link, const struct scene *scene, const struct reader_message *message)
{
    struct streams_options streams = streams_of(scene);
    struct error error = {0};
    letters->items = memory_resize(letters->items, letters->count + 1, sizeof(*letters->items));
    struct scene_letter *item = &letters->items[letters->count++];
    *item = (struct scene_letter){.bytes = buffer_new(LETTER_BYTES_MAX), .record = buffer_new(LETTER_BYTES_MAX), .sequence = message->sequence};
    buffer_add_span(&item->bytes, message->bytes);
    if (!letter_decode(buffer_span(&item->bytes), &item->letter, &error) ||
        !reader_load(link, &streams, &item->letter, &item->record, &error)) {
        fail_msg("letter %" PRIu64 ": %s", message->sequence, error.text);
    }
}

static void read_stream(struct scene_letters *letters, struct link *link, const struct scene *scene, const char *stream)
{
    struct reader *reader = NULL;
    struct reader_message message;
    struct error error = {0};
    enum reader_result result;
    if (!reader_open(link, stream, NULL, 1, &reader, &error)) {
        if (error.code != ERROR_NOT_FOUND) {
            fail_msg("%s: %s", stream, error.text);
        }
        return;
    }
    while ((result = reader_next(reader, END_MS, &message, &error)) == READER_MESSAGE) {
        add(letters, link, scene, &message);
    }
    if (result == READER_FAILED) {
        fail_msg("%s: %s", stream, error.text);
    }
    reader_close(reader);
}

struct scene_letters scene_letters_read(struct scene *scene, enum letter_state state)
{
    struct link_options options = {.url = scene->nats_url, .name = "test", .user = scene->nats_user, .password = scene->nats_password};
    struct scene_letters letters = {NULL, 0};
    struct link *link = NULL;
    struct error error = {0};
    if (!link_open(&options, &link, &error) || !link_wait(link, LINK_MS, &error)) {
        fail_msg("%s", error.text);
    }
    read_stream(&letters, link, scene, state == LETTER_WAITING ? scene->dlq_stream : scene->parked_stream);
    link_close(link);
    return letters;
}

struct scene_letters scene_letters_await(struct scene *scene, enum letter_state state, size_t count, int64_t timeout_ms)
{
    int64_t limit = await_mono_ms() + timeout_ms;
    for (;;) {
        struct scene_letters letters = scene_letters_read(scene, state);
        if (letters.count >= count) {
            return letters;
        }
        if (await_mono_ms() > limit) {
            fail_msg("%zu of %zu letters came within %" PRId64 " ms", letters.count, count, timeout_ms);
        }
        scene_letters_free(&letters);
        await_pause_ms(POLL_MS);
    }
}

void scene_letters_free(struct scene_letters *letters)
{
    for (size_t i = 0; i < letters->count; i++) {
        buffer_free(&letters->items[i].bytes);
        buffer_free(&letters->items[i].record);
    }
    free(letters->items);
    *letters = (struct scene_letters){NULL, 0};
}

bool scene_letters_says(const struct scene_letter *letter, const char *part)
{
    struct span error = letter->letter.error;
    return memmem(error.data, error.length, part, strlen(part)) != NULL;
}

size_t scene_letters_header(const struct scene_letter *letter, const char *name, struct span *value)
{
    struct span rest = letter->letter.record.headers;
    struct span its_name;
    struct span its_value;
    size_t count = 0;
    while (letter_next_header(&rest, &its_name, &its_value)) {
        if (span_equals_text(its_name, name)) {
            count++;
            if (value != NULL && count == 1) {
                *value = its_value;
            }
        }
    }
    return count;
}

void scene_letters_assert_record(const struct scene_letter *letter,
                                 struct span key,
                                 struct span value,
                                 const struct record_header *headers,
                                 size_t header_count)
{
    const struct letter_record *record = &letter->letter.record;
    struct span rest = record->headers;
    struct span its_name;
    struct span its_value;
    assert_true(span_equal(record->key, key));
    assert_true(span_equal(record->value, value));
    for (size_t i = 0; i < header_count; i++) {
        assert_true(letter_next_header(&rest, &its_name, &its_value));
        assert_true(span_equal(its_name, headers[i].name));
        assert_true(span_equal(its_value, headers[i].value));
    }
    assert_false(letter_next_header(&rest, &its_name, &its_value));
}
