/* How the daemon's parts are: for /readyz, /health and the service manager. */
#include <stdio.h>
#include <string.h>

#include "ops/daemon_state.h"

static struct health_component kafka_health(const struct daemon *daemon)
{
    struct health_component component = {.name = "kafka", .status = HEALTH_UP, .required = true};
    if (!daemon->connected && (daemon->trouble[0] != '\0' || !daemon->was_connected)) {
        component.status = daemon->was_connected || daemon->trouble[0] != '\0' ? HEALTH_DOWN : HEALTH_UNKNOWN;
        component.code = "kafka_unreachable";
        component.message = daemon->trouble[0] != '\0' ? daemon->trouble : "no broker has answered yet";
    }
    return component;
}

static struct health_component store_health(const struct daemon *daemon)
{
    struct health_component component = {.name = "store", .status = HEALTH_UP, .required = true};
    struct core_stats stats;
    core_stats(daemon->core, &stats);
    if (stats.store_full) {
        component.status = HEALTH_DOWN;
        component.code = "store_full";
        component.message = "no room for a checkpoint: free disk space or raise store.max_size; deliveries go on, reading pauses";
    }
    return component;
}

static const char *worst_problem(const struct daemon *daemon, enum partitions_state state)
{
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition != NULL && partition->state == state && partition->problem[0] != '\0') {
            return partition->problem;
        }
    }
    return NULL;
}

static bool all_caught_up(const struct daemon *daemon)
{
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        struct core_slot_stats stats;
        if (partition == NULL || !partition->gained) {
            continue;
        }
        core_slot_stats(daemon->core, slot, &stats);
        if (!stats.caught_up) {
            return false;
        }
    }
    return true;
}

static struct health_component intake_health(const struct daemon *daemon)
{
    struct health_component component = {.name = "intake", .status = HEALTH_OUT_OF_SERVICE, .required = true};
    if (daemon->stopping) {
        component.code = "stopping";
        component.message = "tarry is stopping";
    } else if (partitions_count(&daemon->partitions, PARTITIONS_DRAINING) + partitions_count(&daemon->partitions, PARTITIONS_HELD) > 0) {
        const char *held = worst_problem(daemon, PARTITIONS_HELD);
        component.status = HEALTH_DOWN;
        component.code = "topic_changed";
        component.message = held != NULL ? held : worst_problem(daemon, PARTITIONS_DRAINING);
    } else if (!daemon->was_connected || partitions_count(&daemon->partitions, PARTITIONS_OPENING) > 0 || !all_caught_up(daemon)) {
        const char *waits = worst_problem(daemon, PARTITIONS_OPENING);
        component.code = "loading";
        component.message = waits != NULL ? waits : "what stood in the topics at the start is still being read";
    } else {
        component.status = HEALTH_UP;
    }
    return component;
}

/* ------------------------------------------------------------------------------------------------- NATS */

static void add_detail(struct daemon_health *health, struct health_component *component, const char *name, const char *text, double number)
{
    if (component->detail_count < DAEMON_DETAILS) {
        health->details[component->detail_count++] = (struct health_detail){name, text, number};
    }
}

static const char *phase_name(enum redelivery_phase phase)
{
    switch (phase) {
    case REDELIVERY_IDLE:
        return "elsewhere"; /* another instance's affair */
    case REDELIVERY_STARTING:
        return "starting";
    case REDELIVERY_RUNNING:
        return "running";
    case REDELIVERY_STANDING:
        break;
    }
    return "standing";
}

static void add_findings(struct daemon_health *health, struct health_component *component, const struct streams_findings *findings)
{
    static const char *const names[] = {"difference_1", "difference_2", "difference_3", "difference_4", "difference_5", "difference_6",
                                        "difference_7", "difference_8"};
    add_detail(health, component, "differences", NULL, (double)findings->count);
    for (size_t i = 0; i < findings->count && i < sizeof(names) / sizeof(names[0]); i++) {
        add_detail(health, component, names[i], findings->items[i].text, 0);
    }
}

/* Targets that a person paused, in one text; "" when there is none. */
static const char *paused_targets(const struct daemon *daemon, struct daemon_health *health)
{
    size_t length = 0;
    health->paused[0] = '\0';
    for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
        bool paused = false;
        for (slot_index slot = 0; slot < daemon->partitions.count && !paused; slot++) {
            const struct partition *partition = partitions_at(&daemon->partitions, slot);
            struct core_queue_stats stats = {0};
            if (partition != NULL && partition->gained) {
                core_queue_stats(daemon->core, slot, lane, daemon->now, &stats);
            }
            paused = stats.paused;
        }
        if (paused && length < sizeof(health->paused)) {
            length += (size_t)snprintf(health->paused + length, sizeof(health->paused) - length, "%s%s", length == 0 ? "" : ", ",
                                       daemon->lanes.names[lane]);
        }
    }
    return health->paused;
}

/* Never required: without NATS what is due leaves all the same, and what fails is tried again later. */
static struct health_component nats_health(struct daemon *daemon, struct daemon_health *health)
{
    const struct outbox_status *status = daemon_letters_status(daemon);
    struct health_component component = {.name = "nats", .status = HEALTH_UP, .details = health->details};
    daemon_letters_redelivery(daemon, &health->redelivery);
    if (!status->ready) {
        bool tried = status->text[0] != '\0';
        component.status = tried ? HEALTH_DOWN : HEALTH_UNKNOWN;
        component.code = "dead_letters_not_kept";
        component.message = tried ? status->text : "NATS has not answered yet";
    } else if (health->redelivery.phase == REDELIVERY_STANDING) {
        component.status = HEALTH_DOWN;
        component.code = "redelivery_stands";
        component.message = health->redelivery.text;
    } else if (nack_reader_counts(daemon->letters.nack_reader).standing) {
        component.status = HEALTH_DOWN;
        component.code = "nacks_stand";
        component.message = "JetStream did not take what consumers failed on: it waits in its topics";
    }
    add_detail(health, &component, "redelivery", phase_name(health->redelivery.phase), 0);
    if (daemon->letters.known) {
        add_detail(health, &component, "waiting", NULL, (double)status->waiting);
        add_detail(health, &component, "parked", NULL, (double)status->parked);
        add_findings(health, &component, &status->findings);
    }
    return component;
}

/* Somebody wanted it so: it is no trouble, and said. */
static struct health_component delivery_health(const struct daemon *daemon, struct daemon_health *health)
{
    struct health_component component = {.name = "delivery", .status = HEALTH_UP};
    if (paused_targets(daemon, health)[0] != '\0') {
        health->paused_detail = (struct health_detail){"paused", health->paused, 0};
        component.details = &health->paused_detail;
        component.detail_count = 1;
    }
    return component;
}

void daemon_health_fill(struct daemon *daemon, struct daemon_health *health)
{
    health->components[0] = kafka_health(daemon);
    health->components[1] = store_health(daemon);
    health->components[2] = intake_health(daemon);
    health->components[3] = nats_health(daemon, health);
    health->components[4] = delivery_health(daemon, health);
}

bool daemon_health_ready(struct daemon *daemon)
{
    struct health_component required[] = {kafka_health(daemon), store_health(daemon), intake_health(daemon)};
    struct health health = {required, sizeof(required) / sizeof(required[0]), daemon->now.wall};
    return health_ready(&health);
}
