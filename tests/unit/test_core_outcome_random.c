/* R5, R10 by chance: many schedules, cancels and conditional records, failures and aborts; each cancel is answered once, each conditional record has one end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "tests/support/core_case.h"

#define LOG 400
#define WRITTEN 150 /* by people */
#define OUT 400
#define UNDECIDED 1

enum kind { EVENT, CANCEL, CONDITIONAL, AGAIN };

/* A record of the partition, by its offset, and what became of it. */
struct entry {
    enum kind kind;
    uint64_t id; /* even ones recur */
    int64_t due_ms;
    int64_t root;
    bool hole;     /* of a transaction that was aborted */
    bool unstable; /* of one that is open */
    int answers;   /* of a cancel */
    int ends;      /* of a conditional one: refused, dropped, or accepted */
    int fired;
    bool ended;    /* cancelled or replaced, as was told */
};

struct report {
    lane_index lane;
    uint64_t sequence;
    int64_t offset;
    bool again;
    bool fails;
};

struct chance {
    struct core_case *test;
    struct random random;
    struct entry log[LOG];
    int64_t end;
    int64_t read;
    struct report out[OUT];
    size_t out_count;
    bool poisoned;
    bool over; /* nothing new is written by people, and nothing recurs */
};

static bool happens(struct chance *chance, uint64_t one_in)
{
    return random_below(&chance->random, one_in) == 0;
}

static struct entry *append(struct chance *chance, enum kind kind, uint64_t id, int64_t due_ms, int64_t root)
{
    assert_true(chance->end < LOG);
    chance->log[chance->end] = (struct entry){.kind = kind, .id = id, .due_ms = due_ms, .root = root};
    return &chance->log[chance->end++];
}

static int64_t root_of(const struct chance *chance, int64_t offset)
{
    return chance->log[offset].root >= 0 ? chance->log[offset].root : offset;
}

static void write_again(struct chance *chance, int64_t offset)
{
    uint64_t id = chance->log[offset].id;
    int64_t due_ms = chance->test->wall_ms + (int64_t)random_below(&chance->random, 400);
    append(chance, AGAIN, id, due_ms, root_of(chance, offset))->unstable = true;
    core_case_reappended_of(chance->test, CORE_CASE_ID(id), offset, root_of(chance, offset));
}

/* True: it is written again. */
static bool decide(struct chance *chance, int64_t offset)
{
    return core_case_decide(chance->test, CORE_CASE_ID(chance->log[offset].id), root_of(chance, offset)) == DECISION_ACCEPT;
}

static void deliver(struct chance *chance, const struct command_deliver *deliver)
{
    const struct entry *entry = &chance->log[deliver->key.offset];
    bool recurs = entry->id % 2 == 0 && !chance->over && chance->end < LOG - 60;
    struct report *report = &chance->out[chance->out_count++];
    *report = (struct report){deliver->lane, deliver->sequence, deliver->key.offset, false, deliver->lane != UNDECIDED && happens(chance, 6)};
    report->again = deliver->lane == UNDECIDED ? decide(chance, deliver->key.offset) : recurs && !report->fails;
    if (report->again && chance->test->options.exactly_once) {
        write_again(chance, deliver->key.offset);
        report->again = false;
    }
}

static void copy(struct chance *chance, const struct command_copy *copy)
{
    if (copy->why == COPY_NEXT || decide(chance, copy->key.offset)) {
        write_again(chance, copy->key.offset);
    }
}

static void hear(struct chance *chance, const struct command_outcome *outcome)
{
    bool of_cancel = outcome->control_offset >= 0 && chance->log[outcome->control_offset].kind == CANCEL;
    bool answers = outcome->outcome <= OUTCOME_NOT_FOUND;
    if (answers && of_cancel) {
        assert_true(outcome->by_cancel);
        chance->log[outcome->control_offset].answers++;
    }
    if (outcome->outcome == OUTCOME_CANCELLED || outcome->outcome == OUTCOME_REPLACED) {
        chance->log[outcome->event_offset].ended = true;
    }
    if (outcome->outcome == OUTCOME_REJECTED || outcome->outcome == OUTCOME_DROPPED) {
        assert_int_equal(chance->log[outcome->event_offset].kind, CONDITIONAL);
        chance->log[outcome->event_offset].ends++;
    }
}

static void carry_out(struct chance *chance)
{
    for (size_t i = 0; i < chance->test->commands.count; i++) {
        const struct command *command = &chance->test->commands.items[i];
        if (command->kind == COMMAND_DELIVER) {
            deliver(chance, &command->as.deliver);
        } else if (command->kind == COMMAND_COPY) {
            copy(chance, &command->as.copy);
        } else if (command->kind == COMMAND_OUTCOME) {
            hear(chance, &command->as.outcome);
        } else if (command->kind == COMMAND_TRANSACTION) {
            chance->poisoned = chance->poisoned || command->as.transaction.abort;
        }
    }
}

