#include "cli/demo_play.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/demo_play_state.h"
#include "cli/demo_ready.h"
#include "cli/demo_summary.h"
#include "ops/clock.h"

#define READY_MS 20000
#define READY_LOOK_MS 50
#define FETCH_WAIT_MOCK_MS 2
#define FETCH_WAIT_KAFKA_MS 100
#define GRACE_MS 5000 /* after the last due time */

/* ------------------------------------------------------------------------------------------------- interrupts */

/* Ctrl-C and its like become readable instead of ending us, so that the child and the files never outlive the demo.
 * Called before other threads exist, which inherit it. They stay blocked to the end of the process. */
static bool catch_signals(struct play *play, struct error *error)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++) {
        (void)sigaddset(&set, caught[i]);
    }
    /* a reader that went away is seen by the failing write */
    if (sigaction(SIGPIPE, &ignore, NULL) != 0 || sigprocmask(SIG_BLOCK, &set, NULL) != 0) {
        return error_set(error, ERROR_SYSTEM, "blocking signals: %s", strerror(errno));
    }
    play->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    play->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return (play->signal_fd >= 0 && play->wake_fd >= 0) ||
           error_set(error, ERROR_SYSTEM, "opening a file descriptor: %s", strerror(errno));
}

static bool interrupted(struct play *play)
{
    struct signalfd_siginfo info;
    play->interrupted = play->interrupted || read(play->signal_fd, &info, sizeof info) == (ssize_t)sizeof info;
    return play->interrupted;
}

static bool child_ended(struct demo_child *child, struct error *error)
{
    bool ended = child->pid != 0 && !demo_child_running(child);
    if (ended && demo_child_done(child, error)) {
        (void)error_set(error, ERROR_SYSTEM, "%s ended too early", child->name);
    }
    return ended;
}

bool demo_play_wait(struct play *play, int timeout_ms, struct error *error)
{
    struct pollfd fds[] = {{play->signal_fd, POLLIN, 0}, {play->wake_fd, POLLIN, 0}};
    uint64_t count = 0;
    (void)poll(fds, 2, timeout_ms);
    (void)!read(play->wake_fd, &count, sizeof count);
    if (interrupted(play)) {
        return error_set(error, ERROR_SYSTEM, "interrupted");
    }
    if (child_ended(&play->child, error) || child_ended(&play->letters.server, error)) {
        return false;
    }
    return !ferror(stdout) ||
           error_set(error, ERROR_SYSTEM, "the output cannot be written (disk full, or its reader went away)");
}

/* ----------------------------------------------------------------------------------------------------- acts */

static bool start_serve(struct play *play, struct error *error)
{
    const char *const arguments[] = {"tarry", "serve", "-c", play->place.config, NULL};
    const struct demo_child_options options = {
        .name = "`tarry serve`", .arguments = arguments, .log = play->place.log, .end_signal = SIGTERM};
    return demo_child_start(&play->child, &options, error);
}

static bool open_letters(struct play *play, struct error *error)
{
    const char *program = play->options->nats_server;
    return program == NULL || demo_letters_open(&play->letters, program, &play->place, error);
}

static void say_stage(const struct play *play)
{
    printf("broker     %s%s\n", play->broker.bootstrap,
           play->broker.mock == NULL ? "" : "  (librdkafka's mock cluster, in this process)");
    printf("topics     %s.*\n", play->broker.prefix);
    printf("scheduler  `tarry serve`, process %d, http://127.0.0.1:%u\n", (int)play->child.pid, (unsigned)play->port);
    if (play->options->nats_server == NULL) {
        printf("letters    not shown: dead letters need NATS; `tarry demo --nats-server PATH` runs one in private\n");
    } else {
        printf("letters    nats-server, process %d, %s\n", (int)play->letters.server.pid, play->letters.url);
    }
    printf("waiting until it is ready (Kafka gives members of a new group 3 s to come) ...\n");
    fflush(stdout);
}

bool demo_play_read(const struct play *play, enum demo_broker_topic first, enum demo_broker_topic end, struct playground **playground,
                    struct error *error)
{
    const struct playground_options options = {.bootstrap = play->broker.bootstrap,
                                               .topics = play->broker.topics + first,
                                               .topic_count = (size_t)(end - first),
                                               .fetch_wait_ms =
                                                   play->broker.mock != NULL ? FETCH_WAIT_MOCK_MS : FETCH_WAIT_KAFKA_MS,
                                               .wake_fd = play->wake_fd};
    return playground_open(&options, playground, error);
}

static bool open_stage(struct play *play, struct error *error)
{
    if (!demo_broker_open(&play->broker, play->options->kafka, error) || !demo_place_open(&play->place, error) ||
        !open_letters(play, error) || !demo_ready_port(&play->port, error) ||
        !demo_place_write_config(&play->place, &play->broker, play->letters.url[0] == '\0' ? NULL : play->letters.url, play->port,
                                 error) ||
        !start_serve(play, error)) {
        return false;
    }
    say_stage(play);
    return demo_play_read(play, DEMO_BROKER_EVENTS, DEMO_BROKER_INVOICES, &play->playground, error);
}

static bool wait_nats(struct play *play, struct error *error)
{
    int64_t limit_ms = clock_mono().ms + READY_MS;
    struct error reason = {0};
    while (play->letters.link != NULL && !demo_letters_ready(&play->letters, READY_LOOK_MS, &reason)) {
        if (clock_mono().ms > limit_ms) {
            return error_set(error, ERROR_UNAVAILABLE, "nats-server was not ready within %d s: %s", READY_MS / 1000, reason.text);
        }
        if (!demo_play_wait(play, 0, error)) {
            return false;
        }
    }
    return true;
}

