/* The daemon and its service manager: see daemon_manager.h. */
#include "ops/daemon_manager.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ops/daemon_state.h"

#define STATUS_MS 5000   /* between two looks whether there is something new to say */
#define EXTEND_MS 60000  /* more time to start, asked for anew long before it is over */
#define EXTEND_EVERY_MS 15000
#define END_MS 30000     /* after shutdown_timeout: clients of Kafka and NATS, and the store, are closed */

static const char *environment(const char *name)
{
    return getenv(name); /* NOLINT(concurrency-mt-unsafe): nothing in this process sets variables */
}

void daemon_manager_open(struct daemon *daemon)
{
    struct daemon_manager *manager = &daemon->manager;
    manager->notify = notify_new(environment("NOTIFY_SOCKET"));
    manager->watchdog_ms = notify_watchdog_ms(environment("WATCHDOG_USEC"), environment("WATCHDOG_PID"), getpid());
}

void daemon_manager_close(struct daemon *daemon)
{
    notify_free(daemon->manager.notify);
}

/* ------------------------------------------------------------------------------------------------- status */

struct daemon_manager_numbers daemon_manager_count(const struct daemon *daemon)
{
    struct daemon_manager_numbers numbers = {.next_due_ms = TIME_NEVER};
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition == NULL || !partition->gained) {
            continue;
        }
        numbers.partitions++;
        for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
            struct core_queue_stats stats;
            core_queue_stats(daemon->core, slot, lane, daemon->now, &stats);
            numbers.pending += stats.pending;
            numbers.overdue += stats.overdue;
            numbers.next_due_ms = stats.next_due_ms < numbers.next_due_ms ? stats.next_due_ms : numbers.next_due_ms;
        }
    }
    return numbers;
}

static void say_numbers(const struct daemon *daemon, const char *state, char text[DAEMON_MANAGER_STATUS_SIZE])
{
    char next[CLOCK_TEXT_SIZE] = "never";
    struct daemon_manager_numbers numbers = daemon_manager_count(daemon);
    if (numbers.next_due_ms != TIME_NEVER && numbers.next_due_ms > 0) {
        (void)clock_text((struct wall_ms){numbers.next_due_ms}, next, sizeof(next));
    }
    (void)snprintf(text, DAEMON_MANAGER_STATUS_SIZE, "%s: %u partitions, %" PRIu64 " pending, %" PRIu64 " overdue, %zu in flight, next due %s", state,
                   numbers.partitions, numbers.pending, numbers.overdue, daemon->in_flight.count, next);
}

/* The first reason why it is not ready, NULL: it is. */
static const struct health_component *reason(const struct daemon_health *health)
{
    for (size_t i = 0; i < DAEMON_COMPONENTS; i++) {
        if (health->components[i].required && health->components[i].status != HEALTH_UP) {
            return &health->components[i];
        }
    }
    return NULL;
}

static void say_status(struct daemon *daemon, char text[DAEMON_MANAGER_STATUS_SIZE])
{
    struct daemon_health health = {0};
    daemon_health_fill(daemon, &health);
    const struct health_component *why = reason(&health);
    if (daemon->stopping) {
        say_numbers(daemon, "stopping", text);
    } else if (why == NULL) {
        say_numbers(daemon, "ready", text);
    } else {
        (void)snprintf(text, DAEMON_MANAGER_STATUS_SIZE, "not ready: %s: %s", why->code == NULL ? why->name : why->code,
                       why->message == NULL ? "see /readyz" : why->message);
    }
}

static void tell_status(struct daemon *daemon)
{
    struct daemon_manager *manager = &daemon->manager;
    char text[DAEMON_MANAGER_STATUS_SIZE];
    if (!notify_listens(manager->notify) || daemon->now.mono.ms < manager->status_at_ms) {
        return;
    }
    manager->status_at_ms = daemon->now.mono.ms + STATUS_MS;
    say_status(daemon, text);
    if (strcmp(text, manager->status) != 0) {
        memcpy(manager->status, text, sizeof(text));
        notify_status(manager->notify, "%s", text);
    }
}

/* ------------------------------------------------------------------------------------------------- states */

static void tell_ready(struct daemon *daemon)
{
    struct daemon_manager *manager = &daemon->manager;
    if (manager->ready_told) {
        return;
    }
    if (daemon_health_ready(daemon)) {
        manager->ready_told = true;
        manager->status_at_ms = 0;
        notify_ready(manager->notify);
        log_write(LOG_LEVEL_INFO, "ready", NULL, 0, "ready: all partitions given to this instance are read up to date");
    } else if (!daemon->stopping && notify_listens(manager->notify) && daemon->now.mono.ms >= manager->extend_at_ms) {
        manager->extend_at_ms = daemon->now.mono.ms + EXTEND_EVERY_MS;
        notify_extend(manager->notify, EXTEND_MS);
    }
}

void daemon_manager_tell(struct daemon *daemon)
{
    struct daemon_manager *manager = &daemon->manager;
    tell_ready(daemon);
    tell_status(daemon);
    if (manager->watchdog_ms > 0 && daemon->now.mono.ms >= manager->watchdog_at_ms) {
        notify_watchdog(manager->notify);
        manager->watchdog_at_ms = daemon->now.mono.ms + manager->watchdog_ms;
    }
}

void daemon_manager_reloading(struct daemon *daemon)
{
    daemon->manager.reloading = daemon->manager.ready_told;
    if (daemon->manager.reloading) {
        notify_reloading(daemon->manager.notify, clock_mono_us());
    }
}

void daemon_manager_reloaded(struct daemon *daemon)
{
    if (daemon->manager.reloading) {
        daemon->manager.reloading = false;
        notify_ready(daemon->manager.notify);
    }
}

void daemon_manager_stopping(struct daemon *daemon)
{
    notify_stopping(daemon->manager.notify);
    notify_extend(daemon->manager.notify, daemon->config->shutdown_timeout_ms + END_MS);
    daemon->manager.status_at_ms = 0;
}

int64_t daemon_manager_deadline(const struct daemon *daemon)
{
    const struct daemon_manager *manager = &daemon->manager;
    int64_t until = manager->watchdog_ms > 0 ? manager->watchdog_at_ms : TIME_NEVER;
    bool extends = !manager->ready_told && !daemon->stopping && notify_listens(manager->notify);
    return extends && manager->extend_at_ms < until ? manager->extend_at_ms : until;
}