/* Nothing is read behind what is not known to be there. */
static void read_some(struct chance *chance)
{
    uint64_t most = random_below(&chance->random, 6);
    for (; most > 0 && chance->read < chance->end && !chance->log[chance->read].unstable; most--, chance->read++) {
        const struct entry *entry = &chance->log[chance->read];
        if (entry->hole) {
            core_case_position(chance->test, chance->read + 1);
        } else if (entry->kind == CANCEL) {
            core_case_cancel(chance->test, chance->read, CORE_CASE_ID(entry->id));
        } else if (entry->kind == CONDITIONAL) {
            core_case_conditional(chance->test, chance->read, UNDECIDED, CORE_CASE_ID(entry->id), -1);
        } else {
            core_case_again(chance->test, chance->read, entry->due_ms, 0, CORE_CASE_ID(entry->id), entry->root);
        }
    }
}

static void report(struct chance *chance, size_t place)
{
    struct report report = chance->out[place];
    chance->out[place] = chance->out[--chance->out_count];
    if (report.fails) {
        core_case_failed(chance->test, report.lane, report.sequence, DELIVERY_RETRIABLE);
        chance->poisoned = true;
    } else if (report.again) {
        core_case_goes_on(chance->test, report.lane, report.sequence, report.lane == UNDECIDED ? COPY_DECIDED : COPY_NEXT);
        chance->log[report.offset].fired++;
    } else {
        core_case_delivered(chance->test, report.lane, report.sequence);
        chance->log[report.offset].fired++;
    }
}

static void end_transaction(struct chance *chance)
{
    bool commits = !chance->poisoned && !happens(chance, 4);
    int64_t copied_end = 0;
    for (int64_t i = 0; i < chance->end; i++) {
        struct entry *entry = &chance->log[i];
        if (!entry->unstable) {
            continue;
        }
        entry->unstable = false;
        entry->hole = !commits;
        copied_end = commits ? i + 1 : 0;
        if (commits && chance->log[entry->root].kind == CONDITIONAL) {
            chance->log[entry->root].ends += chance->log[entry->root].ends == 0; /* accepted; its later occurrences are no further ends */
        }
    }
    core_case_transacted(chance->test, commits ? TRANSACTION_COMMITTED : TRANSACTION_ABORTED, copied_end);
    chance->poisoned = false;
}

static void turn(struct chance *chance)
{
    struct core_case *test = chance->test;
    bool ends = test->transaction != 0 && happens(chance, 3);
    while (chance->out_count > 0 && ((ends && test->options.exactly_once) || !happens(chance, 3))) {
        report(chance, random_below(&chance->random, chance->out_count));
    }
    if (ends && happens(chance, 2)) {
        end_transaction(chance);
        read_some(chance);
    } else {
        read_some(chance);
        if (ends) {
            end_transaction(chance);
        }
    }
    test->wall_ms += (int64_t)random_below(&chance->random, 60);
    test->mono_ms += 40;
    if (!core_case_settle_once(test)) {
        core_case_step(test);
    }
    carry_out(chance);
}

static void write_some(struct chance *chance)
{
    uint64_t id = 1 + random_below(&chance->random, 6);
    int64_t due_ms = chance->test->wall_ms + (int64_t)random_below(&chance->random, 300);
    enum kind kinds[] = {EVENT, CANCEL, CANCEL, CONDITIONAL, CONDITIONAL};
    enum kind kind = kinds[random_below(&chance->random, 5)];
    append(chance, kind, id, kind == CONDITIONAL ? DUE_SINCE_EVER : due_ms, -1);
}

static void expect_one_end_of_each(const struct chance *chance)
{
    for (int64_t i = 0; i < chance->end; i++) {
        const struct entry *entry = &chance->log[i];
        bool recurs = entry->id % 2 == 0;
        if (entry->kind == CANCEL && entry->answers != 1) {
            fail_msg("cancel %lld was answered %d times", (long long)i, entry->answers);
        }
        if (entry->kind == CONDITIONAL && entry->ends != 1) {
            fail_msg("conditional record %lld has %d ends", (long long)i, entry->ends);
        }
        if (entry->kind != CONDITIONAL && !recurs && entry->ended && entry->fired > 0 && !chance->test->options.exactly_once) {
            fail_msg("event %lld was ended, and went out", (long long)i);
        }
    }
}

static void live(void **state, bool exactly_once, uint64_t seed)
{
    static struct chance chance;
    struct core_case *test = *state;
    chance = (struct chance){.test = test, .random = random_new(seed)};
    test->options.exactly_once = exactly_once;
    test->options.copy_rows_max = 0;
    test->options.commit_ms = 50;
    test->deciding = UNDECIDED;
    core_case_begin(test, 2, 0);
    for (int written = 0; written < WRITTEN; written += 1) {
        if (chance.end < LOG - 100) {
            write_some(&chance);
        }
        turn(&chance);
        turn(&chance);
    }
    chance.over = true;
    for (int i = 0; i < 4000; i++) {
        turn(&chance);
    }
    assert_int_equal(chance.read, chance.end);
    assert_int_equal(core_case_slot(test).marks, 0);
    expect_one_end_of_each(&chance);
}

static void again(void **state, bool exactly_once)
{
    for (uint64_t seed = 1; seed <= 25; seed++) {
        void *fresh;
        (void)core_case_setup(&fresh);
        live(&fresh, exactly_once, seed);
        (void)core_case_teardown(&fresh);
    }
    (void)state;
}

static void test_at_least_once(void **state)
{
    again(state, false);
}

static void test_exactly_once(void **state)
{
    again(state, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_least_once),
        cmocka_unit_test(test_exactly_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
