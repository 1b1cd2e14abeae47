/* The owner thread's loop; see daemon.h. */
#include "ops/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "ops/daemon_state.h"
#include "ops/signals.h"

#define SLEEP_MOST_MS 30000     /* a turn now and then, for the poll-interval guard of Kafka's client and for gauges */
#define CLOCK_STEP_MS 1000      /* as the core counts steps */
#define SLEEP_DUE_MOST_MS 1000  /* while something waits for the wall clock: a step of it, or the machine's own sleep, is seen that late at most */

struct input *daemon_input(struct daemon *daemon, enum input_kind kind, const struct partition *partition)
{
    if (daemon->input_count == daemon->input_capacity) {
        daemon->input_capacity = daemon->input_capacity == 0 ? 256 : daemon->input_capacity * 2;
        daemon->inputs = memory_resize(daemon->inputs, daemon->input_capacity, sizeof(*daemon->inputs));
    }
    struct input *input = &daemon->inputs[daemon->input_count++];
    *input = (struct input){.kind = kind};
    if (partition != NULL) {
        input->slot = partition->slot;
        input->epoch = partition->epoch;
    }
    return input;
}

void daemon_fail(struct daemon *daemon, const struct error *error)
{
    if (!daemon->failed) {
        daemon->failed = true;
        daemon->failure = *error;
    }
}

static void begin_stop(struct daemon *daemon)
{
    if (daemon->stopping) {
        return;
    }
    daemon->stopping = true;
    daemon->stop_by_ms = daemon->now.mono.ms + daemon->config->shutdown_timeout_ms;
    daemon_input(daemon, INPUT_STOP, NULL);
    daemon_manager_stopping(daemon);
    api_open_refuse_writes(daemon->api);
    struct daemon_manager_numbers numbers = daemon_manager_count(daemon);
    log_write(LOG_LEVEL_INFO, "stopping",
              LOG_FIELDS(LOG_NUMBER("in_flight", daemon->in_flight.count), LOG_NUMBER("pending", numbers.pending), LOG_NUMBER("overdue", numbers.overdue)),
              "stopping: %zu deliveries under way are waited for, then a last checkpoint and commit, at most %" PRId64 " ms (shutdown_timeout); all else of "
              "%" PRIu64 " pending stays pending",
              daemon->in_flight.count, daemon->config->shutdown_timeout_ms, numbers.pending);
}

static void look_at_signals(struct daemon *daemon)
{
    enum signals_event event;
    while ((event = signals_next()) != SIGNALS_NONE) {
        if (event == SIGNALS_STOP) {
            begin_stop(daemon);
        } else {
            daemon_setup_reload(daemon);
        }
    }
}

/* Facts whose memory the core borrowed for the step that has just been taken. */
static void forget_inputs(struct daemon *daemon)
{
    daemon->input_count = 0;
    daemon->scan_count = 0;
    for (size_t i = 0; i < daemon->gained_count; i++) {
        free((void *)(uintptr_t)daemon->gained[i]->buckets);
        free((void *)(uintptr_t)daemon->gained[i]->marks);
        free((void *)(uintptr_t)daemon->gained[i]->skips);
        free(daemon->gained[i]);
    }
    daemon->gained_count = 0;
    if (daemon->written_valid) {
        store_result_free(&daemon->written.store);
        daemon->written_valid = false;
    }
}

