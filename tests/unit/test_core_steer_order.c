/*
 * Steering among everything else: one event is moved, and something comes in between at each moment there is. A small log, a broker that ends the
 * transaction when it is told to, and a store; whatever happens, the event leaves once, when it should, and whoever asks is answered once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define A CORE_CASE_ID(1)
#define DUE 1000     /* of the event */
#define LATER 5000   /* where it is moved */
#define OTHER 7000   /* of what replaces it */
#define THIRD 9000   /* where a second one moves it */
#define END 20000
#define LOG_MAX 32
#define TOKENS 3

enum kind {
    EVENT,
    COPY, /* a re-append of the event */
    CANCEL,
    REPLACEMENT,
    HOLE, /* a marker, or a record of a transaction that was aborted */
};

struct entry {
    enum kind kind;
    int64_t due_ms;
    int64_t root; /* of a copy */
    bool open;    /* its transaction has not ended, as far as the partition knows */
};

/* What comes in between. */
enum intruder {
    NOTHING,
    CANCEL_BEFORE, /* stands in the log before the re-append */
    CANCEL_AFTER,
    REPLACEMENT_BEFORE,
    REPLACEMENT_AFTER,
    STEERED_AGAIN,
    COMES_DUE,
    TAKEOVER,      /* the slot is lost, and gained again with what the store has then */
    LATE_TAKEOVER, /* the same, and the marker reaches the partition after the event is due */
    LEAVES,
    STOPS,
    COPIED, /* forward: near retention */
    INTRUDERS,
};

/* When. */
enum moment {
    BEFORE,      /* in the same step, before it is asked for */
    ASKED,       /* in the same step, after */
    SENT,        /* the transaction is ending */
    READ_FIRST,  /* it has ended, and its re-append is read before that is known */
    KNOWN,       /* it is known, and its re-append is not read */
    READ_BACK,
    MOMENTS,
};

/* What becomes of the transaction. */
enum fate {
    COMMITS,
    ABORTS_ONCE,
    ABORTS_THRICE,
    FATES,
};

struct play {
    struct core_case *test;
    enum intruder intruder;
    enum moment moment;
    enum fate fate;
    bool exactly_once;
    bool stored;  /* the event is written before anything happens */
    bool written; /* a checkpoint is written before each moment */
    struct entry log[LOG_MAX];
    int64_t log_end;
    int64_t next; /* to be read */
    bool held;    /* a transaction with copies is ending: the play says when it ends */
    bool decided; /* at the broker, which the core does not know */
    bool commits;
    int64_t copy_end;
    bool deaf;    /* the partition does not know of its end for now */
    uint32_t aborted;
    bool acted;   /* the intruder has */
    bool gone;    /* the slot left, or all has stopped: the next owner plays on */
    uint32_t answers[TOKENS];
    enum steer_result results[TOKENS];
    int64_t fired[LOG_MAX];
    uint32_t fired_count;
    int64_t first_fire_ms;
    int64_t control_read_ms; /* -1: none was */
    uint64_t taken_step;     /* whose commands were looked at */
    struct partition_frontier sent;  /* in the transaction under way, or the commit */
    struct partition_frontier group; /* as the group has it */
    int64_t stored_position;
    struct mark marks[LOG_MAX];
    size_t mark_count;
    struct skip skips[LOG_MAX];
    size_t skip_count;
};

static int64_t append(struct play *play, struct entry entry)
{
    assert_in_range(play->log_end, 0, LOG_MAX - 1);
    play->log[play->log_end] = entry;
    return play->log_end++;
}

static int64_t stable(const struct play *play)
{
    int64_t offset = 0;
    while (offset < play->log_end && !play->log[offset].open) {
        offset++;
    }
    return offset;
}

/* Hands over what readers may see, up to so many records. */
static void read(struct play *play)
{
    struct core_case *test = play->test;
    for (; play->next < stable(play); play->next++) {
        const struct entry *entry = &play->log[play->next];
        bool control = entry->kind == CANCEL || entry->kind == REPLACEMENT;
        if (entry->kind == CANCEL) {
            core_case_cancel(test, play->next, A);
        } else if (entry->kind != HOLE) {
            core_case_again(test, play->next, entry->due_ms, 0, A, entry->kind == COPY ? entry->root : -1);
        }
        play->control_read_ms = control && play->control_read_ms < 0 ? test->wall_ms : play->control_read_ms;
    }
    core_case_position(test, play->next);
}

