#include "cli/dlq_settle_batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/dlq_scan.h"
#include "dlq/mailer.h"
#include "dlq/reader.h"
#include "ops/clock.h"

#define POSTED_MAX ((size_t)64)                   /* letters in memory at once */
#define LETTER_BYTES_MAX ((size_t)64 * 1024 * 1024) /* the greatest payload that a server can be set to take */

/* nats-server before 2.10 reads a stream's blocks anew for each request that removes a run of a subject, which can take longer than one request for each
 * message. Which one it is shows soon. */
#define SLOW_PER_LETTER_US 50
#define SLOW_BASE_US 50000 /* a busy server takes as long for anything */
#define SLOW_TIMES 3
#define SLOW_LETTERS 10000 /* removed singly before it is tried again: it may only have been busy */

enum step { TO_POST, TO_REMOVE, TO_REMOVE_BEFORE, SETTLED };

struct dlq_settle_batch {
    const struct dlq_context *context;
    const struct dlq_filter *filter;
    const struct dlq_scan_bounds *bounds;
    struct mailer *mailer;
    struct dlq_settle_item items[DLQ_SETTLE_BATCH_MAX];
    enum step steps[DLQ_SETTLE_BATCH_MAX];
    size_t count;
    unsigned slow; /* requests for many, one after the other, that took too long */
    size_t singly; /* letters removed singly since */
    struct buffer bytes[POSTED_MAX];
};

struct dlq_settle_batch *dlq_settle_batch_new(const struct dlq_context *context, const struct dlq_filter *filter, const struct dlq_scan_bounds *bounds)
{
    struct dlq_settle_batch *batch = memory_new(1, sizeof *batch);
    batch->filter = filter;
    batch->bounds = bounds;
    batch->context = context;
    batch->mailer = mailer_new(context->link, &context->streams);
    for (size_t i = 0; i < POSTED_MAX; i++) {
        batch->bytes[i] = buffer_new(LETTER_BYTES_MAX);
    }
    return batch;
}

void dlq_settle_batch_free(struct dlq_settle_batch *batch)
{
    for (size_t i = 0; i < POSTED_MAX; i++) {
        buffer_free(&batch->bytes[i]);
    }
    mailer_free(batch->mailer);
    free(batch);
}

struct dlq_settle_item *dlq_settle_batch_items(struct dlq_settle_batch *batch)
{
    return batch->items;
}

void dlq_settle_batch_begin(struct dlq_settle_batch *batch, size_t count)
{
    batch->count = count;
    for (size_t i = 0; i < count; i++) {
        enum dlq_settle_way way = batch->items[i].way;
        batch->steps[i] = way == DLQ_SETTLE_REMOVE ? TO_REMOVE : way == DLQ_SETTLE_REMOVE_BEFORE ? TO_REMOVE_BEFORE : TO_POST;
    }
}

/* The first failure counts. */
static void note(struct error *error, const struct error *own)
{
    if (error->code == ERROR_NONE) {
        *error = *own;
    }
}

/* ------------------------------------------------------------------------------------------------------ removing */

static void count_settled(const struct dlq_settle_item *item, struct dlq_settle_counts *counts, struct dlq_apart *apart)
{
    counts->removed += item->way == DLQ_SETTLE_REMOVE ? 1 : item->way == DLQ_SETTLE_REMOVE_BEFORE ? item->letters : 0;
    counts->parked += item->way == DLQ_SETTLE_PARK;
    counts->replaced += item->way == DLQ_SETTLE_REPLACE;
    if (item->apart && item->way == DLQ_SETTLE_REMOVE) {
        dlq_apart_add(apart, item->id);
    }
}

static struct reader_stream stream_of(const struct dlq_settle_batch *batch, enum letter_state state)
{
    return (struct reader_stream){dlq_context_stream(batch->context, state), batch->bounds->of[state].created_ms};
}

static void remove_from(struct dlq_settle_batch *batch, enum letter_state state, struct dlq_settle_counts *counts, struct dlq_apart *apart, struct error *error)
{
    uint64_t sequences[DLQ_SETTLE_BATCH_MAX];
    size_t which[DLQ_SETTLE_BATCH_MAX];
    bool gone[DLQ_SETTLE_BATCH_MAX] = {false};
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->steps[i] == TO_REMOVE && batch->items[i].state == state) {
            sequences[count] = batch->items[i].sequence;
            which[count++] = i;
        }
    }
    struct error own = {ERROR_NONE, ""};
    const struct reader_stream stream = stream_of(batch, state);
    if (count > 0 && !reader_remove(batch->context->link, &stream, sequences, count, DLQ_CONTEXT_TIMEOUT_MS, gone, &own)) {
        note(error, &own);
    }
    for (size_t i = 0; i < count; i++) {
        if (gone[i]) {
            batch->steps[which[i]] = SETTLED;
            count_settled(&batch->items[which[i]], counts, apart);
        }
    }
    batch->singly += count;
    if (batch->slow == SLOW_TIMES && batch->singly >= SLOW_LETTERS) {
        batch->slow = SLOW_TIMES - 1;
    }
}