static void step(struct daemon *daemon)
{
    struct commands commands = core_step(daemon->core, daemon->now, daemon->inputs, daemon->input_count);
    forget_inputs(daemon);
    daemon_commands(daemon, &commands);
    daemon_watch_stepped(daemon);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Milliseconds until something is to be done, 0: at once. Wall deadlines are awaited on the wall clock's own terms: the sleep is bounded,
 * so that a step of the clock is seen. */
static int64_t sleep_ms(const struct daemon *daemon)
{
    struct core_deadline deadline = core_next_deadline(daemon->core);
    int64_t mono = daemon->now.mono.ms;
    int64_t until = earlier(deadline.mono.ms, mono + (deadline.wall.ms == TIME_NEVER ? SLEEP_MOST_MS : SLEEP_DUE_MOST_MS));
    until = earlier(until, daemon_open_deadline(daemon));
    until = earlier(until, daemon_topics_deadline(daemon));
    until = earlier(until, daemon_transaction_deadline(daemon));
    until = earlier(until, daemon_outcomes_deadline(daemon));
    until = earlier(until, daemon_steering_deadline(daemon));
    until = earlier(until, daemon_log_deadline(daemon));
    if (daemon->trouble[0] != '\0') {
        until = earlier(until, daemon->probe_at_ms);
    }
    if (daemon->options.log != NULL) {
        until = earlier(until, log_output_deadline(daemon->options.log).ms);
    }
    until = daemon->stopping ? earlier(until, daemon->stop_by_ms) : until;
    until = earlier(until, daemon_manager_deadline(daemon));
    int64_t wait = until <= mono ? 0 : until - mono;
    if (deadline.wall.ms <= daemon->now.wall.ms) {
        return 0;
    }
    return deadline.wall.ms == TIME_NEVER ? wait : earlier(wait, deadline.wall.ms - daemon->now.wall.ms);
}

static void drain_wake_fd(const struct daemon *daemon)
{
    uint64_t count;
    if (read(daemon->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN) {
        return; /* nothing depends on it: the turn looks at everything anyway */
    }
}

/* Sleeps until a fact comes or the time is up. Whole milliseconds are counted from the instant the clocks were read at, so that the sleep
 * ends at the tick, not up to a millisecond after it. */
static void wait_for_facts(struct daemon *daemon, bool more)
{
    struct pollfd fds[] = {
        {daemon->wake_fd, POLLIN, 0}, {mailbox_fd(daemon->mailbox), POLLIN, 0}, {signals_fd(), POLLIN, 0},
        {steering_fd(daemon->steering), daemon_steering_wants(daemon) ? POLLIN : 0, 0}};
    int64_t wait = more || daemon->input_count > 0 ? 0 : sleep_ms(daemon);
    int64_t wait_ns = wait <= 0 ? 0 : wait * 1000000 - clock_wall_into_ms_ns();
    struct timespec timeout = {wait_ns / 1000000000, wait_ns % 1000000000};
    int ready = ppoll(fds, sizeof(fds) / sizeof(fds[0]), &timeout, NULL);
    daemon->asked = ready < 0 || (fds[1].revents & POLLIN) != 0;
    if (ready > 0 && (fds[0].revents & POLLIN) != 0) {
        drain_wake_fd(daemon);
    }
}

static void tell_what_was_left_out(struct daemon *daemon)
{
    daemon_log_tell(daemon, false);
    if (daemon->options.log != NULL && daemon->now.mono.ms >= log_output_deadline(daemon->options.log).ms) {
        log_output_tick(daemon->options.log);
    }
}

/* A wall clock that was set back holds up those that wait for a moment of it. `last`: of the turn before. */
static void look_at_clock(struct daemon *daemon, struct now last)
{
    int64_t set_back_ms = (daemon->now.mono.ms - last.mono.ms) - (daemon->now.wall.ms - last.wall.ms);
    if (last.mono.ms > 0 && set_back_ms > CLOCK_STEP_MS) {
        source_clock_stepped(daemon->source);
    }
}

static void turn(struct daemon *daemon)
{
    struct now last = daemon->now;
    daemon->turns++;
    daemon->now = clock_read(&daemon->clock);
    look_at_clock(daemon, last);
    look_at_signals(daemon);
    daemon_commands_written(daemon);
    daemon_open_partitions(daemon);
    daemon_topics_watch(daemon);
    bool more = daemon_letters_take(daemon);
    more = daemon_intake_reports(daemon) || more;
    more = daemon_intake(daemon) || more;
    daemon_steering_take(daemon); /* after what was read: it may be about that */
    daemon_outcomes_poll(daemon);
    daemon->now = clock_read(&daemon->clock); /* as late as can be: what came due meanwhile leaves in this step */
    step(daemon);
    daemon_observe_serve(daemon);
    mailbox_beat(daemon->mailbox, daemon->now.mono);
    daemon_manager_tell(daemon);
    tell_what_was_left_out(daemon);
    if (!daemon->stopped && !daemon->failed) {
        wait_for_facts(daemon, more);
    }
}

static bool is_over(struct daemon *daemon)
{
    if (daemon->stopping && !daemon->stopped && clock_mono().ms >= daemon->stop_by_ms) {
        log_write(LOG_LEVEL_WARNING, "stop_timeout", LOG_FIELDS(LOG_NUMBER("in_flight", daemon->in_flight.count)),
                  "shutdown_timeout is over with deliveries unanswered: they stay pending and may be delivered again");
        daemon->stopped = true;
    }
    return daemon->stopped || daemon->failed;
}

bool daemon_run(const struct daemon_options *options, struct error *error)
{
    struct daemon *daemon = memory_new(1, sizeof(*daemon));
    daemon->options = *options;
    daemon->config = options->config;
    daemon->stop_by_ms = TIME_NEVER;
    daemon->end_at_ms = TIME_NEVER;
    bool ready = daemon_setup(daemon, error);
    while (ready && !is_over(daemon)) {
        turn(daemon);
    }
    bool done = ready && !daemon->failed;
    if (ready && daemon->failed) {
        *error = daemon->failure;
    }
    daemon_log_tell(daemon, true);
    if (done) {
        size_t unanswered = daemon->in_flight.count;
        log_write(LOG_LEVEL_INFO, "stopped", LOG_FIELDS(LOG_NUMBER("in_flight", unanswered)),
                  unanswered == 0 ? "stopped: every delivery under way was answered" : "stopped: %zu deliveries were not answered: they stay pending, and may be repeated",
                  unanswered);
    }
    daemon_setup_teardown(daemon);
    free(daemon);
    return done;
}