static void steer(struct play *play, uint64_t token, int64_t due_ms)
{
    struct core_case *test = play->test;
    struct input_steer *input = &core_case_input(test, INPUT_STEER)->as.steer;
    *input = (struct input_steer){.token = token, .verb = STEER_MOVE, .due_ms = CORE_CASE_WALL + due_ms, .id = A, .found = {.offset = -1}};
    for (size_t i = 0; i < test->row_count; i++) {
        const struct core_case_row *row = &test->rows[i];
        input->found = (struct stored_event){row->offset, row->due_ms, row->root, CORE_CASE_ROW_BYTES, row->bucket.lane};
    }
}

/* ------------------------------------------------------------------------------------------- what the core says */

static void take_command(struct play *play, const struct command *command)
{
    if (command->kind == COMMAND_STEERED) {
        play->answers[command->as.steered.token]++;
        play->results[command->as.steered.token] = command->as.steered.result;
    } else if (command->kind == COMMAND_COPY) {
        int64_t offset = command->as.copy.key.offset;
        const struct entry *from = &play->log[offset];
        assert_int_equal(from->due_ms + CORE_CASE_WALL, command->as.copy.key.due_ms);
        (void)append(play, (struct entry){COPY, command->as.copy.due_ms - CORE_CASE_WALL, from->kind == COPY ? from->root : offset, true});
        play->copy_end = play->log_end;
        play->held = true;
    } else if (command->kind == COMMAND_COMMIT) {
        play->group = *command->as.frontier;
    } else if (command->kind == COMMAND_TRANSACTION && command->as.transaction.slot_count > 0) {
        play->sent = *command->as.transaction.slots[0].frontier;
    } else if (command->kind == COMMAND_DELIVER) {
        const struct entry *entry = &play->log[command->as.deliver.key.offset];
        assert_true(entry->due_ms <= play->test->wall_ms);
        play->first_fire_ms = play->fired_count == 0 ? play->test->wall_ms : play->first_fire_ms;
        play->fired[play->fired_count++] = command->as.deliver.key.offset;
    } else if (command->kind == COMMAND_SLOT_LEFT || command->kind == COMMAND_STOPPED) {
        play->gone = true;
    }
}

static void note_plan(struct play *play)
{
    const struct checkpoint_slot *part = core_case_plan(play->test);
    play->stored_position = part->position;
    play->mark_count = part->mark_count;
    play->skip_count = part->skip_count;
    for (size_t i = 0; i < part->mark_count; i++) {
        play->marks[i] = part->marks[i];
    }
    for (size_t i = 0; i < part->skip_count; i++) {
        play->skips[i] = part->skips[i];
    }
}

/* Everything is answered at once, but for the transaction of which the play has the say. */
static void settle(struct play *play)
{
    struct core_case *test = play->test;
    bool more = true;
    while (more) {
        bool new_step = play->taken_step != test->steps;
        for (size_t i = 0; new_step && i < test->commands.count; i++) {
            take_command(play, &test->commands.items[i]);
        }
        play->taken_step = test->steps;
        if (new_step) {
            core_case_deliver_all(test);
        }
        if (test->transaction != 0 && !play->held) {
            core_case_transacted(test, TRANSACTION_COMMITTED, 0);
            play->group = play->sent.lane_count > 0 || play->sent.committed_offset > 0 ? play->sent : play->group;
        }
        if (test->plan != NULL) {
            note_plan(play);
        }
        more = core_case_settle_once(test);
    }
}

/* Once more after the last answers: what was put in is stepped. */
static void step(struct play *play)
{
    core_case_step(play->test);
    settle(play);
}

/* The broker ends it. */
static void decide(struct play *play)
{
    static const uint32_t aborts[] = {[COMMITS] = 0, [ABORTS_ONCE] = 1, [ABORTS_THRICE] = 3};
    if (!play->held || play->decided) {
        return;
    }
    bool commits = play->aborted >= aborts[play->fate];
    play->decided = true;
    play->commits = commits;
    play->group = commits ? play->sent : play->group;
    play->aborted += !commits;
    for (int64_t i = 0; i < play->log_end; i++) {
        struct entry *entry = &play->log[i];
        if (entry->open && !commits) {
            *entry = (struct entry){.kind = HOLE, .open = play->deaf};
        }
        entry->open = entry->open && play->deaf;
    }
    (void)append(play, (struct entry){.kind = HOLE});
}

/* The core learns of it. */
static void know(struct play *play)
{
    if (play->held && play->test->transaction != 0) {
        core_case_transacted(play->test, play->commits ? TRANSACTION_COMMITTED : TRANSACTION_ABORTED, play->commits ? play->copy_end : 0);
    }
    play->held = false;
    play->decided = false;
}

/* ---------------------------------------------------------------------------------------------------- a takeover */

