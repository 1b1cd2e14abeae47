/* Whether what a duplicate's acknowledgement names is the same, and still there. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dlq/mailer_state.h"
#include "dlq/subject.h"

#define VERIFY_MS 2000

void mailer_verify_id(const struct mailer_message *message, char id[MAILER_ID_SIZE])
{
    if (message->part < 0) {
        letter_message_id(message->letter, message->state, message->nth, id);
    } else {
        const struct letter *letter = message->letter;
        snprintf(id, MAILER_ID_SIZE, "%s.%016" PRIx64 "-%" PRIu32 ".%" PRId64 ".%" PRIu32, letter->id, letter->parts_hash, letter->parts, message->part,
                 message->nth);
    }
}

const char *mailer_verify_stream(const struct mailer *mailer, const struct mailer_message *message)
{
    if (message->part >= 0) {
        return mailer->large;
    }
    return message->state == LETTER_PARKED ? mailer->options->parked_stream : mailer->options->stream;
}

static bool same_record(const struct letter *a, const struct letter *b)
{
    if (a->parts > 0 || b->parts > 0) {
        return a->parts == b->parts && a->parts_bytes == b->parts_bytes && a->parts_hash == b->parts_hash;
    }
    /* no headers are written absent or empty */
    bool headers = (a->record.headers.length == 0 && b->record.headers.length == 0) || span_equal(a->record.headers, b->record.headers);
    return headers && span_equal(a->record.key, b->record.key) && span_equal(a->record.value, b->record.value);
}

/* The same failure of the same record. Times and words are not asked for: a failure found again after a restart is put down with later ones. */
static bool same_letter(struct span bytes, const struct letter *letter)
{
    struct letter stored;
    return letter_decode(bytes, &stored, NULL) && strcmp(stored.id, letter->id) == 0 && stored.attempt == letter->attempt &&
           stored.replays == letter->replays && stored.target_partition == letter->target_partition && span_equal(stored.target, letter->target) &&
           same_record(&stored, letter);
}

static struct span body_of(natsMsg *stored)
{
    const char *data = natsMsg_GetData(stored);
    return (struct span){(const uint8_t *)(data == NULL ? "" : data), (size_t)natsMsg_GetDataLength(stored)};
}

static bool same(natsMsg *stored, const struct mailer_message *message)
{
    char id[MAILER_ID_SIZE];
    mailer_verify_id(message, id);
    const char *stored_id = NULL;
    if (natsMsgHeader_Get(stored, "Nats-Msg-Id", &stored_id) != NATS_OK || strcmp(stored_id, id) != 0) {
        return false;
    }
    struct span bytes = body_of(stored);
    return message->part < 0 ? same_letter(bytes, message->letter) : span_equal(bytes, message->bytes);
}

static void ask_until(jsOptions *options, int64_t end_ms)
{
    int64_t left_ms = end_ms - link_session_clock_ms();
    jsOptions_Init(options);
    options->Wait = left_ms < 1 ? 1 : left_ms < VERIFY_MS ? left_ms : VERIFY_MS;
}

enum mailer_standing mailer_verify(struct mailer *mailer, const struct mailer_message *message, uint64_t sequence, int64_t end_ms)
{
    jsOptions options;
    ask_until(&options, end_ms);
    natsMsg *stored = NULL;
    jsErrCode code = 0;
    natsStatus status = js_GetMsg(&stored, link_session_jetstream(mailer->session), mailer_verify_stream(mailer, message), sequence, &options, &code);
    if (status == NATS_NOT_FOUND) {
        return MAILER_GONE;
    }
    if (status != NATS_OK) {
        return MAILER_STANDING_UNKNOWN;
    }
    enum mailer_standing standing = same(stored, message) ? MAILER_STANDS : MAILER_GONE;
    natsMsg_Destroy(stored);
    return standing;
}

enum mailer_standing mailer_verify_part(struct mailer *mailer, const struct mailer_message *message, int64_t end_ms, struct error *error)
{
    if (!mailer_session_ready(mailer, end_ms, error)) {
        return MAILER_STANDING_UNKNOWN;
    }
    char subject[SUBJECT_SIZE];
    subject_large(subject, mailer->options->prefix, message->letter, (uint32_t)message->part);
    jsOptions options;
    ask_until(&options, end_ms);
    natsMsg *stored = NULL;
    jsErrCode code = 0;
    natsStatus status = js_GetLastMsg(&stored, link_session_jetstream(mailer->session), mailer->large, subject, &options, &code);
    if (status == NATS_NOT_FOUND) { /* or no such stream: then nothing stands there either, and storing tells why */
        return MAILER_GONE;
    }
    if (status != NATS_OK) {
        link_session_failure(mailer->session, status, code, error);
        return MAILER_STANDING_UNKNOWN;
    }
    enum mailer_standing standing = span_equal(body_of(stored), message->bytes) ? MAILER_STANDS : MAILER_GONE;
    natsMsg_Destroy(stored);
    return standing;
}