static bool wait_ready(struct play *play, struct error *error)
{
    char answer[256] = "";
    int64_t limit_ms = clock_mono().ms + READY_MS;
    while (!demo_ready_ask(play->port, answer, sizeof answer)) {
        if (clock_mono().ms > limit_ms) {
            return error_set(error, ERROR_UNAVAILABLE, "`tarry serve` was not ready within %d s; it said: %s",
                             READY_MS / 1000, answer);
        }
        if (!demo_play_wait(play, READY_LOOK_MS, error)) {
            return false;
        }
    }
    play->child.answered = true;
    return true;
}

static void take_arrivals(struct play *play)
{
    struct playground_arrival arrival;
    while (playground_poll(play->playground, &arrival)) {
        struct demo_event *event = demo_events_take(&play->events, &play->broker, &arrival, clock_wall().ms);
        if (event != NULL && event->arrivals == 1) {
            demo_view_event(&play->view, event);
        }
    }
}

/* Wrong records are refused: each is a letter, parked at once. */
static void take_refused(struct play *play)
{
    struct letter letter;
    enum letter_state state;
    while (demo_letters_next(&play->letters, &letter, &state)) {
        struct demo_event *event =
            state == LETTER_PARKED ? demo_events_take_letter(&play->events, &letter, clock_wall().ms) : NULL;
        if (event != NULL && event->arrivals == 1) {
            demo_view_event(&play->view, event);
        }
    }
}

/* Shows them until all have left, or the last is overdue by GRACE_MS: what that means the summary says. */
static bool watch(struct play *play, struct error *error)
{
    const struct demo_event *last = &play->events.items[play->events.count - 1];
    int64_t limit_ms = clock_mono().ms + last->delay_ms + GRACE_MS;
    while (play->events.finished < play->events.count && clock_mono().ms < limit_ms) {
        demo_view_frame(&play->view, &play->events, clock_wall().ms);
        if (!demo_play_wait(play, demo_view_tick_ms(&play->view), error)) {
            return false;
        }
        take_arrivals(play);
        take_refused(play);
    }
    demo_view_frame(&play->view, &play->events, clock_wall().ms);
    demo_view_end(&play->view);
    return true;
}

static bool conclude(struct play *play, struct error *error)
{
    if (!demo_summary_print(&play->events, stdout)) {
        const char *trouble = playground_trouble(play->playground);
        return error_set(error, ERROR_INVALID, "not every record did what it should%s%s",
                         trouble[0] == '\0' ? "" : "; the reader said: ", trouble);
    }
    return true;
}

static bool act(struct play *play, struct error *error)
{
    if (!catch_signals(play, error) || !open_stage(play, error) || !wait_nats(play, error) || !wait_ready(play, error)) {
        return false;
    }
    size_t wrong = play->options->nats_server == NULL ? 0 : DEMO_EVENTS_WRONG_COUNT;
    printf("ready; producing %d records with delays of 50 ms to 5 s", play->options->count);
    if (wrong > 0) {
        printf(", and %zu that are wrong", wrong);
    }
    printf("\n\n");
    play->events = demo_events_new((size_t)play->options->count, wrong);
    return demo_events_send(&play->events, &play->broker, play->playground, error) && watch(play, error) &&
           conclude(play, error) && (wrong == 0 || demo_play_letters(play, error));
}

/* --------------------------------------------------------------------------------------------------- the end */

static bool complain(bool done, const struct error *error)
{
    if (!done) {
        fprintf(stderr, "tarry demo: %s\n", error->text);
    }
    return done;
}

static void say_next(const struct play *play)
{
    if (play->options->keep) {
        printf("kept: %s (tarry.yaml, logs, stores)%s%s%s\n", play->place.folder,
               play->options->kafka == NULL ? "" : " and the topics ",
               play->options->kafka == NULL ? "" : play->broker.prefix, play->options->kafka == NULL ? "" : ".*");
    }
    printf("next: examples/tarry.yaml is a configuration to start from, docs/configuration.md has every key; `tarry "
           "help serve`\n");
}

/* Ends everything, in the order in which it depends on each other; all of it whatever fails. */
static bool strike(struct play *play, bool done)
{
    struct error error = {0};
    bool ended = complain(demo_child_stop(&play->verb, &error), &error);
    ended = complain(demo_child_stop(&play->child, &error), &error) && ended;
    ended = complain(demo_letters_close(&play->letters, &error), &error) && ended;
    if ((!done && !play->interrupted) || !ended) {
        demo_place_show_logs(&play->place, stderr);
    }
    playground_close(play->playground);
    playground_close(play->invoices);
    if (done && ended) {
        say_next(play);
    } else if (play->options->keep && play->place.folder[0] != '\0') {
        fprintf(stderr, "tarry demo: kept %s\n", play->place.folder);
    }
    bool dropped = complain(demo_broker_close(&play->broker, play->options->keep, &error), &error);
    bool removed = play->options->keep || complain(demo_place_remove(&play->place, &error), &error);
    demo_events_free(&play->events);
    (void)close(play->signal_fd);
    (void)close(play->wake_fd);
    return done && ended && dropped && removed;
}

bool demo_play_run(const struct demo_play_options *options)
{
    struct error error = {0};
    (void)setvbuf(stdout, NULL, _IOLBF, 0); /* in a pipe, too, each line comes when it happens */
    struct play play = {.options = options, .view = demo_view_new(), .signal_fd = -1, .wake_fd = -1};
    bool done = act(&play, &error);
    demo_view_end(&play.view);
    done = strike(&play, complain(done, &error));
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    return done && written;
}
