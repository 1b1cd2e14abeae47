/* See ids_example.h. The part of the shell is played here: it delivers, asks core_decide, writes what is written again and reads it back. */
#include "tests/support/ids_example.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/recurrence.h"
#include "tests/support/core_case.h"

#define RECORDS_MAX 16
#define EVENTS_MAX 256
#define GAP 1000 /* offsets from one record of the log to the next: what is written again stands between */
#define DECIDES 1 /* the lane */
#define DAY_MS INT64_C(86400000)

enum example_action {
    EXAMPLE_EVENT,
    EXAMPLE_CONDITIONAL,
    EXAMPLE_CANCEL,
};

struct example_record {
    int64_t at_ms; /* of the day */
    struct record_id id;
    enum example_action action;
    int64_t due_ms; /* of the day */
    int64_t every_ms;
    uint64_t count;
};

/* What stands at an offset: a record of the log, or one that was written again. */
struct example_event {
    int64_t offset;
    int number; /* of the record that a person wrote */
    int64_t due_ms;
    uint64_t runs;
    bool decided;
    bool read;
};

struct example_ack {
    int64_t at_ms;
    uint64_t sequence;
    int64_t offset;
};

struct example {
    struct page_block *block;
    struct core_case *test;
    struct example_record records[RECORDS_MAX];
    int record_count;
    int next_record;
    struct example_event events[EVENTS_MAX];
    int event_count;
    struct example_ack acks[EVENTS_MAX]; /* under way, in order */
    int ack_first;
    int ack_end;
    int64_t last_offset;
    int64_t written_end; /* of the transaction that is ending */
    int64_t dedupe_ms;
    int64_t down_ms;
    int64_t ack_ms;
    bool fails;
    int64_t until_ms;
    int64_t killed_ms; /* INT64_MAX: never */
    int64_t back_ms;
    struct partition_frontier committed; /* the last one */
};

/* ------------------------------------------------------------------------------------------------- the log */

/* Of "12:00:00". */
static int64_t read_time(const struct page_block *block, const char *text)
{
    char moment[256];
    (void)snprintf(moment, sizeof(moment), "2027-01-15T%sZ", text == NULL ? "" : text);
    return page_block_moment(block, moment) - page_block_moment(block, "2027-01-15T00:00:00Z");
}

static const char *show_time(int64_t ms, char text[24])
{
    (void)snprintf(text, 24, "%02d:%02d:%02d", (int)(ms / 3600000), (int)(ms / 60000 % 60), (int)(ms / 1000 % 60));
    return text;
}

static struct record_id hash(const char *id)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (; *id != '\0'; id++) {
        sum = (sum ^ (unsigned char)*id) * UINT64_C(1099511628211);
    }
    return CORE_CASE_ID(sum);
}

static void read_word(const struct example *example, struct example_record *record, const char *word, char **rest)
{
    if (strcmp(word, "cancel") == 0) {
        record->action = EXAMPLE_CANCEL;
    } else if (strcmp(word, "reject") == 0) {
        record->action = EXAMPLE_CONDITIONAL;
    } else if (strcmp(word, "due") == 0) {
        record->due_ms = read_time(example->block, strtok_r(NULL, " ", rest));
    } else if (strcmp(word, "every") == 0) {
        record->every_ms = page_block_span(example->block, strtok_r(NULL, " ", rest));
    } else if (strcmp(word, "count") == 0) {
        record->count = page_block_number(example->block, strtok_r(NULL, " ", rest));
    } else {
        page_block_fail(example->block, "not understood: %s", word);
    }
}

