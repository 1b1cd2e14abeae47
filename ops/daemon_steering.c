/*
 * People's wishes (ops/steering.h), carried out with the core's help: one partition after the other is asked for the id, and what moves just now is asked for again.
 */
#include <stdlib.h>

#include "base/memory.h"

#include "ops/daemon_state.h"

#define AGAIN_MS 20 /* what is moving is read back within some milliseconds */

struct daemon_call {
    struct steering_call *call; /* NULL: the place is free */
    uint64_t token;
    int64_t give_up_ms; /* monotonic */
    slot_index slot;    /* being asked, or next to be */
    uint32_t epoch;
    bool asked;         /* an answer is to come */
    bool rests;         /* it is moving: asked again a little later */
    bool seen;          /* a partition of this instance was asked */
    struct record_id id;
};

struct daemon_steering {
    struct daemon_call calls[STEERING_UNDER_WAY_MAX];
    uint64_t last_token;
};

static void say(struct daemon *daemon, struct daemon_call *call, const struct steering_answer *said)
{
    metrics_add(daemon->metrics, METRIC_STEERED, said->result, 0, 1);
    steering_answer(daemon->steering, call->call, said);
    call->call = NULL;
}

static void answer(struct daemon *daemon, struct daemon_call *call, enum steering_result result, int64_t due_ms)
{
    const struct partition *partition = partitions_at(&daemon->partitions, call->slot);
    bool found = result == STEERING_DONE || result == STEERING_TOO_LATE || result == STEERING_FAILED;
    struct steering_answer said = {.result = result, .partition = found && partition != NULL ? partition->number : -1, .due_ms = found ? due_ms : -1};
    say(daemon, call, &said);
}

/* Nothing is decided by half of what is known, and a person's wish is no reason to end. */
static void answer_unreadable(struct daemon *daemon, struct daemon_call *call, const struct error *failure)
{
    struct steering_answer said = {.result = STEERING_UNREADABLE, .partition = -1, .due_ms = -1, .failure = *failure};
    say(daemon, call, &said);
}

/* ------------------------------------------------------------------------------------------------- lanes */

static enum steering_result steer_lane(struct daemon *daemon, const struct steering_wish *wish)
{
    bool paused = wish->verb == STEERING_LANE_PAUSE;
    for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
        if (!span_equals_text(wish->lane, daemon->lanes.names[lane]) || lane == LANES_REFUSED || lane == LANES_UNDECIDED) {
            continue;
        }
        for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
            const struct partition *partition = partitions_at(&daemon->partitions, slot);
            if (partition != NULL && partition->gained) {
                daemon_input(daemon, INPUT_LANE_PAUSE, partition)->as.lane_pause = (struct input_lane_pause){lane, paused};
            }
        }
        log_write(LOG_LEVEL_INFO, paused ? "target_paused" : "target_resumed", LOG_FIELDS(LOG_TEXT("target", daemon->lanes.names[lane])),
                  paused ? "a person paused the target: it stands still in all partitions of this instance" : "a person has the target go on");
        return STEERING_DONE;
    }
    return STEERING_NOT_FOUND;
}

/* ------------------------------------------------------------------------------------------------- schedules */

static bool is_asked_for(const struct partition *partition, const struct steering_wish *wish)
{
    return partition != NULL && partition->gained && partition->state == PARTITIONS_OPEN && span_equals_text(wish->topic, partition->topic) &&
           (wish->partition < 0 || wish->partition == partition->number);
}

/* DUE_SINCE_EVER: the row's own (daemon_again.c). */
static int64_t due_of(const struct daemon *daemon, const struct steering_wish *wish)
{
    return wish->verb == STEERING_MOVE ? wish->due_ms : wish->verb == STEERING_RUN_NOW ? daemon->now.wall.ms : DUE_SINCE_EVER;
}

static void ask(struct daemon *daemon, struct daemon_call *call)
{
    const struct steering_wish *wish = steering_wish_of(call->call);
    while (call->slot < daemon->partitions.count && !is_asked_for(partitions_at(&daemon->partitions, call->slot), wish)) {
        call->slot++;
    }
    if (call->slot >= daemon->partitions.count) {
        answer(daemon, call, call->seen ? STEERING_NOT_FOUND : STEERING_NOT_HERE, -1);
        return;
    }
    const struct partition *partition = partitions_at(&daemon->partitions, call->slot);
    struct stored_event found;
    struct error error;
    if (!daemon_ids_look(daemon, partition, call->id, &found, &error)) {
        answer_unreadable(daemon, call, &error);
        return;
    }
    call->epoch = partition->epoch;
    call->asked = true;
    call->rests = false;
    call->seen = true;
    daemon_input(daemon, INPUT_STEER, partition)->as.steer =
        (struct input_steer){.token = call->token,
                             .verb = wish->verb == STEERING_PAUSE ? STEER_PAUSE : STEER_MOVE,
                             .due_ms = due_of(daemon, wish),
                             .id = call->id,
                             .found = found};
}

