/* From a record of a nack topic to a letter: see nack_reader_state.h. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "bridge/decimal.h"
#include "bridge/delay_text.h"
#include "bridge/time_text.h"
#include "ops/letter_options.h"
#include "ops/nack_reader.h"
#include "ops/nack_reader_state.h"

#define HEADERS_MAX SIZE_MAX /* the record is in memory already, and its bound is librdkafka's */

_Static_assert((int)CONFIG_NACK_KAFKA == (int)NACK_FAMILY_KAFKA && (int)CONFIG_NACK_CONNECT == (int)NACK_FAMILY_CONNECT &&
                   (int)CONFIG_NACK_STREAMS == (int)NACK_FAMILY_STREAMS && (int)CONFIG_NACK_SPRING == (int)NACK_FAMILY_SPRING,
               "one is the other");

int64_t nack_reader_not_before(struct span delay, struct span at, int64_t now_ms, int64_t otherwise_ms)
{
    int64_t value = 0;
    int64_t not_before_ms = otherwise_ms;
    if (delay_text_parse(delay, &value) == DECIMAL_READ) {
        not_before_ms = checked_add_i64(now_ms, value, &value) ? value : TIME_TEXT_LAST_MS;
    } else if (time_text_parse(at, &value) || decimal_parse(at, &value) == DECIMAL_READ) {
        not_before_ms = value;
    }
    return not_before_ms < TIME_TEXT_LAST_MS ? not_before_ms : TIME_TEXT_LAST_MS;
}

static void encode_headers(struct buffer *headers, const struct record *record)
{
    for (size_t i = 0; i < record->header_count; i++) {
        letter_add_header(headers, record->headers[i].name, record->headers[i].value);
    }
}

/* Spreads the waits; the same for the same letter. */
static uint64_t seed_of(const struct letter *letter)
{
    uint64_t seed = letter->attempt;
    for (size_t i = 0; i < LETTER_ID_SIZE - 1; i++) {
        seed = seed * 31 + (uint8_t)letter->id[i];
    }
    return seed;
}

static void park(struct nack_reader_item *item, enum letter_reason reason, const char *why)
{
    char text[sizeof(item->error) + 512];
    struct span said = item->letter.error;
    (void)snprintf(text, sizeof(text), "%s%s%.*s", why, said.length > 0 ? ": " : "", (int)said.length, said.length > 0 ? (const char *)said.data : "");
    letter_set_error(&item->letter, span_of_text(text), item->error);
    item->letter.reason = reason;
    item->state = LETTER_PARKED;
}

/* Where a letter that can be redelivered goes, and when. */
static void decide(struct nack_reader_item *item, const struct nack_reader_rules *rules, int64_t now_ms)
{
    struct letter *letter = &item->letter;
    const struct retry_policy *policy = letter_options_retry(rules->policies, letter->target);
    if (!letter_options_allowed(rules->opened, letter->target)) {
        park(item, LETTER_REASON_TARGET_NOT_ALLOWED, "the topic that it failed in is no target of this tarry (`targets`)");
        return;
    }
    if (retry_spent(policy, letter->attempt)) {
        item->state = LETTER_PARKED;
        letter->attempt -= letter->attempt > 1; /* of the redelivery that its consumer failed on last: parking does not count up */
        return;
    }
    struct span headers = buffer_span(&item->headers);
    int64_t otherwise_ms = now_ms;
    (void)checked_add_i64(now_ms, retry_wait_ms(policy, letter->attempt, seed_of(letter)), &otherwise_ms);
    letter->not_before_ms =
        nack_reader_not_before(nack_family_header(headers, NACK_FAMILY_DELAY), nack_family_header(headers, NACK_FAMILY_AT), now_ms, otherwise_ms);
    item->state = LETTER_WAITING;
}

void nack_reader_item_make(struct nack_reader_item *item, const struct nack_reader_rules *rules, const struct nack_source_record *record, int64_t now_ms)
{
    const struct letter_origin place = {span_of_text(record->topic), record->partition, record->record.offset, record->record.timestamp_ms};
    const struct config *opened = rules->opened;
    struct letter *letter = &item->letter;
    item->headers = buffer_new(HEADERS_MAX);
    item->room = nack_family_room_new(HEADERS_MAX);
    item->kept = false;
    encode_headers(&item->headers, &record->record);
    const struct letter_record given = {record->record.key, record->record.value, buffer_span(&item->headers)};
    bool known = nack_family_read((enum nack_family)opened->nacks[record->match].family, &given, &item->room, letter);
    letter_id(letter->id, SPAN_ABSENT, span_of_text(opened->group), &place, 0);
    letter->first_failure_ms = letter->last_failure_ms = place.timestamp_ms >= 0 ? place.timestamp_ms : now_ms;
    letter->not_before_ms = letter->last_failure_ms; /* not by our clock: the same record makes the same bytes */
    if (known) {
        decide(item, rules, now_ms);
    } else {
        letter->origin.topic = place.topic;
        park(item, LETTER_REASON_BAD_NACK, "no header of its family (`nack`) names the topic that it failed in");
    }
}

void nack_reader_item_free(struct nack_reader_item *item)
{
    buffer_free(&item->headers);
    nack_family_room_free(&item->room);
    memset(item, 0, sizeof(*item));
}
