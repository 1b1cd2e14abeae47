/*
 * What cannot be understood or delivered becomes a dead letter (dlq/letter.h), which JetStream acknowledges before the frontier passes the record.
 *
 * The outbox's thread does the waiting. A letter that it has no room for waits here, as many as max_in_flight lets be; one that JetStream does not take is
 * reported as such, and the core has its record written again, to be tried later.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "bridge/decimal.h"
#include "bridge/outgoing.h"
#include "bridge/refusal.h"
#include "ops/daemon_state.h"
#include "ops/letter_options.h"

#define POST_MS 3000         /* for one post */
#define LETTERS_MAX 16384
#define BYTES_MAX ((size_t)64 << 20)
#define LETTERS_EXACT_MAX 1024 /* with exactly_once: what is in the outbox when it is given up must be answered within the transaction's life */
#define BYTES_EXACT_MAX ((size_t)16 << 20)
#define REPORTS_MAX 1024
#define STATUS_MS 100
#define HEADERS_MAX ((size_t)STORE_ROW_MAX + 4096)
#define STOP_MS 1000 /* for the redelivery at hand */
#define MEMBERS_MAX ((size_t)1 << 20)

/* A transaction waits for its letters: for the post under way, the next, and (daemon_transaction.c) as long before it gives up those that have no room. */
static int64_t post_ms(const struct config *config)
{
    int64_t quarter_ms = config->transaction_timeout_ms / 4;
    return quarter_ms < POST_MS ? quarter_ms : POST_MS;
}

bool daemon_letters_open(struct daemon *daemon, struct error *error)
{
    struct daemon_letters *letters = &daemon->letters;
    struct link_options link = letter_options_link(daemon->config, daemon->config->instance);
    letters->policies = daemon->config;
    letters->headers = buffer_new(HEADERS_MAX);
    letters->status_at_ms = -STATUS_MS;
    daemon->end.members = buffer_new(MEMBERS_MAX);
    return link_open(&link, &letters->link, error);
}

bool daemon_letters_start(struct daemon *daemon, struct error *error)
{
    struct daemon_letters *letters = &daemon->letters;
    letter_options_owner(daemon->config, daemon->cluster, letters->owner);
    struct outbox_options outbox = {.link = letters->link,
                                    .streams = letter_options_streams(daemon->config, letters->owner),
                                    .letters_max = daemon_transaction_exact(daemon) ? LETTERS_EXACT_MAX : LETTERS_MAX,
                                    .bytes_max = daemon_transaction_exact(daemon) ? BYTES_EXACT_MAX : BYTES_MAX,
                                    .timeout_ms = post_ms(daemon->config),
                                    .wake_fd = daemon->wake_fd};
    struct redelivery_options redelivery = {.config = daemon->config, .owner = letters->owner, .wake_fd = daemon->wake_fd};
    if (!outbox_open(&outbox, &letters->outbox, error) || !redelivery_start(&redelivery, &letters->redelivery, error) ||
        !nack_reader_start(daemon->config, letters->owner, letters->link, &letters->nack_reader, error)) {
        return false;
    }
    if (letters->reloaded != NULL) {
        redelivery_reload(letters->redelivery, letters->policies);
        nack_reader_reload(letters->nack_reader, letters->policies);
    }
    return true;
}

void daemon_letters_reload(struct daemon *daemon, struct config *fresh)
{
    struct daemon_letters *letters = &daemon->letters;
    if (letters->redelivery != NULL) {
        redelivery_reload(letters->redelivery, fresh);
    }
    if (letters->nack_reader != NULL) {
        nack_reader_reload(letters->nack_reader, fresh);
    }
    config_free(letters->reloaded); /* nobody reads it any more */
    letters->reloaded = fresh;
    letters->policies = fresh;
}

void daemon_letters_close(struct daemon *daemon)
{
    struct daemon_letters *letters = &daemon->letters;
    nack_reader_stop(letters->nack_reader);
    redelivery_stop(letters->redelivery, STOP_MS);
    outbox_close(letters->outbox);
    link_close(letters->link);
    for (size_t i = letters->waiting_first; i < letters->waiting_count; i++) {
        free(letters->waiting[i].row);
    }
    free(letters->waiting);
    buffer_free(&letters->headers);
    config_free(letters->reloaded);
}