static void read_record(struct example *example, const char *line)
{
    char copy[PAGE_BLOCK_LINE];
    char *rest = copy;
    (void)snprintf(copy, sizeof(copy), "%s", line);
    uint64_t number = page_block_number(example->block, strtok_r(copy, " ", &rest));
    if (number != (uint64_t)example->record_count || number == RECORDS_MAX) {
        page_block_fail(example->block, "records are numbered from 0 on: %s", line);
    }
    struct example_record *record = &example->records[example->record_count++];
    *record = (struct example_record){.at_ms = read_time(example->block, strtok_r(NULL, " ", &rest)), .due_ms = -1};
    const char *id = strtok_r(NULL, " ", &rest);
    record->id = hash(id == NULL ? "" : id);
    for (const char *word = strtok_r(NULL, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        read_word(example, record, word, &rest);
    }
    record->due_ms = record->due_ms < 0 ? record->at_ms + record->every_ms : record->due_ms;
}

/* "09:10:03 to 09:10:20" */
static void read_killed(struct example *example, const char *value)
{
    char copy[PAGE_BLOCK_LINE];
    if (value != NULL) {
        (void)snprintf(copy, sizeof(copy), "%s", value);
        char *to = strstr(copy, " to ");
        example->back_ms = read_time(example->block, to == NULL ? NULL : to + 4);
        copy[strcspn(copy, " ")] = '\0';
        example->killed_ms = read_time(example->block, copy);
    }
}

static void read_log(struct example *example, struct page_block *block)
{
    const char *value;
    *example = (struct example){.block = block, .last_offset = -1, .killed_ms = INT64_MAX};
    example->committed = (struct partition_frontier){.anchor.offset = -1, .shared.point = KEY_LEAST};
    read_killed(example, page_block_value(block, "killed: "));
    example->dedupe_ms = (value = page_block_value(block, "dedupe: ")) == NULL ? 0 : page_block_span(block, value);
    example->down_ms = (value = page_block_value(block, "down until: ")) == NULL ? 0 : read_time(block, value);
    example->ack_ms = (value = page_block_value(block, "acknowledged after: ")) == NULL ? 0 : page_block_span(block, value);
    example->fails = (value = page_block_value(block, "fails after: ")) != NULL;
    example->ack_ms = example->fails ? page_block_span(block, value) : example->ack_ms;
    example->until_ms = (value = page_block_value(block, "until: ")) == NULL ? DAY_MS - 1 : read_time(block, value);
    for (int i = 0; i < block->given_count; i++) {
        if (block->given[i][0] >= '0' && block->given[i][0] <= '9') {
            read_record(example, block->given[i]);
        }
    }
    page_block_only(block, "dedupe: ", "down until: ", "acknowledged after: ", "fails after: ", "until: ", "killed: ", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", NULL);
}

/* ------------------------------------------------------------------------------------------------- reading */

static struct example_event *find_event(struct example *example, int64_t offset)
{
    for (int i = 0; i < example->event_count; i++) {
        if (example->events[i].offset == offset) {
            return &example->events[i];
        }
    }
    page_block_fail(example->block, "offset %" PRId64 " was never written", offset);
}

static struct example_event *add_event(struct example *example, int64_t offset, int number, int64_t due_ms)
{
    if (example->event_count == EVENTS_MAX) {
        page_block_fail(example->block, "more than %d events: give it an end", EVENTS_MAX);
    }
    struct example_event *event = &example->events[example->event_count++];
    *event = (struct example_event){.offset = offset, .number = number, .due_ms = due_ms};
    example->last_offset = offset;
    return event;
}

static void give_times(const struct example *example, int64_t at_ms, int64_t due_ms)
{
    struct input_record *input = &example->test->inputs[example->test->input_count - 1].as.record;
    input->timestamp_ms = CORE_CASE_WALL + at_ms;
    input->dedupe_ms = example->dedupe_ms;
    input->dedupe_due_ms = CORE_CASE_WALL + due_ms;
}

static bool is_own(const struct example_event *event)
{
    return event->offset == (int64_t)event->number * GAP;
}

/* What a person wrote. */
static void read_own(const struct example *example, const struct example_event *event)
{
    const struct example_record *record = &example->records[event->number];
    if (record->action == EXAMPLE_CANCEL) {
        core_case_cancel(example->test, event->offset, record->id);
    } else if (record->action == EXAMPLE_CONDITIONAL) {
        core_case_conditional(example->test, event->offset, DECIDES, record->id, -1);
    } else {
        core_case_event(example->test, event->offset, record->due_ms, 0, record->id);
    }
    give_times(example, record->at_ms, record->due_ms);
}

/* What was written again. */
static void read_again(const struct example *example, const struct example_event *event)
{
    const struct example_record *record = &example->records[event->number];
    core_case_again(example->test, event->offset, event->due_ms, 0, record->id, (int64_t)event->number * GAP);
    give_times(example, example->test->wall_ms, event->due_ms);
    if (record->every_ms > 0) {
        example->test->inputs[example->test->input_count - 1].as.record.dedupe_ms = example->dedupe_ms > 0 ? -1 : 0;
    }
}

/* All that stands in the topic and is not read; false: nothing. */
static bool read_all(struct example *example)
{
    bool any = false;
    for (int i = 0; i < example->event_count; i++) {
        struct example_event *event = &example->events[i];
        if (!event->read) {
            event->read = true;
            any = true;
            (is_own(event) ? read_own : read_again)(example, event);
        }
    }
    return any;
}

/* -------------------------------------------------------------------------------------------- carrying out */

static struct recurrence_step look_ahead(const struct example *example, const struct example_event *event)
{
    const struct example_record *record = &example->records[event->number];
    struct recurrence_step step;
    struct recurrence recurrence = {
        .kind = record->every_ms > 0 ? RECURRENCE_EVERY : RECURRENCE_NONE, .every_ms = record->every_ms, .until_ms = -1, .count = record->count, .runs = event->runs};
    recurrence_step(&recurrence, recurrence_misfire_default, CORE_CASE_WALL + event->due_ms, CORE_CASE_WALL + example->test->wall_ms, &step);
    return step;
}

static bool is_undecided(const struct example *example, const struct example_event *event)
{
    return example->records[event->number].action == EXAMPLE_CONDITIONAL && is_own(event);
}

static enum decision decide(const struct example *example, const struct example_event *event)
{
    return core_case_decide(example->test, example->records[event->number].id, event->offset);
}

static void deliver(struct example *example, const struct command_deliver *command)
{
    char text[24];
    struct example_event *event = find_event(example, command->key.offset);
    if (is_undecided(example, event) && decide(example, event) == DECISION_ACCEPT) {
        core_case_goes_on(example->test, command->lane, command->sequence, COPY_DECIDED);
    } else if (is_undecided(example, event)) {
        core_case_delivered(example->test, command->lane, command->sequence);
    } else {
        page_block_found(example->block, "%d %s %s", event->number, example->fails ? "is tried" : "fires", show_time(example->test->wall_ms, text));
        example->acks[example->ack_end++ % EVENTS_MAX] = (struct example_ack){example->test->wall_ms + example->ack_ms, command->sequence, event->offset};
    }
}

static void acknowledge(struct example *example)
{
    const struct example_ack *ack = &example->acks[example->ack_first++ % EVENTS_MAX];
    if (example->fails) {
        core_case_failed(example->test, 0, ack->sequence, DELIVERY_RETRIABLE);
    } else if (look_ahead(example, find_event(example, ack->offset)).finished) {
        core_case_delivered(example->test, 0, ack->sequence);
    } else {
        core_case_goes_on(example->test, 0, ack->sequence, COPY_NEXT);
    }
}

static void copy(struct example *example, const struct command_copy *command)
{
    struct example_event was = *find_event(example, command->key.offset);
    struct recurrence_step step = look_ahead(example, &was);
    if (command->why == COPY_DECIDED && decide(example, &was) != DECISION_ACCEPT) {
        return;
    }
    struct example_event *event = add_event(example, example->last_offset + 1, was.number, was.due_ms);
    if (command->why == COPY_NEXT) {
        event->due_ms = step.next_due_ms - CORE_CASE_WALL;
        event->runs = step.next_runs;
    }
    example->written_end = event->offset + 1;
    core_case_reappended_of(example->test, example->records[was.number].id, was.offset, (int64_t)was.number * GAP);
}

static void tell(struct example *example, const struct command_outcome *told)
{
    int event = told->event_offset < 0 ? -1 : find_event(example, told->event_offset)->number;
    int control = told->control_offset < 0 ? -1 : find_event(example, told->control_offset)->number;
    switch (told->outcome) {
    case OUTCOME_CANCELLED:
        page_block_found(example->block, "%d is cancelled by %d", event, control);
        break;
    case OUTCOME_REPLACED:
        page_block_found(example->block, "%d is replaced by %d", event, control);
        break;
    case OUTCOME_TOO_LATE:
        page_block_found(example->block, "%d is too late for %d", control, event);
        break;
    case OUTCOME_NOT_FOUND:
        page_block_found(example->block, "%d finds nothing", control);
        break;
    case OUTCOME_DUPLICATE:
        page_block_found(example->block, "%d is a duplicate", event);
        break;
    case OUTCOME_REJECTED:
        page_block_found(example->block, "%d is rejected", event);
        break;
    case OUTCOME_DROPPED:
        page_block_found(example->block, "%d is dropped for %d", event, control);
        break;
    case OUTCOME_SKIPPED:
        page_block_found(example->block, "%d does not come again", event);
        break;
    case OUTCOME_COUNT:
        break;
    }
}

static void carry_out_one(struct example *example, const struct command *command)
{
    if (command->kind == COMMAND_DELIVER) {
        deliver(example, &command->as.deliver);
    } else if (command->kind == COMMAND_COPY) {
        copy(example, &command->as.copy);
    } else if (command->kind == COMMAND_TRANSACTION) {
        example->committed = *command->as.transaction.slots[0].frontier;
        core_case_transacted(example->test, TRANSACTION_COMMITTED, example->written_end);
        example->written_end = 0;
    } else if (command->kind == COMMAND_COMMIT) {
        example->committed = *command->as.frontier;
    } else if (command->kind == COMMAND_OUTCOME) {
        tell(example, &command->as.outcome);
    } /* the rest: core_case_settle_once answers */
}

/* Until nothing is asked any more. */
static void carry_out(struct example *example)
{
    bool asked = true;
    while (asked) {
        for (size_t i = 0; i < example->test->commands.count; i++) {
            carry_out_one(example, &example->test->commands.items[i]);
        }
        asked = core_case_settle_once(example->test);
        if (!asked && read_all(example)) {
            core_case_step(example->test);
            asked = true;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- a day */

static int64_t reading_ms(const struct example *example, int number)
{
    int64_t at_ms = example->records[number].at_ms;
    return at_ms < example->down_ms ? example->down_ms : at_ms;
}

/* Of a process that knows what is committed, and has no disk. */
static void begin(struct example *example, int64_t wall_ms, int64_t end)
{
    void *state;
    (void)core_case_setup(&state);
    example->test = state;
    example->test->wall_ms = wall_ms;
    example->test->mono_ms += wall_ms;
    example->test->deciding = DECIDES;
    example->test->gained.high = end;
    example->test->gained.frontier = example->committed;
    example->test->gained.position = example->committed.low_offset;
    core_case_begin(example->test, 2, end);
}

static void begin_day(struct example *example)
{
    int64_t end = 0;
    for (int i = 0; i < example->record_count && example->records[i].at_ms < example->down_ms; i++) {
        end = (int64_t)i * GAP + 1;
    }
    begin(example, reading_ms(example, 0), end);
}

/* Nothing of what was under way is known any more. */
static void begin_again(struct example *example)
{
    void *state = example->test;
    (void)core_case_teardown(&state);
    example->killed_ms = INT64_MAX;
    example->ack_first = example->ack_end;
    for (int i = 0; i < example->event_count; i++) {
        example->events[i].read = example->events[i].offset < example->committed.low_offset;
    }
    begin(example, example->back_ms, example->last_offset + 1);
}

/* What people and the target do next, and when; the day's end: nothing. */
static int64_t next_ms(const struct example *example)
{
    int64_t record_ms = example->next_record < example->record_count ? reading_ms(example, example->next_record) : INT64_MAX;
    int64_t ack_ms = example->ack_first < example->ack_end ? example->acks[example->ack_first % EVENTS_MAX].at_ms : INT64_MAX;
    int64_t next = record_ms < ack_ms ? record_ms : ack_ms;
    next = next < example->killed_ms ? next : example->killed_ms;
    return next < example->until_ms ? next : example->until_ms;
}

static void run_day(struct example *example)
{
    for (carry_out(example); example->test->wall_ms < example->until_ms; carry_out(example)) {
        int64_t next = next_ms(example);
        if (next > example->test->wall_ms && core_case_sleep(example->test, next - 1)) {
            continue;
        }
        if (next == example->killed_ms) {
            begin_again(example);
            continue;
        }
        for (int i = example->next_record; i < example->record_count && reading_ms(example, i) == next; i++) {
            (void)add_event(example, (int64_t)i * GAP, i, example->records[i].due_ms);
            example->next_record++;
        }
        (void)read_all(example);
        while (example->ack_first < example->ack_end && example->acks[example->ack_first % EVENTS_MAX].at_ms == next) {
            acknowledge(example);
        }
        core_case_wait(example->test, next - example->test->wall_ms);
    }
}

void ids_example_check(struct page_block *block)
{
    static struct example example;
    read_log(&example, block);
    if (example.record_count == 0) {
        page_block_fail(block, "has no record");
    }
    begin_day(&example);
    run_day(&example);
    void *state = example.test;
    (void)core_case_teardown(&state);
}
