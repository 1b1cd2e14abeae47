/* Making a stream that is absent. */
#include "dlq/streams_state.h"

#define NAME_TAKEN 10058     /* somebody made one of that name, of another configuration, since we looked */
#define CREATION_FAILED 10049 /* also when another one is making it at this moment */

jsOptions streams_make_request(int64_t end_ms)
{
    int64_t left_ms = end_ms - link_session_clock_ms();
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = left_ms < 1 ? 1 : left_ms;
    return options;
}

bool streams_make(struct link_session *session, const struct streams_wanted *wanted, int64_t end_ms, bool *made, struct error *error)
{
    jsOptions options = streams_make_request(end_ms);
    jsStreamConfig config = wanted->config;
    jsErrCode code = 0;
    natsStatus status = js_AddStream(NULL, link_session_jetstream(session), &config, &options, &code);
    if (status == NATS_OK) {
        *made = true;
        return true;
    }
    struct error why;
    link_session_failure(session, status, code, &why);
    if (why.code == ERROR_UNAVAILABLE || why.code == ERROR_NOT_FOUND || code == NAME_TAKEN || code == CREATION_FAILED) {
        return error_set(error, ERROR_UNAVAILABLE, "%s: %s", wanted->name, why.text);
    }
    return error_set(error, ERROR_INVALID,
                     "%s: JetStream refuses to make it: %.200s: mend that on the server, or change dlq.stream, dlq.subject_prefix, dlq.max_bytes or dlq.replicas",
                     wanted->name, why.text);
}
