/* Records too large for one message: stored in parts, before the letter that refers to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "dlq/mailer_state.h"

#define FIXED_MOST 2048 /* of a letter's bytes beside its spans: numbers, lengths, checksum */
#define RECORD_MOST (1u << 30)

/* Lengths of spans in memory: their sum does not overflow. */
static size_t size_bound(const struct letter *letter)
{
    size_t beside = letter->error.length + letter->target.length + letter->origin.topic.length + letter->group.length + letter->schedule_id.length;
    return FIXED_MOST + beside + letter->record.key.length + letter->record.value.length + letter->record.headers.length;
}

bool mailer_large_is(const struct letter *letter, int64_t most)
{
    return letter->parts == 0 && most > 0 && size_bound(letter) + MAILER_HEADROOM > (size_t)most;
}

static bool refuse(struct mailer_item *item, enum mailer_result result, const char *text)
{
    item->result = result;
    snprintf(item->error, sizeof item->error, "%.255s", text);
    return false;
}

/* Part n of as many as the letter says: as long as each other but for a byte, so that their number alone says how the record is divided. */
static struct span part_of(struct span record, const struct letter *letter, uint64_t n)
{
    size_t start = (size_t)(record.length * n / letter->parts);
    size_t end = (size_t)(record.length * (n + 1) / letter->parts);
    return (struct span){record.data + start, end - start};
}

/* The messages of those parts that do not stand there yet. False: one of them is not known of. */
static bool missing_parts(struct mailer *mailer, struct span record, const struct letter *letter, int64_t end_ms, struct mailer_message *messages, size_t *count,
                          struct error *error)
{
    *count = 0;
    for (uint32_t n = 0; n < letter->parts; n++) {
        struct mailer_message message = {.letter = letter, .part = n, .bytes = part_of(record, letter, n)};
        enum mailer_standing standing = mailer_verify_part(mailer, &message, end_ms, error);
        if (standing == MAILER_STANDING_UNKNOWN) {
            return false;
        }
        if (standing == MAILER_GONE) {
            messages[(*count)++] = message;
        }
    }
    return true;
}

/* The first result that is not "kept" is the item's. */
static bool store_parts(struct mailer *mailer, struct mailer_item *item, struct span record, const struct letter *letter, int64_t end_ms)
{
    struct mailer_message *messages = memory_new(letter->parts, sizeof *messages);
    struct mailer_item *results = memory_new(letter->parts, sizeof *results);
    struct error error;
    size_t count = 0;
    bool ok = missing_parts(mailer, record, letter, end_ms, messages, &count, &error) || refuse(item, MAILER_UNAVAILABLE, error.text);
    for (size_t i = 0; i < count; i++) {
        messages[i].item = &results[i];
    }
    if (ok) {
        mailer_dispatch(mailer, messages, count, end_ms);
    }
    for (size_t i = 0; ok && i < count; i++) {
        ok = results[i].result == MAILER_KEPT || refuse(item, results[i].result, results[i].error);
    }
    free(results);
    free(messages);
    return ok;
}

bool mailer_large_store(struct mailer *mailer, struct mailer_item *item, int64_t most, int64_t end_ms, struct letter *letter)
{
    if (most <= (int64_t)MAILER_HEADROOM + FIXED_MOST) {
        return refuse(item, MAILER_REFUSED, "the server's max_payload is too small for any letter: raise it to 64KB at least");
    }
    struct buffer record = buffer_new(RECORD_MOST);
    struct error error;
    if (!letter_encode_record(&record, &item->letter->record, &error)) {
        buffer_free(&record);
        return refuse(item, MAILER_REFUSED, error.text);
    }
    size_t part_most = (size_t)most - MAILER_HEADROOM;
    *letter = *item->letter;
    letter->record = (struct letter_record){SPAN_ABSENT, SPAN_ABSENT, SPAN_ABSENT};
    letter->parts = (uint32_t)((record.length + part_most - 1) / part_most);
    letter->parts_bytes = record.length;
    letter->parts_hash = XXH3_64bits(record.data, record.length);
    bool ok = store_parts(mailer, item, buffer_span(&record), letter, end_ms);
    buffer_free(&record);
    return ok;
}
