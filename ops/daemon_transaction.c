/* Transactions between core and sink (R9): what belongs to one is sent as the core's commands come; its end is a thread's work, and a fact when known. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ops/daemon_state.h"

#define END_ASK_MS 1000  /* how long the owner may be held up by the question; the broker answers in a few */
#define END_AGAIN_MS 1000

bool daemon_transaction_exact(const struct daemon *daemon)
{
    return daemon->config->delivery == CONFIG_DELIVERY_EXACTLY_ONCE;
}

/* With exactly_once: a former process of this name may still have a transaction open, which has to end, and it has to be fenced (R9). */
bool daemon_transaction_settled(struct daemon *daemon)
{
    if (!daemon_transaction_exact(daemon) || sink_transaction_ready(daemon->sink)) {
        return true;
    }
    const char *trouble = sink_transaction_trouble(daemon->sink);
    if (trouble[0] != '\0' && daemon_may_tell(daemon, &daemon->abort_told_ms)) {
        log_write(LOG_LEVEL_WARNING, "transactions_wait", NULL, 0, "%s", trouble);
    }
    return false;
}

void daemon_transaction_copy(struct daemon *daemon, const struct partition *partition, const struct command_copy *command)
{
    struct row row;
    struct error error;
    if (!sink_transaction_ready(daemon->sink)) { /* the first copy of an instance that delivers at least once: it is tried again soon */
        daemon->spoilt = true;
        if (!sink_transaction_start(daemon->sink, &error)) {
            daemon_fail(daemon, &error);
        }
        return;
    }
    if (daemon->failed || !daemon_commands_row(daemon, partition, command->lane, command->key, command->ref, &row, NULL)) {
        daemon->spoilt = true;
        return;
    }
    struct sink_origin origin = {partition->topic, partition->number, command->key.offset, command->due_ms};
    daemon->copied = true;
    daemon->copied_slot = partition->slot;
    daemon->copied_epoch = partition->epoch;
    sink_copy(daemon->sink, &row, &origin);
    metrics_add(daemon->metrics, METRIC_REAPPENDED, command->due_ms == command->key.due_ms ? METRICS_WHY_COPY : METRICS_WHY_LETTER, 0, 1);
}

static void make_room(struct daemon *daemon, size_t count)
{
    if (daemon->offset_capacity < count) {
        daemon->offset_capacity = count;
        daemon->offsets = memory_resize(daemon->offsets, count, sizeof(*daemon->offsets));
        daemon->offset_texts = memory_resize(daemon->offset_texts, count, sizeof(*daemon->offset_texts));
    }
}

/* Not even begun: there are no rights, or not yet. */
static void refuse(struct daemon *daemon, const struct command_transaction *command)
{
    const char *trouble = sink_transaction_trouble(daemon->sink);
    struct error error;
    if (!sink_transaction_start(daemon->sink, &error)) {
        daemon_fail(daemon, &error);
    }
    if (trouble[0] != '\0') {
        log_write(LOG_LEVEL_WARNING, "copies_wait", NULL, 0, "nothing is copied forward, and what JetStream takes no letter of is not tried later but waits: %s", trouble);
    }
    daemon->spoilt = false;
    daemon->copied = false;
    daemon_input(daemon, INPUT_TRANSACTION_DONE, NULL)->as.transaction = (struct input_transaction){.number = command->number, .result = TRANSACTION_ABORTED};
}

void daemon_transaction_end(struct daemon *daemon, const struct command_transaction *command)
{
    if (!sink_transaction_ready(daemon->sink)) {
        refuse(daemon, command);
        return;
    }
    size_t count = command->abort ? 0 : command->slot_count;
    make_room(daemon, count);
    for (size_t i = 0; i < count; i++) {
        const struct transaction_slot *slot = &command->slots[i];
        const struct partition *partition = partitions_at(&daemon->partitions, slot->slot);
        if (!daemon_commands_text(daemon, partition, slot->frontier, daemon->offset_texts[i])) {
            return; /* the process ends; nothing was ordered */
        }
        daemon->offsets[i] = (struct sink_offset){partition->topic, partition->number, slot->frontier->committed_offset,
                                                  daemon->offset_texts[i]};
    }
    daemon->transaction = command->number;
    daemon->end.ordered = true;
    daemon->end.abort = command->abort;
    daemon->end.offset_count = count;
    daemon->end.give_up_ms = daemon->now.mono.ms + daemon->config->transaction_timeout_ms / 4;
    buffer_clear(&daemon->end.members);
    buffer_add_span(&daemon->end.members, source_members(daemon->source)); /* of now: the batch was built under it */
    daemon_transaction_try_end(daemon);
}

/* A letter of the transaction has to be kept before the progress that passes its record is committed. The wait is bounded (daemon_letters.c), well below
 * transaction_timeout: a transaction that the coordinator ends itself costs the process. */
