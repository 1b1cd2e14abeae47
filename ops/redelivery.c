/* The thread of redelivery, and what the owner sees of it. */
#include "ops/redelivery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "ops/clock.h"
#include "ops/letter_options.h"
#include "ops/redelivery_state.h"

#define SEND_TIMEOUT_MS 10000
#define IDLE_MS 200    /* between two looks at what is asked for, when nothing is due */
#define SENT_MS 20     /* the same while answers of Kafka are waited for */
#define AGAIN_MS 1000  /* after trouble */
#define FENCED_MS 10000

/* ------------------------------------------------------------------------------------------------- under lock */

bool redelivery_wanted(struct redelivery *redelivery)
{
    pthread_mutex_lock(&redelivery->lock);
    bool wanted = redelivery->active && !redelivery->stop;
    pthread_mutex_unlock(&redelivery->lock);
    return wanted;
}

bool redelivery_out_of_time(struct redelivery *redelivery)
{
    pthread_mutex_lock(&redelivery->lock);
    bool over = redelivery->stop && clock_mono().ms >= redelivery->stop_by_ms;
    pthread_mutex_unlock(&redelivery->lock);
    return over;
}

void redelivery_pause(struct redelivery *redelivery, int64_t timeout_ms)
{
    struct timespec until = thread_moment(timeout_ms);
    pthread_mutex_lock(&redelivery->lock);
    bool active = redelivery->active;
    int result = 0;
    while (result != ETIMEDOUT && redelivery->active == active && !redelivery->stop) {
        result = pthread_cond_timedwait(&redelivery->changed, &redelivery->lock, &until);
    }
    pthread_mutex_unlock(&redelivery->lock);
}

bool redelivery_policy(struct redelivery *redelivery, struct span topic, struct retry_policy *policy)
{
    pthread_mutex_lock(&redelivery->lock);
    *policy = *letter_options_retry(&redelivery->view, topic);
    bool allowed = letter_options_allowed(&redelivery->view, topic);
    pthread_mutex_unlock(&redelivery->lock);
    return allowed;
}

static void wake_owner(const struct redelivery *redelivery)
{
    uint64_t one = 1;
    if (redelivery->wake_fd >= 0 && write(redelivery->wake_fd, &one, sizeof one) != (ssize_t)sizeof one) {
        log_write(LOG_LEVEL_DEBUG, "redelivery", NULL, 0, "the owner could not be woken");
    }
}

/* Changes of phase are worth a line; the reason of standing when it is another. */
static void say_phase(enum redelivery_phase phase, const char *text)
{
    static const char *const words[] = {"elsewhere", "starting", "running", "standing"};
    static const char *const said[] = {"is another instance's affair", "starts", "runs", "stands still, and is tried again by itself: "};
    bool standing = phase == REDELIVERY_STANDING;
    log_write(standing ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "redelivery", LOG_FIELDS(LOG_TEXT("phase", words[phase])), "redelivery of dead letters %s%s",
              said[phase], standing ? text : "");
}

void redelivery_publish(struct redelivery *redelivery, enum redelivery_phase phase, const char *text)
{
    struct waiting_entry first = {.not_before_ms = -1};
    (void)waiting_first(redelivery->waiting, &first);
    pthread_mutex_lock(&redelivery->lock);
    struct redelivery_status *status = &redelivery->status;
    bool news = status->phase != phase || strncmp(status->text, text, sizeof status->text - 1) != 0;
    status->phase = phase;
    snprintf(status->text, sizeof status->text, "%s", text);
    status->waiting = waiting_count(redelivery->waiting);
    status->in_flight = REDELIVERY_FLIGHTS - redelivery_settle_count(redelivery, REDELIVERY_STEP_FREE);
    status->next_ms = first.not_before_ms;
    status->resting_targets = redelivery->targets.count;
    status->counts = redelivery->counts;
    pthread_mutex_unlock(&redelivery->lock);
    if (news) {
        say_phase(phase, text);
        wake_owner(redelivery);
    }
}

