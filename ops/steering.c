/* See steering.h. */
#include "ops/steering.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/decode.h"
#include "bridge/time_text.h"
#include "ops/mailbox.h"

#define GRACE_MS 1000 /* for the owner to say that the time is up */
#define NAME_MAX_BYTES 249

struct steering_call {
    struct mailbox_ticket *ticket; /* the owner's, once it is taken */
    struct steering_wish wish;
    struct steering_answer answer;
    uint8_t bytes[]; /* topic, id, lane */
};

struct steering {
    struct mailbox *mailbox;
    size_t under_way;
};

const char *steering_result_name(enum steering_result result)
{
    static const char *const names[STEERING_RESULTS] = {"done", "not_found", "too_late", "not_here", "failed", "timeout", "unreadable"};
    return names[result];
}

struct steering *steering_new(struct error *error)
{
    struct steering *steering = memory_new(1, sizeof(*steering));
    steering->mailbox = mailbox_new(STEERING_WAITING_MAX, error);
    if (steering->mailbox == NULL) {
        free(steering);
        return NULL;
    }
    return steering;
}

void steering_free(struct steering *steering)
{
    if (steering != NULL) {
        mailbox_free(steering->mailbox);
        free(steering);
    }
}

/* ------------------------------------------------------------------------------------------------- askers */

static bool is_of_lane(const struct steering_wish *wish)
{
    return wish->verb == STEERING_LANE_PAUSE || wish->verb == STEERING_LANE_RESUME;
}

static bool is_within(struct span text, size_t most)
{
    return text.data != NULL && text.length >= 1 && text.length <= most;
}

static bool check(const struct steering_wish *wish, struct error *error)
{
    if (wish->timeout_ms < 1 || wish->timeout_ms > STEERING_TIMEOUT_MAX_MS) {
        return error_set(error, ERROR_INVALID, "the timeout is not 1 ms to %d ms", STEERING_TIMEOUT_MAX_MS);
    }
    if (is_of_lane(wish)) {
        return is_within(wish->lane, NAME_MAX_BYTES) || error_set(error, ERROR_INVALID, "no target is named");
    }
    if (!is_within(wish->topic, NAME_MAX_BYTES)) {
        return error_set(error, ERROR_INVALID, "no source topic is named");
    }
    if (!is_within(wish->id, DECODE_ID_MAX)) {
        return error_set(error, ERROR_INVALID, "the id is not 1 to %d bytes", DECODE_ID_MAX);
    }
    bool in_time = wish->due_ms > 0 && wish->due_ms <= TIME_TEXT_LAST_MS;
    return wish->verb != STEERING_MOVE || in_time || error_set(error, ERROR_INVALID, "the time to move it to is not after 1970 and up to the year 9999");
}

static struct span copy(struct span text, uint8_t **at)
{
    if (text.data == NULL) {
        return SPAN_ABSENT;
    }
    uint8_t *to = *at;
    memcpy(to, text.data, text.length);
    *at += text.length;
    return (struct span){to, text.length};
}

static struct steering_call *new_call(const struct steering_wish *wish)
{
    bool lane = is_of_lane(wish);
    struct span topic = lane ? SPAN_ABSENT : wish->topic;
    struct span id = lane ? SPAN_ABSENT : wish->id;
    struct span name = lane ? wish->lane : SPAN_ABSENT;
    struct steering_call *call = memory_new(1, sizeof(*call) + topic.length + id.length + name.length + 1);
    uint8_t *at = call->bytes;
    call->wish = *wish;
    call->wish.topic = copy(topic, &at);
    call->wish.id = copy(id, &at);
    call->wish.lane = copy(name, &at);
    return call;
}

bool steering_ask(struct steering *steering, const struct steering_wish *wish, struct steering_answer *answer, struct error *error)
{
    if (!check(wish, error)) {
        return false;
    }
    struct steering_call *call = new_call(wish);
    struct mailbox_ticket *ticket = mailbox_post(steering->mailbox, call, free, false, error);
    if (ticket == NULL) {
        free(call);
        return false;
    }
    enum mailbox_state state = mailbox_wait(ticket, wish->timeout_ms + GRACE_MS);
    if (state == MAILBOX_ANSWERED) {
        *answer = call->answer;
    } else {
        error_set(error, ERROR_UNAVAILABLE,
                  state == MAILBOX_REFUSED ? "tarry is stopping: ask again when it is up" : "tarry does not answer: /health says how it is");
    }
    mailbox_drop(ticket);
    return state == MAILBOX_ANSWERED;
}

/* ------------------------------------------------------------------------------------------------- owner */

int steering_fd(const struct steering *steering)
{
    return mailbox_fd(steering->mailbox);
}

struct steering_call *steering_take(struct steering *steering)
{
    struct mailbox_ticket *ticket = steering->under_way < STEERING_UNDER_WAY_MAX ? mailbox_take(steering->mailbox) : NULL;
    if (ticket == NULL) {
        return NULL;
    }
    struct steering_call *call = mailbox_payload(ticket);
    call->ticket = ticket;
    steering->under_way++;
    return call;
}

const struct steering_wish *steering_wish_of(const struct steering_call *call)
{
    return &call->wish;
}

void steering_answer(struct steering *steering, struct steering_call *call, const struct steering_answer *answer)
{
    steering->under_way--;
    call->answer = *answer;
    mailbox_answer(call->ticket);
}

void steering_close(struct steering *steering)
{
    if (steering != NULL) {
        mailbox_close(steering->mailbox);
    }
}