static void begin(struct play *play, int64_t catch_up_to)
{
    struct core_case *test = play->test;
    test->touched_count = 0;
    test->known_count = 0;
    core_case_begin(test, 1, catch_up_to);
}

/* The next owner has the same disk. What the partition does not know yet it does when the event is due. */
static void take_over(struct play *play)
{
    struct core_case *test = play->test;
    play->deaf = play->intruder == LATE_TAKEOVER && play->held;
    decide(play);
    play->held = false;
    play->decided = false;
    (void)core_case_input(test, INPUT_SLOT_LOST);
    core_case_step(test);
    settle(play);
    core_free(test->core);
    test->core = NULL;
    test->input_count = 0;
    test->transaction = 0;
    test->plan = NULL;
    test->gained = (struct input_slot_gained){.epoch = 1, .frontier = play->group, .high = play->log_end, .stored_position = play->stored_position,
                                              .marks = play->marks, .mark_count = play->mark_count, .skips = play->skips, .skip_count = play->skip_count};
    int64_t low = play->group.low_offset;
    test->gained.position = low > play->stored_position ? low : play->stored_position;
    play->next = test->gained.position;
    begin(play, stable(play));
    settle(play);
    read(play);
    step(play);
    if (play->deaf) {
        core_case_wait(test, DUE + 500);
        settle(play);
        play->deaf = false;
        for (int64_t i = 0; i < play->log_end; i++) {
            play->log[i].open = false;
        }
        read(play);
        step(play);
    }
}

/* --------------------------------------------------------------------------------------------------- the intruder */

static void act(struct play *play)
{
    struct core_case *test = play->test;
    play->acted = true;
    if (play->intruder == CANCEL_AFTER || play->intruder == REPLACEMENT_AFTER) {
        bool cancel = play->intruder == CANCEL_AFTER;
        (void)append(play, (struct entry){cancel ? CANCEL : REPLACEMENT, OTHER, -1, false});
        read(play);
    } else if (play->intruder == CANCEL_BEFORE || play->intruder == REPLACEMENT_BEFORE) {
        read(play);
    } else if (play->intruder == STEERED_AGAIN) {
        steer(play, 2, THIRD);
    } else if (play->intruder == COMES_DUE) {
        test->wall_ms = DUE + 10;
        test->mono_ms += DUE + 10;
    } else if (play->intruder == LEAVES || play->intruder == STOPS) {
        (void)core_case_input(test, play->intruder == LEAVES ? INPUT_SLOT_LEAVING : INPUT_STOP);
    } else if (play->intruder == COPIED) {
        core_case_input(test, INPUT_RETENTION)->as.retention.offset = play->next;
    }
}

static void arrive(struct play *play, enum moment moment)
{
    bool takeover = play->intruder == TAKEOVER || play->intruder == LATE_TAKEOVER;
    if (play->written && moment > ASKED && !play->gone) {
        core_case_wait(play->test, 100);
        settle(play);
    }
    if (play->moment != moment || play->gone) {
        return;
    }
    if (takeover && moment > ASKED) {
        play->acted = true;
        take_over(play);
    } else if (!takeover) {
        act(play);
    }
}

/* A control that stands in the log before the re-append, and is not read before its moment. */
static void write_ahead(struct play *play)
{
    if (play->intruder == CANCEL_BEFORE || play->intruder == REPLACEMENT_BEFORE) {
        (void)append(play, (struct entry){play->intruder == CANCEL_BEFORE ? CANCEL : REPLACEMENT, OTHER, -1, false});
    }
}

/* All that is left to happen, in a world that works. */
static void finish(struct play *play)
{
    struct core_case *test = play->test;
    for (int i = 0; i < 200; i++) {
        if (play->gone) {
            play->gone = false;
            take_over(play);
        }
        decide(play);
        know(play);
        read(play);
        step(play);
        if (!play->held && !play->gone && !core_case_sleep(test, END)) {
            break;
        }
        settle(play);
    }
    core_case_wait(test, 1000);
    settle(play);
}