/* The greatest of them stands for all. */
static void remove_before(struct dlq_settle_batch *batch, enum letter_state state, struct dlq_settle_counts *counts, struct dlq_apart *apart, struct error *error)
{
    uint64_t before = 0;
    char subject[SUBJECT_SIZE];
    struct error own = {ERROR_NONE, ""};
    for (size_t i = 0; i < batch->count; i++) {
        bool counted = batch->steps[i] == TO_REMOVE_BEFORE && batch->items[i].state == state;
        before = counted && batch->items[i].sequence > before ? batch->items[i].sequence : before;
    }
    if (before == 0) {
        return;
    }
    uint64_t start_us = clock_mono_us();
    uint64_t letters = counts->removed;
    dlq_scan_subject(batch->context, batch->filter, state, subject);
    const struct reader_stream stream = stream_of(batch, state);
    if (!reader_remove_before(batch->context->link, &stream, subject, before, DLQ_CONTEXT_TIMEOUT_MS, &own)) {
        note(error, &own);
        return;
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->steps[i] == TO_REMOVE_BEFORE && batch->items[i].state == state) {
            batch->steps[i] = SETTLED;
            count_settled(&batch->items[i], counts, apart);
        }
    }
    letters = counts->removed - letters;
    bool slow = clock_mono_us() - start_us > SLOW_BASE_US + letters * SLOW_PER_LETTER_US;
    batch->slow = !slow ? 0 : batch->slow < SLOW_TIMES ? batch->slow + 1 : SLOW_TIMES;
    batch->singly = 0;
}

bool dlq_settle_batch_prefers_single(const struct dlq_settle_batch *batch)
{
    return batch->slow >= SLOW_TIMES;
}

/* ------------------------------------------------------------------------------------------------------- posting */

/* The letter that takes this one's place. False: there is none (counted), or it could not be read now. */
static bool make(struct dlq_settle_batch *batch, size_t index, struct buffer *bytes, struct letter *letter, struct dlq_settle_counts *counts, struct error *error)
{
    const struct dlq_settle_item *item = &batch->items[index];
    struct error own = {ERROR_NONE, ""};
    const char *stream = dlq_context_stream(batch->context, item->state);
    if (!reader_get(batch->context->link, stream, item->sequence, DLQ_CONTEXT_TIMEOUT_MS, bytes, &own)) {
        bool gone = own.code == ERROR_NOT_FOUND;
        counts->gone += gone;
        batch->steps[index] = gone ? SETTLED : TO_POST;
        if (!gone) {
            note(error, &own);
        }
        return false;
    }
    if (!letter_decode(buffer_span(bytes), letter, &own)) {
        batch->steps[index] = SETTLED;
        counts->refused += 1;
        (void)error_prefix(&own, "letter %s stays where it is", item->id);
        note(error, &own);
        return false;
    }
    return true;
}

static void renew(struct letter *letter, const struct dlq_settle_item *item, char room[LETTER_ERROR_MAX])
{
    letter->replays += letter->replays < UINT32_MAX;
    letter->attempt = 1;
    letter->last_failure_ms = clock_wall().ms;
    letter_set_error(letter, span_of_text(item->error), room);
}

static void take_result(struct dlq_settle_batch *batch, size_t index, const struct mailer_item *posted, struct dlq_settle_counts *counts, struct error *error)
{
    struct error own;
    switch (posted->result) {
    case MAILER_KEPT:
        batch->steps[index] = TO_REMOVE;
        break;
    case MAILER_REFUSED:
        batch->steps[index] = SETTLED;
        counts->refused += 1;
        (void)error_set(&own, ERROR_INVALID, "letter %s stays where it is: %s", batch->items[index].id, posted->error);
        note(error, &own);
        break;
    case MAILER_FULL:
    case MAILER_UNAVAILABLE:
        (void)error_set(&own, posted->result == MAILER_FULL ? ERROR_FULL : ERROR_UNAVAILABLE, "%s", posted->error);
        note(error, &own);
        break;
    }
}

/* The next POSTED_MAX at most that are to be posted, from *next on. */
static void post_some(struct dlq_settle_batch *batch, size_t *next, struct dlq_settle_counts *counts, struct error *error)
{
    struct letter letters[POSTED_MAX];
    struct mailer_item posted[POSTED_MAX];
    size_t which[POSTED_MAX];
    char errors[POSTED_MAX][LETTER_ERROR_MAX];
    size_t count = 0;
    for (; *next < batch->count && count < POSTED_MAX; *next += 1) {
        const struct dlq_settle_item *item = &batch->items[*next];
        if (batch->steps[*next] != TO_POST || !make(batch, *next, &batch->bytes[count], &letters[count], counts, error)) {
            continue;
        }
        if (item->way == DLQ_SETTLE_REPLACE) {
            renew(&letters[count], item, errors[count]);
        }
        posted[count] = (struct mailer_item){.letter = &letters[count], .state = LETTER_PARKED};
        which[count++] = *next;
    }
    if (count > 0) {
        mailer_post(batch->mailer, posted, count, DLQ_CONTEXT_TIMEOUT_MS);
    }
    for (size_t i = 0; i < count; i++) {
        take_result(batch, which[i], &posted[i], counts, error);
    }
}

bool dlq_settle_batch_turn(struct dlq_settle_batch *batch, struct dlq_settle_counts *counts, struct dlq_apart *apart, struct error *error)
{
    for (size_t next = 0; next < batch->count;) {
        post_some(batch, &next, counts, error);
    }
    for (int state = LETTER_WAITING; state <= LETTER_PARKED; state++) {
        remove_from(batch, (enum letter_state)state, counts, apart, error);
        remove_before(batch, (enum letter_state)state, counts, apart, error);
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->steps[i] != SETTLED) {
            return false;
        }
    }
    return true;
}