void daemon_transaction_try_end(struct daemon *daemon)
{
    if (!daemon->end.ordered || (daemon_transaction_exact(daemon) && daemon->letters.outstanding > 0)) {
        return;
    }
    bool abort = daemon->end.abort || daemon->spoilt || daemon->failed; /* what was not sent must not be committed as done */
    struct span members = buffer_span(&daemon->end.members);
    sink_transaction_end(daemon->sink, abort, daemon->offsets, abort ? 0 : daemon->end.offset_count, members.length == 0 ? SPAN_ABSENT : members);
    daemon->end.ordered = false;
    daemon->spoilt = false;
}

void daemon_transaction_note(struct daemon *daemon, const struct in_flight_item *item)
{
    if (daemon->settling_count == daemon->settling_capacity) {
        daemon->settling_capacity = daemon->settling_capacity == 0 ? 1024 : daemon->settling_capacity * 2;
        daemon->settling = memory_resize(daemon->settling, daemon->settling_capacity, sizeof(*daemon->settling));
    }
    daemon->settling[daemon->settling_count++] = *item;
}

static void settle(struct daemon *daemon, bool committed)
{
    for (size_t i = 0; i < daemon->settling_count && committed; i++) {
        daemon_intake_delivered(daemon, &daemon->settling[i]);
    }
    daemon->settling_count = 0;
}

static void tell(struct daemon *daemon, const struct sink_transaction_result *result)
{
    if (!result->committed && result->error[0] != '\0' && daemon_may_tell(daemon, &daemon->abort_told_ms)) {
        log_write(LOG_LEVEL_WARNING, "transaction_aborted", LOG_FIELDS(LOG_TEXT("error", result->error)),
                  "a transaction was aborted: nothing of it is visible to read_committed consumers, and all of it goes again");
    }
}

static void hand_over(struct daemon *daemon, const struct sink_transaction_result *result)
{
    bool copied = daemon->copied;
    daemon->copied = false;
    daemon->end_at_ms = TIME_NEVER;
    daemon->copied_end = (struct copied_end){daemon->copied_slot, daemon->copied_epoch, result->copied_end};
    daemon_input(daemon, INPUT_TRANSACTION_DONE, NULL)->as.transaction =
        (struct input_transaction){daemon->transaction, result->committed ? TRANSACTION_COMMITTED : TRANSACTION_ABORTED, &daemon->copied_end,
                                   result->committed && copied};
}

/* Its copies are there and nobody said where: below the high watermark of now. */
static void find_end(struct daemon *daemon)
{
    const struct partition *partition = partitions_at(&daemon->partitions, daemon->copied_slot);
    struct error error;
    if (daemon->now.mono.ms < daemon->end_at_ms) {
        return;
    }
    if (partition == NULL || partition->epoch != daemon->copied_epoch || /* lost meanwhile: the core does not need it */
        source_high(daemon->source, partition->topic, partition->number, END_ASK_MS, &daemon->result.copied_end, &error)) {
        hand_over(daemon, &daemon->result);
        return;
    }
    log_write(LOG_LEVEL_WARNING, "transaction_end_unknown", LOG_FIELDS(LOG_TEXT("topic", partition->topic)),
              "copies were written and the broker did not say where: %s; nothing leaves until that is known, it is asked again", error.text);
    daemon->end_at_ms = daemon->now.mono.ms + END_ASK_MS + END_AGAIN_MS; /* `now` is of before the question */
}

int64_t daemon_transaction_deadline(const struct daemon *daemon)
{
    bool letters_wait = daemon->end.ordered && daemon->letters.waiting_first < daemon->letters.waiting_count;
    return letters_wait && daemon->end.give_up_ms < daemon->end_at_ms ? daemon->end.give_up_ms : daemon->end_at_ms;
}

void daemon_transaction_take(struct daemon *daemon)
{
    struct sink_transaction_result result;
    if (daemon->end_at_ms != TIME_NEVER) {
        find_end(daemon);
        return;
    }
    if (!sink_transaction_poll(daemon->sink, &result)) {
        return;
    }
    metrics_add(daemon->metrics, METRIC_TRANSACTIONS, result.committed ? METRICS_RESULT_OK : METRICS_RESULT_FAILED, 0, 1);
    metrics_observe(daemon->metrics, METRIC_TRANSACTION_SECONDS, 0, 0, (double)result.took_ms / 1000.0);
    tell(daemon, &result);
    settle(daemon, result.committed);
    if (daemon->sink_full) { /* what filled the queue has left it */
        daemon->sink_full = false;
        daemon_input(daemon, INPUT_SINK_ROOM, NULL);
    }
    if (result.committed && daemon->copied && result.copied_end < 0) {
        daemon->result = result;
        daemon->end_at_ms = daemon->now.mono.ms;
        find_end(daemon);
        return;
    }
    hand_over(daemon, &result);
}