enum letter_reason daemon_letters_reason(enum refusal_reason reason)
{
    enum letter_reason same;
    (void)letter_reason_of(span_of_text(refusal_name(reason)), &same); /* a test proves that each has its own */
    return same;
}

/* ------------------------------------------------------------------------------------------------- making one */

static void add_header(void *headers, struct span name, struct span value)
{
    letter_add_header(headers, name, value);
}

/* Where it came from: a copy is the record that a person wrote. */
static struct letter_origin origin_of(const struct partition *partition, struct key key, const struct row *row)
{
    bool copy = row->root >= 0;
    return (struct letter_origin){.topic = span_of_text(partition->topic),
                                  .partition = partition->number,
                                  .offset = copy ? row->root : key.offset,
                                  .timestamp_ms = copy ? row->root_timestamp_ms : row->record.timestamp_ms};
}

/* How often a person has had it replayed already, when that went by way of the delay topic. */
static uint32_t replays_of(const struct row *row)
{
    struct span rest = row->headers;
    struct record_header header;
    bool damaged = false;
    int64_t count = 0;
    while (row_next_header(&rest, &header, &damaged)) {
        if (span_equals_text(header.name, "tarry-replays") && decimal_parse(header.value, &count) == DECIMAL_READ && count <= INT32_MAX) {
            return (uint32_t)count;
        }
    }
    return 0;
}

/* What says that it is to be decided anew, where it came from: it was never decided what goes out, or how it goes on. */
static bool is_whole(const struct in_flight_item *item, const struct row *row)
{
    return row->refused || row->decoded.undecided || (daemon_schedules_recurs(row) && item->reason == LETTER_REASON_BAD_SCHEDULE);
}

/* The record as it would go out; or whole, as it came. */
static void fill_record(struct daemon *daemon, const struct config_source *source, const struct row *row, bool whole, struct letter *letter)
{
    struct buffer *headers = &daemon->letters.headers;
    buffer_clear(headers);
    if (whole) {
        (void)outgoing_refused(row, add_header, headers); /* row_decode has read this row: it is whole */
        letter->record = (struct letter_record){row->record.key, row->record.value, buffer_span(headers)};
    } else {
        const struct decode_rules *rules = &daemon->sources[source - daemon->config->sources].rules;
        struct sink_origin origin = {source->topic, letter->origin.partition, letter->origin.offset, letter->due_ms, rules};
        (void)outgoing_accepted(row, &origin, source->output_headers, add_header, headers);
        letter->record = (struct letter_record){row->decoded.key, row->decoded.value, buffer_span(headers)};
    }
}

/* `room` is where the error's text is kept. */
static void make(struct daemon *daemon,
                 const struct partition *partition,
                 const struct in_flight_item *item,
                 struct key key,
                 const struct row *row,
                 const char *error,
                 struct letter *letter,
                 char room[LETTER_ERROR_MAX])
{
    const struct config_source *source = &daemon->config->sources[item->source_index];
    bool whole = is_whole(item, row);
    *letter = (struct letter){
        .reason = (enum letter_reason)item->reason,
        .attempt = 1,
        .replays = replays_of(row),
        .first_failure_ms = daemon->now.wall.ms,
        .last_failure_ms = daemon->now.wall.ms,
        .target = whole ? SPAN_ABSENT : row->decoded.target,
        .target_partition = whole ? -1 : row->decoded.partition,
        .origin = origin_of(partition, key, row),
        .group = span_of_text(daemon->config->group),
        .schedule_id = row->refused ? SPAN_ABSENT : row->decoded.id,
        .due_ms = whole ? -1 : row->decoded.due_ms,
    };
    uint64_t salt = daemon_schedules_recurs(row) ? (uint64_t)row->decoded.due_ms : 0; /* of one schedule each occurrence has its own */
    letter_id(letter->id, span_of_text(daemon->cluster), letter->group, &letter->origin, salt);
    letter_set_error(letter, span_of_text(error), room);
    const struct retry_policy *policy = letter_options_retry(daemon->letters.policies, letter->target);
    letter->not_before_ms = daemon->now.wall.ms + retry_wait_ms(policy, 1, sink_target_hash(span_of_text(letter->id)));
    fill_record(daemon, source, row, whole, letter);
}