/* ------------------------------------------------------------------------------------------------- the thread */

/* How long nothing is to be done. */
static int64_t idle_ms(const struct redelivery *redelivery)
{
    struct waiting_entry first;
    if (!waiting_first(redelivery->waiting, &first)) {
        return IDLE_MS;
    }
    int64_t left_ms = first.not_before_ms - clock_wall().ms;
    int64_t least_ms = redelivery->taken > 0 ? 0 : SENT_MS; /* what is due and could not be taken is not asked for without end */
    return left_ms < least_ms ? least_ms : left_ms < IDLE_MS ? left_ms : IDLE_MS;
}

/* At least once: each letter goes its own way. */
static bool turn(struct redelivery *redelivery, struct error *error)
{
    if (!redelivery_take(redelivery, REDELIVERY_FLIGHTS, error)) {
        return false;
    }
    redelivery_take_send(redelivery);
    redelivery_settle_collect(redelivery, redelivery_settle_count(redelivery, REDELIVERY_STEP_SENT) > 0 ? SENT_MS : 0);
    char text[200];
    bool fenced;
    if (!redelivery_settle(redelivery, error)) {
        return false;
    }
    return !letter_sink_fatal(redelivery->sink, &fenced, text, sizeof text) || error_set(error, ERROR_UNAVAILABLE, "the Kafka producer: %s", text);
}

static bool work(struct redelivery *redelivery, struct error *error)
{
    bool going = true;
    while (going && redelivery_wanted(redelivery)) {
        going = redelivery_read(redelivery, redelivery_settle_is_idle(redelivery) ? idle_ms(redelivery) : 0, error) &&
                (redelivery->exactly_once ? redelivery_transaction(redelivery, error) : turn(redelivery, error));
        redelivery_publish(redelivery, REDELIVERY_RUNNING, "");
    }
    return going;
}

static void stand(struct redelivery *redelivery, const struct error *error)
{
    redelivery_publish(redelivery, REDELIVERY_STANDING, error->text);
    redelivery_pause(redelivery, error->code == ERROR_FENCED ? FENCED_MS : AGAIN_MS);
}

/* False: to stop. */
static bool wait_for_work(struct redelivery *redelivery)
{
    pthread_mutex_lock(&redelivery->lock);
    while (!redelivery->active && !redelivery->stop) {
        pthread_cond_wait(&redelivery->changed, &redelivery->lock);
    }
    bool go_on = !redelivery->stop;
    pthread_mutex_unlock(&redelivery->lock);
    return go_on;
}

