/* See streams.h. */
#include "dlq/streams.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "dlq/link_state.h"
#include "dlq/streams_state.h"

#define RETRY_MS 200
#define YIELD_MS 500
#define STEPS_MOST 4 /* looked at, waited for, made, and looked at again */

struct ensuring {
    struct link *link;
    int64_t end_ms; /* link_session_clock_ms */
    struct streams_findings *findings;
    int64_t yield_ms; /* before the first one is made */
};

static void pause_ms(int64_t ms)
{
    struct timespec span = {.tv_nsec = ms * NS_PER_MS};
    nanosleep(&span, NULL);
}

/* nats-server 2.15.1 lets two make a stream of one name at the same moment, and what the earlier one has taken is gone: instances that start together wait for some
 * moments, each for others, and look again before they make one. */
static int64_t yield_for(int64_t timeout_ms)
{
    uint16_t bits;
    bool drawn = getrandom(&bits, sizeof bits, 0) == (ssize_t)sizeof bits; /* else there is no wait */
    return timeout_ms < 4 * YIELD_MS || !drawn ? 0 : bits % YIELD_MS;
}

/* What differs is noted. False: the first finding that makes it unusable. */
static bool compare(struct streams_findings *findings, const struct streams_wanted *wanted, const jsStreamConfig *found, struct error *error)
{
    size_t before = findings->count;
    bool usable = streams_compare(wanted, found, findings);
    for (size_t i = before; !usable && i < findings->count; i++) {
        if (findings->items[i].unusable) {
            return error_set(error, ERROR_INVALID, "%s", findings->items[i].text);
        }
    }
    return usable || error_set(error, ERROR_INVALID, "%s is not usable for letters", wanted->name);
}

/* Looks once, and takes one step. True: *done says whether it is there and usable; else it is to be looked at again. */
static bool step(struct link_session *session, struct ensuring *ensuring, const struct streams_wanted *wanted, bool *done, struct error *error)
{
    jsOptions options = streams_make_request(ensuring->end_ms);
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    natsStatus status = js_GetStreamInfo(&info, link_session_jetstream(session), wanted->name, &options, &code);
    if (status != NATS_OK && status != NATS_NOT_FOUND) {
        link_session_failure(session, status, code, error);
        return error_prefix(error, "%s", wanted->name);
    }
    bool ok = true;
    if (info == NULL && wanted->label[0] == '\0') {
        ok = error_set(error, ERROR_NOT_FOUND, "there is no stream %s", wanted->name);
    } else if (info == NULL && ensuring->yield_ms > 0) {
        pause_ms(ensuring->yield_ms);
        ensuring->yield_ms = 0;
    } else if (info == NULL) {
        ok = streams_make(session, wanted, ensuring->end_ms, &ensuring->findings->made, error);
    } else {
        *done = true;
        ok = compare(ensuring->findings, wanted, info->Config, error);
    }
    jsStreamInfo_Destroy(info);
    return ok;
}

static bool ensure_one(struct link_session *session, struct ensuring *ensuring, const struct streams_wanted *wanted, struct error *error)
{
    bool done = false;
    for (int steps = 0; steps < STEPS_MOST; steps++) {
        if (!step(session, ensuring, wanted, &done, error)) {
            return false;
        }
        if (done) {
            return true;
        }
    }
    return error_set(error, ERROR_UNAVAILABLE, "%s is made and made again: somebody deletes it", wanted->name);
}

/* All four; the first that fails is told, the findings are of all that answered. */
static bool ensure_all(struct ensuring *ensuring, const struct streams_options *options, struct error *error)
{
    struct link_session *session = link_session_hold(ensuring->link, error);
    if (session == NULL) {
        return false;
    }
    ensuring->findings->count = 0;
    ensuring->findings->foreign = false;
    bool ok = true;
    bool answers = true;
    for (int which = 0; answers && which < STREAMS_STATE_COUNT; which++) {
        struct streams_wanted wanted;
        struct error why;
        streams_wanted_fill(options, which, &wanted);
        if (!ensure_one(session, ensuring, &wanted, &why)) {
            answers = why.code != ERROR_UNAVAILABLE;
            if (ok || !answers) { /* what is away is to be asked again: it goes before what is wrong */
                error_set(error, why.code, "%s", why.text);
            }
            ok = false;
        }
    }
    link_session_drop(session);
    return ok;
}

bool streams_ensure(struct link *link, const struct streams_options *options, int64_t timeout_ms, struct streams_findings *findings, struct error *error)
{
    memset(findings, 0, sizeof *findings);
    struct ensuring ensuring = {link, link_session_clock_ms() + timeout_ms, findings, yield_for(timeout_ms)};
    for (;;) {
        struct error why;
        if (ensure_all(&ensuring, options, &why)) {
            return true;
        }
        /* a server that has just started, or elects a leader, refuses for some moments */
        bool again = why.code == ERROR_UNAVAILABLE && link_session_clock_ms() + RETRY_MS < ensuring.end_ms && link_up(link, NULL, 0);
        if (!again) {
            return error_set(error, why.code, "%s", why.text);
        }
        pause_ms(RETRY_MS);
    }
}

bool streams_state(struct link *link, const char *stream, int64_t timeout_ms, struct streams_state *state, struct error *error)
{
    struct link_session *session = link_session_hold(link, error);
    if (session == NULL) {
        return false;
    }
    jsOptions options = streams_make_request(link_session_clock_ms() + timeout_ms);
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    natsStatus status = js_GetStreamInfo(&info, link_session_jetstream(session), stream, &options, &code);
    if (status != NATS_OK) {
        link_session_failure(session, status, code, error);
        error_prefix(error, "%s", stream);
    } else {
        *state = (struct streams_state){
            .messages = info->State.Msgs,
            .bytes = info->State.Bytes,
            .first_sequence = info->State.FirstSeq,
            .last_sequence = info->State.LastSeq,
            .created_ms = info->Created / NS_PER_MS,
            .oldest_ms = info->State.Msgs == 0 ? -1 : info->State.FirstTime / NS_PER_MS,
        };
        jsStreamInfo_Destroy(info);
    }
    link_session_drop(session);
    return status == NATS_OK;
}
