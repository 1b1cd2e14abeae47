/* From the stream into memory: where each letter stands and when it is due. */
#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "ops/redelivery_state.h"

#define TURN_MESSAGES 1024 /* read in one turn: what is due does not wait longer for what is not */
#define SPARE (2 * REDELIVERY_FLIGHTS) /* what is under way must find its place again */

static bool room(const struct redelivery *redelivery)
{
    return waiting_count(redelivery->waiting) < WAITING_MAX - SPARE;
}

bool redelivery_read_put(struct redelivery *redelivery, const struct waiting_entry *entry)
{
    struct waiting_entry removed;
    switch (waiting_put(redelivery->waiting, entry, &removed)) {
    case WAITING_REPLACED:
        redelivery->counts.doubles++;
        redelivery_settle_owe(redelivery, removed.sequence);
        return true;
    case WAITING_OUTDATED:
        redelivery->counts.doubles++;
        redelivery_settle_owe(redelivery, entry->sequence);
        return true;
    case WAITING_FULL:
        return false;
    case WAITING_PUT:
    case WAITING_KNOWN:
    default:
        return true;
    }
}

/* A letter of a newer version, or damaged: it stands where it is, for who can read it. */
static void say_unreadable(struct redelivery *redelivery, uint64_t sequence, const char *why)
{
    if (sequence > redelivery->unreadable_told) {
        redelivery->unreadable_told = sequence;
        log_write(LOG_LEVEL_ERROR, "letter_unreadable", LOG_FIELDS(LOG_TEXT("stream", redelivery->streams.stream), LOG_NUMBER("sequence", sequence)),
                  "message %" PRIu64 " of %s is no letter that this version can read, and is left alone: %s", sequence, redelivery->streams.stream, why);
    }
}

/* A nack is due at once: to be made into a letter. Its id is its sequence, which no letter has. */
static struct waiting_entry entry_of_nack(const struct reader_message *message)
{
    return (struct waiting_entry){.not_before_ms = message->stored_ms, .sequence = message->sequence, .id = {0, message->sequence}};
}

static bool note(struct redelivery *redelivery, const struct reader_message *message)
{
    enum subject_kind kind;
    char topic[SUBJECT_SIZE];
    struct letter letter;
    struct error error;
    if (subject_read(message->subject, redelivery->streams.prefix, &kind, topic) && kind == SUBJECT_NACK) {
        const struct waiting_entry nack = entry_of_nack(message);
        return redelivery_read_put(redelivery, &nack);
    }
    if (!letter_decode(message->bytes, &letter, &error)) {
        say_unreadable(redelivery, message->sequence, error.text);
        return true;
    }
    if (redelivery_lately_outdates(redelivery->lately, &letter, message->stored_ms)) {
        redelivery->counts.doubles++;
        redelivery_settle_owe(redelivery, message->sequence);
        return true;
    }
    const struct waiting_entry entry = {.not_before_ms = letter.not_before_ms,
                                        .sequence = message->sequence,
                                        .id = waiting_id_of(letter.id),
                                        .attempt = letter.attempt,
                                        .replays = letter.replays,
                                        .target_hash = redelivery_targets_hash(letter.target)};
    return redelivery_read_put(redelivery, &entry);
}

static bool open(struct redelivery *redelivery, struct error *error)
{
    return redelivery->reader != NULL ||
           reader_open(redelivery->link, redelivery->streams.stream, NULL, redelivery->read_from, &redelivery->reader, error);
}

/* Memory is full: what is not read stands in the stream, and is read when there is room. */
static void rest(struct redelivery *redelivery)
{
    reader_close(redelivery->reader);
    redelivery->reader = NULL;
}

/* False: `error` says why. *more: there may be another one. */
static bool take(struct redelivery *redelivery, enum reader_result result, const struct reader_message *message, bool *more, struct error *error)
{
    *more = result == READER_MESSAGE && note(redelivery, message);
    if (*more) {
        redelivery->read_from = message->sequence + 1;
    } else if (result == READER_MESSAGE) {
        rest(redelivery); /* this one was not taken: it is read again */
    }
    if (redelivery->owed_count > REDELIVERY_OWED / 2 && !redelivery_settle_pay(redelivery, error)) {
        return false;
    }
    return result != READER_FAILED;
}

bool redelivery_read(struct redelivery *redelivery, int64_t timeout_ms, struct error *error)
{
    bool more = true;
    if (!room(redelivery)) {
        rest(redelivery);
        redelivery_pause(redelivery, timeout_ms);
        return true;
    }
    if (!open(redelivery, error)) {
        return false;
    }
    for (size_t count = 0; more && count < TURN_MESSAGES && room(redelivery); count++) {
        struct reader_message message;
        enum reader_result result = reader_poll(redelivery->reader, count == 0 ? timeout_ms : 0, &message, error);
        if (!take(redelivery, result, &message, &more, error)) {
            return false;
        }
    }
    return true;
}

bool redelivery_read_all(struct redelivery *redelivery, struct error *error)
{
    bool more = true;
    if (!open(redelivery, error)) {
        return false;
    }
    while (more && room(redelivery) && redelivery_wanted(redelivery)) {
        struct reader_message message;
        enum reader_result result = reader_next(redelivery->reader, 0, &message, error);
        if (!take(redelivery, result, &message, &more, error)) {
            return false;
        }
    }
    return true;
}
