/*
 * Making a stream whose sequences no former stream of its name can have had, with what servers since 2.9 know.
 *
 * 1. It is made under a private subject: nobody stores anything in it yet. 2. It is purged up to the time of its making in ms, which the server notes: its
 * first message will have that sequence. 3. It gets its own subjects.
 *
 * Whoever finds it after step 1 or 2 goes on, so a crash between them is mended by the next start. Several may do so at once, and one that slept before step
 * 2 does no harm: all compute the same sequence for the same stream, and every letter that it can hold has a greater one or the same (a purge spares both).
 * The time is of the server, so instances whose clocks differ agree; a former stream can have had such a sequence only if it took more than one message a
 * millisecond over all its life, or if the server's clock was set back by as long.
 */
#include <inttypes.h>
#include <string.h>

#include "dlq/streams_state.h"

#define NAME_TAKEN 10058 /* somebody made it, and went on, since we looked */

jsOptions streams_state_request(int64_t end_ms)
{
    int64_t left_ms = end_ms - link_clock_ms();
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = left_ms < 1 ? 1 : left_ms;
    return options;
}

bool streams_state_half_made(const struct streams_wanted *wanted, const jsStreamInfo *found)
{
    const jsStreamConfig *config = found->Config;
    return wanted->label[0] != '\0' && found->State.Msgs == 0 && config->SubjectsLen == 1 && strcmp(config->Subjects[0], wanted->making) == 0 &&
           config->Description != NULL && strcmp(config->Description, wanted->label) == 0;
}

static natsStatus create(jsCtx *jetstream, const struct streams_wanted *wanted, jsOptions *options, jsErrCode *code)
{
    const char *subject = wanted->making;
    jsStreamConfig config = wanted->config;
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    return js_AddStream(NULL, jetstream, &config, options, code);
}

static natsStatus number_from(jsCtx *jetstream, const struct streams_wanted *wanted, uint64_t first, jsOptions *options, jsErrCode *code)
{
    options->Stream.Purge.Sequence = first;
    return js_PurgeStream(jetstream, wanted->name, options, code);
}

static natsStatus open_up(jsCtx *jetstream, const struct streams_wanted *wanted, jsOptions *options, jsErrCode *code)
{
    jsStreamConfig config = wanted->config;
    return js_UpdateStream(NULL, jetstream, &config, options, code);
}

bool streams_state_make(struct link_session *session, const struct streams_wanted *wanted, const jsStreamInfo *found, int64_t end_ms, bool *made,
                        struct error *error)
{
    jsOptions options = streams_state_request(end_ms);
    uint64_t first = found == NULL || found->Created < NS_PER_MS ? 0 : (uint64_t)(found->Created / NS_PER_MS);
    jsErrCode code = 0;
    natsStatus status;
    if (found == NULL) {
        status = create(link_jetstream(session), wanted, &options, &code);
    } else if (found->State.FirstSeq < first) {
        status = number_from(link_jetstream(session), wanted, first, &options, &code);
    } else {
        status = open_up(link_jetstream(session), wanted, &options, &code);
        *made = *made || status == NATS_OK;
    }
    if (status == NATS_OK) {
        return true;
    }
    struct error why;
    link_failure(session, status, code, &why);
    if (why.code == ERROR_UNAVAILABLE || why.code == ERROR_NOT_FOUND || code == NAME_TAKEN) {
        return error_set(error, ERROR_UNAVAILABLE, "%s: %s", wanted->name, why.text);
    }
    return error_set(error, ERROR_INVALID,
                     "%s: JetStream refuses to make it: %.200s: mend that on the server, or change dlq.stream, dlq.subject_prefix, dlq.max_bytes or dlq.replicas",
                     wanted->name, why.text);
}