static void run(struct play *play)
{
    struct core_case *test = play->test;
    test->options.exactly_once = play->exactly_once;
    test->options.commit_ms = 1;
    begin(play, 0);
    (void)append(play, (struct entry){EVENT, DUE, -1, false});
    read(play);
    step(play);
    if (play->stored) {
        core_case_wait(test, 100);
        settle(play);
        assert_int_equal(test->row_count, 1);
    }
    write_ahead(play);
    arrive(play, BEFORE);
    steer(play, 1, LATER);
    arrive(play, ASKED);
    step(play);
    arrive(play, SENT);
    step(play);
    decide(play);
    if (play->moment == READ_FIRST) {
        read(play);
        step(play);
        arrive(play, READ_FIRST);
        step(play);
    }
    know(play);
    step(play);
    arrive(play, KNOWN);
    step(play);
    read(play);
    step(play);
    arrive(play, READ_BACK);
    step(play);
    if (play->intruder == NOTHING && play->fate == COMMITS) {
        assert_int_equal(core_case_queue(test, 0).pending, 1);
        assert_int_equal(core_case_queue(test, 0).pending_bytes, CORE_CASE_ROW_BYTES);
    }
    finish(play);
}

/* ----------------------------------------------------------------------------------------------------- what must hold */

static bool is_control(const struct entry *entry)
{
    return entry->kind == CANCEL || entry->kind == REPLACEMENT;
}

static uint32_t count_fired(const struct play *play, bool of_event)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < play->fired_count; i++) {
        const struct entry *entry = &play->log[play->fired[i]];
        count += (entry->kind == EVENT || (entry->kind == COPY && entry->root == 0)) == of_event;
    }
    return count;
}

static void check(const struct play *play)
{
    bool cancelled = false;
    bool replaced = false;
    for (int64_t i = 0; i < play->log_end; i++) {
        cancelled = cancelled || (is_control(&play->log[i]) && play->log[i].kind == CANCEL);
        replaced = replaced || play->log[i].kind == REPLACEMENT;
    }
    assert_int_equal(play->answers[1], 1);
    assert_int_equal(play->answers[2], play->intruder == STEERED_AGAIN && play->acted);
    assert_int_equal(count_fired(play, true), !cancelled && !replaced);
    assert_int_equal(count_fired(play, false), replaced);
    if (play->results[1] == STEER_DONE) {
        for (uint32_t i = 0; i < play->fired_count; i++) {
            assert_int_not_equal(play->fired[i], 0);
        }
    }
    if (play->intruder == NOTHING) {
        assert_int_equal(play->results[1], play->fate == ABORTS_THRICE ? STEER_FAILED : STEER_DONE);
        assert_int_equal(play->first_fire_ms, play->fate == ABORTS_THRICE ? DUE : LATER);
    }
    if (play->intruder == CANCEL_BEFORE || play->intruder == REPLACEMENT_BEFORE) {
        bool known = play->moment == KNOWN || play->moment == READ_BACK;
        known = known || (play->moment == BEFORE && replaced); /* then it is the new one that is moved */
        assert_true(play->results[1] == STEER_NOT_FOUND || (known && play->results[1] == STEER_DONE) || play->fate != COMMITS);
    }
    if (play->intruder == COMES_DUE && play->moment > BEFORE && play->fate != ABORTS_THRICE) {
        assert_int_equal(play->results[1], STEER_DONE);
    }
    assert_int_equal(core_case_queue(play->test, 0).pending, 0);
    assert_int_equal(core_case_queue(play->test, 0).pending_bytes, 0);
    assert_int_equal(core_case_slot(play->test).low_offset, play->log_end);
    assert_int_equal(play->test->row_count, 0);
    assert_false(play->group.moving);
}

static struct play now; /* as the one under way began */

static void run_all(bool exactly_once)
{
    for (int number = 0; number < 4 * INTRUDERS * MOMENTS * FATES; number++) {
        void *state = NULL;
        (void)core_case_setup(&state);
        struct play play = {.test = state,
                            .intruder = (enum intruder)(number / FATES / MOMENTS % INTRUDERS),
                            .moment = (enum moment)(number / FATES % MOMENTS),
                            .fate = (enum fate)(number % FATES),
                            .exactly_once = exactly_once,
                            .stored = number / FATES / MOMENTS / INTRUDERS % 2 == 0,
                            .written = number / FATES / MOMENTS / INTRUDERS / 2 == 0,
                            .control_read_ms = -1,
                            .group = {.anchor = {.offset = -1}, .shared = {KEY_LEAST, 0}}};
        now = play;
        run(&play);
        check(&play);
        (void)core_case_teardown(&state);
    }
}

static void test_at_least_once(void **state)
{
    (void)state;
    run_all(false);
}

static void test_exactly_once(void **state)
{
    (void)state;
    run_all(true);
}

/* Which of them it was, when it is one of the core's own checks that fails. */
static int say(void **state)
{
    (void)state;
    print_message("the last one: intruder %d at moment %d, fate %d, stored %d, written %d\n", (int)now.intruder, (int)now.moment, (int)now.fate, now.stored, now.written);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_at_least_once, say),
        cmocka_unit_test_teardown(test_exactly_once, say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
