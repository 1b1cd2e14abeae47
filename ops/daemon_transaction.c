/* Transactions between core and sink (R9): what belongs to one is sent as the core's commands come; its end is a thread's work, and a fact when known. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    if (trouble[0] != '\0') {
        daemon_log_transactions_wait(daemon, trouble);
    }
    return false;
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
        daemon_log_copies_wait(daemon, trouble);
    }
    daemon->spoilt = false;
    daemon->copies.end_count = 0;
    daemon_again_end(daemon, false);
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

void daemon_transaction_note(struct daemon *daemon, struct in_flight_item *item)
{
    if (daemon->settling_count == daemon->settling_capacity) {
        daemon->settling_capacity = daemon->settling_capacity == 0 ? 1024 : daemon->settling_capacity * 2;
        daemon->settling = memory_resize(daemon->settling, daemon->settling_capacity, sizeof(*daemon->settling));
    }
    daemon->settling[daemon->settling_count++] = *item;
    item->told = NULL;
}

static void settle(struct daemon *daemon, bool committed)
{
    for (size_t i = 0; i < daemon->settling_count; i++) {
        if (committed) {
            daemon_outcomes_settled(daemon, &daemon->settling[i]);
        }
        free(daemon->settling[i].told);
    }
    daemon->settling_count = 0;
}

static void tell(struct daemon *daemon, const struct sink_transaction_result *result)
{
    if (!result->committed && result->error[0] != '\0') {
        daemon_log_aborted(daemon, result->error);
    }
}

static void hand_over(struct daemon *daemon, const struct sink_transaction_result *result)
{
    size_t ends = result->committed ? daemon->copies.end_count : 0;
    daemon->copies.end_count = 0; /* they stay where they are until the step */
    daemon->end_at_ms = TIME_NEVER;
    daemon_again_end(daemon, result->committed);
    daemon_input(daemon, INPUT_TRANSACTION_DONE, NULL)->as.transaction = (struct input_transaction){
        daemon->transaction, result->committed ? TRANSACTION_COMMITTED : result->full ? TRANSACTION_FULL : TRANSACTION_ABORTED, daemon->copies.ends, ends};
}

/* The end of each slot's copies as the sink knows it: -1, nobody said. */
static void take_ends(struct daemon *daemon, const struct sink_transaction_result *result)
{
    for (size_t i = 0; i < daemon->copies.end_count; i++) {
        struct copied_end *end = &daemon->copies.ends[i];
        const struct partition *partition = partitions_at(&daemon->partitions, end->slot);
        for (size_t c = 0; c < result->copied_count && partition != NULL && partition->epoch == end->epoch; c++) {
            const struct sink_copied *copied = &result->copied[c];
            if (copied->partition == partition->number && strcmp(copied->topic, partition->topic) == 0) {
                end->end = copied->end;
            }
        }
    }
}

/* Copies are there and nobody said where: below the high watermark of now. What was lost meanwhile the core does not need. False: no answer. */
static bool ask_end(struct daemon *daemon, struct copied_end *end, struct error *error)
{
    const struct partition *partition = partitions_at(&daemon->partitions, end->slot);
    if (partition == NULL || partition->epoch != end->epoch) {
        end->end = 0;
        return true;
    }
    return source_high(daemon->source, partition->topic, partition->number, END_ASK_MS, &end->end, error);
}

static void find_ends(struct daemon *daemon)
{
    struct error error = {0};
    bool known = daemon->now.mono.ms >= daemon->end_at_ms;
    for (size_t i = 0; i < daemon->copies.end_count && known; i++) {
        struct copied_end *end = &daemon->copies.ends[i];
        known = end->end >= 0 || ask_end(daemon, end, &error);
    }
    if (known) {
        hand_over(daemon, &daemon->result);
    } else if (daemon->now.mono.ms >= daemon->end_at_ms) {
        log_write(LOG_LEVEL_WARNING, "transaction_end_unknown", NULL, 0,
                  "copies were written and the broker did not say where: %s; nothing leaves until that is known, it is asked again", error.text);
        daemon->end_at_ms = daemon->now.mono.ms + END_ASK_MS + END_AGAIN_MS; /* `now` is of before the question */
    }
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
        find_ends(daemon);
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
    if (!result.committed) {
        hand_over(daemon, &result);
        return;
    }
    take_ends(daemon, &result);
    daemon->result = result;
    daemon->end_at_ms = daemon->now.mono.ms;
    find_ends(daemon);
}