static void *run(void *opaque)
{
    struct redelivery *redelivery = opaque;
    while (wait_for_work(redelivery)) {
        struct error error = {0};
        if (redelivery->status.phase == REDELIVERY_IDLE) {
            redelivery_publish(redelivery, REDELIVERY_STARTING, "");
        }
        bool done = redelivery_start_begin(redelivery, &error) && work(redelivery, &error);
        redelivery_start_let_go(redelivery);
        if (!redelivery_wanted(redelivery)) {
            redelivery_publish(redelivery, REDELIVERY_IDLE, "");
        } else if (!done) {
            stand(redelivery, &error);
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- the owner */

static char *text_of(const char *first, const char *second, const char *third)
{
    struct buffer text = buffer_new(1024);
    buffer_add_text(&text, first);
    buffer_add_text(&text, second);
    buffer_add_text(&text, third);
    char *made = memory_text(text.data, text.length);
    buffer_free(&text);
    return made;
}

/* The owner's configuration, but for the targets: those are reloaded. */
static void take_config(struct redelivery *redelivery, const struct config *config, const char *owner)
{
    redelivery->view = *config;
    redelivery->view.targets = memory_new(config->target_count, sizeof *config->targets);
    for (size_t i = 0; i < config->target_count; i++) {
        redelivery->view.targets[i] = config->targets[i];
    }
    redelivery->exactly_once = config->delivery == CONFIG_DELIVERY_EXACTLY_ONCE;
    redelivery->client = text_of("tarry-", config->instance, "-letters");
    redelivery->transactional_id = text_of(config->group, ".letters", "");
    redelivery->streams = letter_options_streams(config, owner);
    redelivery->place = (struct letter_sink_place){.group = redelivery->transactional_id, .topic = config->sources[0].topic, .partition = 0};
}

static struct redelivery *make(const struct redelivery_options *options)
{
    struct redelivery *made = memory_new(1, sizeof *made);
    thread_condition(&made->changed);
    pthread_mutex_init(&made->lock, NULL);
    take_config(made, options->config, options->owner);
    made->wake_fd = options->wake_fd;
    made->send_timeout_ms = options->send_timeout_ms > 0 ? options->send_timeout_ms : SEND_TIMEOUT_MS;
    made->created_ms = -1;
    made->batch_most = REDELIVERY_FLIGHTS;
    made->waiting = waiting_new(WAITING_MAX);
    made->lately = redelivery_lately_new();
    return made;
}

static void free_all(struct redelivery *redelivery)
{
    mailer_free(redelivery->mailer);
    link_close(redelivery->link);
    waiting_free(redelivery->waiting);
    redelivery_lately_free(redelivery->lately);
    pthread_cond_destroy(&redelivery->changed);
    pthread_mutex_destroy(&redelivery->lock);
    free(redelivery->view.targets);
    free(redelivery->client);
    free(redelivery->transactional_id);
    free(redelivery);
}

bool redelivery_start(const struct redelivery_options *options, struct redelivery **redelivery, struct error *error)
{
    struct redelivery *made = make(options);
    const struct link_options link = letter_options_link(options->config, made->client);
    if (!link_open(&link, &made->link, error)) {
        free_all(made);
        return false;
    }
    made->mailer = mailer_new(made->link, &made->streams);
    if (!thread_start(&made->thread, run, made)) {
        free_all(made);
        return error_set(error, ERROR_SYSTEM, "no thread for redelivery was to be had; raise the limit of processes (ulimit -u)");
    }
    *redelivery = made;
    return true;
}

void redelivery_set_active(struct redelivery *redelivery, bool active)
{
    pthread_mutex_lock(&redelivery->lock);
    redelivery->active = active;
    pthread_cond_broadcast(&redelivery->changed);
    pthread_mutex_unlock(&redelivery->lock);
}

/* If they are the same ones in the same order: else all of them wait for a restart (as limits of lanes do). */
void redelivery_reload(struct redelivery *redelivery, const struct config *config)
{
    pthread_mutex_lock(&redelivery->lock);
    struct config *view = &redelivery->view;
    bool same = view->target_count == config->target_count;
    for (size_t i = 0; same && i < view->target_count; i++) {
        same = strcmp(view->targets[i].name, config->targets[i].name) == 0;
    }
    for (size_t i = 0; same && i < view->target_count; i++) {
        view->targets[i].retry = config->targets[i].retry;
    }
    pthread_mutex_unlock(&redelivery->lock);
}

void redelivery_status(struct redelivery *redelivery, struct redelivery_status *status)
{
    pthread_mutex_lock(&redelivery->lock);
    *status = redelivery->status;
    pthread_mutex_unlock(&redelivery->lock);
}

void redelivery_stop(struct redelivery *redelivery, int64_t timeout_ms)
{
    if (redelivery == NULL) {
        return;
    }
    pthread_mutex_lock(&redelivery->lock);
    redelivery->stop = true;
    redelivery->stop_by_ms = clock_mono().ms + timeout_ms;
    pthread_cond_broadcast(&redelivery->changed);
    pthread_mutex_unlock(&redelivery->lock);
    pthread_join(redelivery->thread, NULL);
    free_all(redelivery);
}
