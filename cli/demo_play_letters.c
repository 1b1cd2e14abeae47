/* The second act: what happens to a record that cannot be delivered, until a person has mended the cause. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/demo_failure.h"
#include "cli/demo_play_state.h"
#include "ops/clock.h"

#define PARKED_MS 20000       /* until all are parked at most */
#define VERB_MS 30000
#define ARRIVE_MS 15000
#define LOOK_MS 20
#define WORDS_MOST 12

/* Until all are parked, or the time is over: what that means is said at the end. */
static bool watch_failing(struct play *play, struct demo_failure *failure, struct error *error)
{
    struct letter letter;
    enum letter_state state;
    int64_t limit_ms = clock_mono().ms + PARKED_MS;
    while (failure->parked < DEMO_FAILURE_COUNT && clock_mono().ms < limit_ms) {
        if (!demo_play_wait(play, LOOK_MS, error)) {
            return false;
        }
        while (demo_letters_next(&play->letters, &letter, &state)) {
            demo_failure_take_letter(failure, &letter, state, stdout);
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------ verbs */

static bool wait_verb(struct play *play, struct error *error)
{
    int64_t limit_ms = clock_mono().ms + VERB_MS;
    while (demo_child_running(&play->verb)) {
        if (clock_mono().ms > limit_ms) {
            return error_set(error, ERROR_UNAVAILABLE, "%s did not end within %d s", play->verb.name, VERB_MS / 1000);
        }
        if (!demo_play_wait(play, LOOK_MS, error)) {
            return false;
        }
    }
    return demo_child_done(&play->verb, error);
}

/* Runs `tarry dlq WORDS... -c CONFIG`, shows what was typed and what it said. */
static bool run_verb(struct play *play, const char *const *words, struct error *error)
{
    const char *arguments[WORDS_MOST + 5] = {"tarry", "dlq"};
    char output[sizeof play->place.folder + 16];
    size_t count = 2;
    printf("$ tarry dlq");
    for (size_t i = 0; words[i] != NULL && i < WORDS_MOST; i++) {
        printf(" %s", words[i]);
        arguments[count++] = words[i];
    }
    printf(" -c %s\n", play->place.config);
    arguments[count++] = "-c";
    arguments[count++] = play->place.config;
    snprintf(output, sizeof output, "%s/verb.out", play->place.folder);
    (void)unlink(output); /* of the verb before */
    const struct demo_child_options options = {
        .name = "`tarry dlq`", .arguments = arguments, .log = output, .end_signal = SIGTERM};
    bool done = demo_child_start(&play->verb, &options, error) && wait_verb(play, error);
    demo_place_show(output, "  ", stdout);
    return done;
}

/* ------------------------------------------------------------------------------------------------------- acts */

static bool watch_arriving(struct play *play, struct demo_failure *failure, struct error *error)
{
    struct playground_arrival arrival;
    int64_t limit_ms = clock_mono().ms + ARRIVE_MS;
    while (failure->arrived < DEMO_FAILURE_COUNT && clock_mono().ms < limit_ms) {
        if (!demo_play_wait(play, LOOK_MS, error)) {
            return false;
        }
        while (playground_poll(play->invoices, &arrival)) {
            demo_failure_take_arrival(failure, &arrival.record, stdout);
        }
    }
    return true;
}

/* The refused ones of the first act are the only letters left. */
static bool expect_rest(struct play *play, struct error *error)
{
    uint64_t waiting = 0;
    uint64_t parked = 0;
    if (!demo_letters_count(&play->letters, LETTER_WAITING, &waiting, error) ||
        !demo_letters_count(&play->letters, LETTER_PARKED, &parked, error)) {
        return false;
    }
    if (waiting != 0 || parked != play->events.wrong) {
        return error_set(error, ERROR_INVALID, "%" PRIu64 " letters are waiting and %" PRIu64 " parked; there should be 0 and %zu", waiting, parked,
                         play->events.wrong);
    }
    printf("still parked: the %zu that were refused; `tarry dlq edit` mends one\n", play->events.wrong);
    return true;
}

static bool mend_and_replay(struct play *play, struct demo_failure *failure, struct error *error)
{
    const char *topic = play->broker.names[DEMO_BROKER_INVOICES];
    bool made = false;
    printf("\nnow somebody makes the topic %s, and sends them again\n", demo_broker_short(DEMO_BROKER_INVOICES));
    if (!demo_broker_make_invoices(&play->broker, &made, error) ||
        !demo_play_read(play, DEMO_BROKER_INVOICES, DEMO_BROKER_TOPICS, &play->invoices, error) ||
        !run_verb(play, (const char *const[]){"replay", "--state", "parked", "--target", topic, "--execute", "-o", "table", NULL}, error) ||
        !watch_arriving(play, failure, error)) {
        return false;
    }
    printf("\n");
    return demo_failure_conclude(failure, stdout) ? expect_rest(play, error)
                                                  : error_set(error, ERROR_INVALID, "not every letter did what it should");
}

/* Nothing was parked: a Kafka of the user's that makes topics by itself has taken the records, at once or when they were redelivered. */
static bool explain_none(struct play *play, struct error *error)
{
    bool made = false;
    if (!demo_broker_make_invoices(&play->broker, &made, error)) {
        return false;
    }
    if (made) {
        return error_set(error, ERROR_INVALID, "no record was parked within %d s", PARKED_MS / 1000);
    }
    printf("this Kafka makes topics that are asked for (auto.create.topics.enable): invoices is there by now, nothing stays failed, "
           "and there is nothing more to show\n");
    return true;
}

bool demo_play_letters(struct play *play, struct error *error)
{
    struct demo_failure failure = demo_failure_new();
    printf("\ndead letters: %d records, due in %.1f s, for the topic %s, which is not there\n", DEMO_FAILURE_COUNT,
           (double)DEMO_FAILURE_DELAY_MS / 1000, demo_broker_short(DEMO_BROKER_INVOICES));
    if (!demo_failure_send(&failure, &play->broker, play->playground, error) || !watch_failing(play, &failure, error)) {
        return false;
    }
    if (failure.parked == 0) {
        return explain_none(play, error);
    }
    printf("\n");
    return run_verb(play, (const char *const[]){"list", "--state", "parked", "-o", "table", NULL}, error) &&
           mend_and_replay(play, &failure, error);
}