/* The partition that was asked went before it answered. */
static bool is_lost(const struct daemon *daemon, const struct daemon_call *call)
{
    const struct partition *partition = partitions_at(&daemon->partitions, call->slot);
    return call->asked && (partition == NULL || partition->epoch != call->epoch);
}

static void look_after(struct daemon *daemon, struct daemon_call *call)
{
    if (daemon->now.mono.ms >= call->give_up_ms) {
        answer(daemon, call, STEERING_TIMEOUT, -1); /* the core's answer, if one comes, is nobody's */
    } else if (is_lost(daemon, call)) {
        answer(daemon, call, STEERING_NOT_HERE, -1);
    } else if (!call->asked) {
        ask(daemon, call);
    }
}

static void begin(struct daemon *daemon, struct daemon_call *place, struct steering_call *call)
{
    const struct steering_wish *wish = steering_wish_of(call);
    *place = (struct daemon_call){.call = call, .token = ++daemon->steered->last_token, .give_up_ms = daemon->now.mono.ms + wish->timeout_ms};
    if (wish->verb == STEERING_LANE_PAUSE || wish->verb == STEERING_LANE_RESUME) {
        answer(daemon, place, steer_lane(daemon, wish), -1);
        return;
    }
    place->id = daemon_ids_hash(daemon, wish->id);
    ask(daemon, place);
}

static size_t count_under_way(const struct daemon *daemon)
{
    size_t count = 0;
    for (size_t i = 0; i < STEERING_UNDER_WAY_MAX; i++) {
        count += daemon->steered->calls[i].call != NULL;
    }
    return count;
}

/* Who asks before the cluster is known waits; who asks at the end learns of it (daemon_steering_close). */
static bool is_open(const struct daemon *daemon)
{
    return !daemon->stopping && daemon->cluster[0] != '\0';
}

bool daemon_steering_wants(const struct daemon *daemon)
{
    return is_open(daemon) && count_under_way(daemon) < STEERING_UNDER_WAY_MAX;
}

void daemon_steering_take(struct daemon *daemon)
{
    if (!is_open(daemon)) {
        return;
    }
    for (size_t i = 0; i < STEERING_UNDER_WAY_MAX; i++) {
        struct daemon_call *place = &daemon->steered->calls[i];
        struct steering_call *call = place->call == NULL ? steering_take(daemon->steering) : NULL;
        if (place->call != NULL) {
            look_after(daemon, place);
        } else if (call != NULL) {
            begin(daemon, place, call);
        }
    }
}

static struct daemon_call *find(const struct daemon *daemon, uint64_t token)
{
    for (size_t i = 0; i < STEERING_UNDER_WAY_MAX; i++) {
        struct daemon_call *call = &daemon->steered->calls[i];
        if (call->call != NULL && call->token == token) {
            return call;
        }
    }
    return NULL;
}

void daemon_steering_answer(struct daemon *daemon, const struct command_steered *steered)
{
    struct daemon_call *call = find(daemon, steered->token);
    if (call == NULL) {
        return; /* its time was up */
    }
    call->asked = false;
    switch (steered->result) {
    case STEER_DONE:
        answer(daemon, call, STEERING_DONE, steered->due_ms);
        break;
    case STEER_NOT_FOUND:
        call->slot++; /* the next partition, in the next turn, which comes at once */
        break;
    case STEER_TOO_LATE:
        answer(daemon, call, STEERING_TOO_LATE, steered->due_ms);
        break;
    case STEER_MOVING:
    case STEER_BUSY:
        call->rests = true;
        break;
    case STEER_FAILED:
        answer(daemon, call, STEERING_FAILED, steered->due_ms);
        break;
    case STEER_STOPPED:
        answer(daemon, call, STEERING_NOT_HERE, -1);
        break;
    }
}

int64_t daemon_steering_deadline(const struct daemon *daemon)
{
    int64_t least = TIME_NEVER;
    for (size_t i = 0; i < STEERING_UNDER_WAY_MAX && is_open(daemon); i++) {
        const struct daemon_call *call = &daemon->steered->calls[i];
        int64_t at_ms = call->asked ? call->give_up_ms : daemon->now.mono.ms + (call->rests ? AGAIN_MS : 0);
        if (call->call != NULL && at_ms < least) {
            least = at_ms;
        }
    }
    return least;
}

bool daemon_steering_open(struct daemon *daemon, struct error *error)
{
    daemon->steered = memory_new(1, sizeof(*daemon->steered));
    daemon->steering = steering_new(error);
    return daemon->steering != NULL;
}

void daemon_steering_close(struct daemon *daemon)
{
    for (size_t i = 0; daemon->steered != NULL && i < STEERING_UNDER_WAY_MAX; i++) {
        if (daemon->steered->calls[i].call != NULL) {
            answer(daemon, &daemon->steered->calls[i], STEERING_TIMEOUT, -1);
        }
    }
    if (daemon->steering != NULL) {
        steering_close(daemon->steering);
    }
}

void daemon_steering_free(struct daemon *daemon)
{
    steering_free(daemon->steering);
    free(daemon->steered);
}