/* False: there is no room in the outbox now. */
static bool put(struct daemon *daemon, const struct partition *partition, struct in_flight_item *item, struct key key, const struct row *row, const char *error)
{
    struct letter letter;
    char room[LETTER_ERROR_MAX];
    make(daemon, partition, item, key, row, error, &letter, room);
    enum letter_state state = letter_options_state(daemon->letters.policies, &letter, row->refused ? -1 : row->decoded.expires_ms);
    item->parked = state == LETTER_PARKED;
    if (!outbox_put(daemon->letters.outbox, &letter, state, item)) {
        return false;
    }
    daemon_log_letter(daemon, partition, &letter, row, error);
    return true;
}

/* ------------------------------------------------------------------------------------------------- no room in the outbox */

static void keep(struct daemon_letters *letters, struct in_flight_item *item, struct key key, struct span row, const char *error)
{
    if (letters->waiting_count == letters->waiting_capacity && letters->waiting_first > 0) {
        letters->waiting_count -= letters->waiting_first;
        memmove(letters->waiting, letters->waiting + letters->waiting_first, letters->waiting_count * sizeof(*letters->waiting));
        letters->waiting_first = 0;
    }
    if (letters->waiting_count == letters->waiting_capacity) {
        letters->waiting_capacity = letters->waiting_capacity == 0 ? 256 : letters->waiting_capacity * 2;
        letters->waiting = memory_resize(letters->waiting, letters->waiting_capacity, sizeof(*letters->waiting));
    }
    struct daemon_letter *kept = &letters->waiting[letters->waiting_count++];
    *kept = (struct daemon_letter){.item = item, .key = key, .row = memory_new(row.length, 1), .row_length = row.length};
    memcpy(kept->row, row.data, row.length);
    snprintf(kept->error, sizeof(kept->error), "%s", error);
}

void daemon_letters_send(struct daemon *daemon, struct in_flight_item *item, struct key key, const struct row *row, struct span bytes, const char *error)
{
    struct daemon_letters *letters = &daemon->letters;
    const struct partition *partition = partitions_at(&daemon->partitions, item->slot);
    bool others_wait = letters->waiting_first < letters->waiting_count;
    letters->outstanding++;
    if (others_wait || !put(daemon, partition, item, key, row, error)) {
        keep(letters, item, key, bytes, error);
    }
}

static bool still_ours(const struct daemon *daemon, const struct in_flight_item *item)
{
    const struct partition *partition = partitions_at(&daemon->partitions, item->slot);
    return partition != NULL && partition->gained && partition->epoch == item->epoch;
}

/* The oldest one that waits. False: there still is no room. */
static bool put_oldest(struct daemon *daemon)
{
    struct daemon_letters *letters = &daemon->letters;
    struct daemon_letter *oldest = &letters->waiting[letters->waiting_first];
    struct row row;
    struct error error;
    if (!still_ours(daemon, oldest->item)) { /* whoever has the partition now makes it */
        letters->outstanding--;
        in_flight_give(&daemon->in_flight, oldest->item);
    } else if (!row_decode((struct span){oldest->row, oldest->row_length}, &row, &error)) {
        daemon_fail(daemon, &error); /* it was read back a moment ago: our memory is damaged */
        return false;
    } else if (!put(daemon, partitions_at(&daemon->partitions, oldest->item->slot), oldest->item, oldest->key, &row, oldest->error)) {
        return false;
    }
    free(oldest->row);
    letters->waiting_first++;
    return true;
}

static void put_waiting(struct daemon *daemon)
{
    struct daemon_letters *letters = &daemon->letters;
    while (letters->waiting_first < letters->waiting_count && put_oldest(daemon)) {
    }
    if (letters->waiting_first == letters->waiting_count) {
        letters->waiting_first = letters->waiting_count = 0;
    }
}

/* ------------------------------------------------------------------------------------------------- reports */

static size_t failure_label(enum mailer_result result)
{
    return result == MAILER_FULL ? METRICS_LETTER_FULL : result == MAILER_REFUSED ? METRICS_LETTER_REFUSED : METRICS_LETTER_UNAVAILABLE;
}

static void kept(struct daemon *daemon, struct in_flight_item *item, const struct outbox_report *report)
{
    metrics_add(daemon->metrics, METRIC_LETTERS, item->lane, item->reason, report->duplicate ? 0 : 1);
    daemon->letters.parked += item->parked && !report->duplicate;
    if (daemon_transaction_exact(daemon)) {
        daemon_transaction_note(daemon, item);
    } else {
        daemon_outcomes_settled(daemon, item);
    }
}

static void not_kept(struct daemon *daemon, const struct outbox_report *report)
{
    metrics_add(daemon->metrics, METRIC_LETTER_FAILURES, failure_label(report->result), 0, 1);
    daemon->spoilt = daemon->spoilt || daemon_transaction_exact(daemon);
    daemon_log_not_kept(daemon, report->error);
}

static void take_report(struct daemon *daemon, const struct outbox_report *report)
{
    struct in_flight_item *item = report->token;
    bool delivered = report->result == MAILER_KEPT;
    daemon->letters.outstanding--;
    if (delivered) {
        kept(daemon, item, report);
    } else {
        not_kept(daemon, report);
    }
    if (still_ours(daemon, item)) {
        const struct partition *partition = partitions_at(&daemon->partitions, item->slot);
        daemon_input(daemon, delivered ? INPUT_DELIVERED : INPUT_DELIVERY_FAILED, partition)->as.delivery =
            (struct input_delivery){
                .lane = item->lane, .sequence = item->sequence, .failure = DELIVERY_NO_LETTER, .again = delivered && item->again, .why = COPY_NEXT};
    }
    in_flight_give(&daemon->in_flight, item);
}

/* JetStream is so slow that the transaction would not outlive it: what has no room in the outbox is tried later. */
static void give_up_waiting(struct daemon *daemon)
{
    struct daemon_letters *letters = &daemon->letters;
    for (; letters->waiting_first < letters->waiting_count; letters->waiting_first++) {
        struct daemon_letter *oldest = &letters->waiting[letters->waiting_first];
        struct outbox_report report = {.token = oldest->item, .result = MAILER_UNAVAILABLE};
        snprintf(report.error, sizeof(report.error), "JetStream takes letters too slowly for so many in one transaction");
        free(oldest->row);
        take_report(daemon, &report);
    }
    letters->waiting_first = letters->waiting_count = 0;
}

/* Redelivery is the affair of one instance: of who has partition 0 of the first source. */
static bool redelivers(const struct daemon *daemon)
{
    const struct partition *first = partitions_find(&daemon->partitions, daemon->config->sources[0].topic, 0);
    return first != NULL && first->state == PARTITIONS_OPEN && first->gained && !daemon->stopping;
}

static void tell_status(struct daemon *daemon)
{
    struct daemon_letters *letters = &daemon->letters;
    const struct outbox_status *status = daemon_letters_status(daemon);
    if (letters->told_down == !status->ready || (!status->ready && status->text[0] == '\0')) {
        return;
    }
    letters->told_down = !status->ready;
    log_write(status->ready ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, status->ready ? "nats_up" : "nats_trouble", NULL, 0,
              status->ready ? "JetStream takes dead letters%s"
                            : "no dead letters can be kept now; deliveries go on, and records that fail stay pending and are tried again later: %s",
              status->ready ? "" : status->text);
}

bool daemon_letters_take(struct daemon *daemon)
{
    if (daemon->letters.redelivery == NULL) {
        return false;
    }
    static struct outbox_report reports[REPORTS_MAX]; /* large, and used by the owner thread alone */
    size_t count = outbox_take(daemon->letters.outbox, reports, REPORTS_MAX);
    for (size_t i = 0; i < count; i++) {
        take_report(daemon, &reports[i]);
    }
    put_waiting(daemon);
    if (daemon->end.ordered && daemon->now.mono.ms >= daemon->end.give_up_ms) {
        give_up_waiting(daemon);
    }
    daemon_transaction_try_end(daemon);
    redelivery_set_active(daemon->letters.redelivery, redelivers(daemon));
    tell_status(daemon);
    return count == REPORTS_MAX;
}

const struct outbox_status *daemon_letters_status(struct daemon *daemon)
{
    struct daemon_letters *letters = &daemon->letters;
    if (letters->outbox != NULL && daemon->now.mono.ms - letters->status_at_ms >= STATUS_MS) {
        outbox_status(letters->outbox, &letters->status);
        letters->status_at_ms = daemon->now.mono.ms;
        letters->known = letters->known || letters->status.ready;
    }
    return &letters->status;
}

void daemon_letters_redelivery(const struct daemon *daemon, struct redelivery_status *status)
{
    *status = (struct redelivery_status){.phase = REDELIVERY_IDLE, .next_ms = -1};
    if (daemon->letters.redelivery != NULL) {
        redelivery_status(daemon->letters.redelivery, status);
    }
}
