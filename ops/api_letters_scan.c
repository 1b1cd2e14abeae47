#include "ops/api_letters_scan.h"

#include <inttypes.h>

#include "bridge/target.h"
#include "dlq/letter_json.h"
#include "dlq/reader.h"
#include "dlq/streams.h"
#include "dlq/subject.h"
#include "ops/api_letters_link.h"
#include "ops/clock.h"

#define ANSWER_MS 1000 /* of the request's time, left for the answer */

/* ------------------------------------------------------------------------------------------------ what is asked */

static bool read_reason(struct api_letters_scan *scan)
{
    const char *names[LETTER_REASONS + 1] = {NULL};
    for (int i = 0; i < LETTER_REASONS; i++) {
        names[i] = letter_reason_name((enum letter_reason)i);
    }
    return api_parameter_choice(scan->request, "reason", names, &scan->filter.reason);
}

static bool read_state(struct api_letters_scan *scan)
{
    static const char *const states[] = {"waiting", "parked", NULL};
    int state = -1;
    if (!api_parameter_choice(scan->request, "state", states, &state)) {
        return false;
    }
    scan->filter.wants[LETTER_WAITING] = state != LETTER_PARKED;
    scan->filter.wants[LETTER_PARKED] = state != LETTER_WAITING;
    return true;
}

static bool refuse(const struct api_letters_scan *scan, const char *detail)
{
    api_answer_problem(scan->request, 400, "bad_parameter", "Bad Request", "%s", detail);
    return false;
}

static bool read_target(struct api_letters_scan *scan)
{
    scan->filter.target = http_request_query(scan->request, "target");
    return scan->filter.target.data == NULL || span_equals_text(scan->filter.target, SUBJECT_REFUSED) || target_name_valid(scan->filter.target) ||
           refuse(scan, "target: it is no name of a topic (1 to 249 of a-z A-Z 0-9 . _ -), nor _refused");
}

static bool read_cursor(struct api_letters_scan *scan)
{
    struct span text = http_request_query(scan->request, "cursor");
    scan->next = (struct api_letters_cursor){.state = scan->filter.wants[LETTER_WAITING] ? LETTER_WAITING : LETTER_PARKED};
    if (text.data == NULL) {
        return true;
    }
    if (!api_letters_cursor_read(text, &scan->next)) {
        return refuse(scan, "cursor: it is none of ours: give next_cursor as the last answer said it, whole");
    }
    return scan->filter.wants[scan->next.state] || refuse(scan, "cursor: it is of a list of the other state: give the same filters as before");
}

bool api_letters_scan_read(struct api_letters_scan *scan)
{
    return read_state(scan) && read_reason(scan) && read_target(scan) && read_cursor(scan);
}

/* ------------------------------------------------------------------------------------------------ how it stands */

/* One stream under way. */
struct bound {
    uint64_t first;
    uint64_t last; /* 0: nothing in it */
    int64_t created_ms;
};

static bool fail(const struct api_letters_scan *scan, const struct error *error)
{
    api_letters_link_unavailable(scan->request, scan->api, error);
    return false;
}

static bool look(const struct api_letters_scan *scan, unsigned state, struct bound *bound)
{
    struct streams_state now;
    struct error error = {ERROR_NONE, ""};
    *bound = (struct bound){0};
    if (!scan->filter.wants[state] || state < (unsigned)scan->next.state) {
        return true;
    }
    if (!streams_state(scan->link, api_letters_link_stream(scan->api, state), API_LETTERS_LINK_ASK_MS, &now, &error)) {
        return error.code == ERROR_NOT_FOUND || fail(scan, &error); /* no stream yet: no letters */
    }
    *bound = (struct bound){now.first_sequence, now.messages > 0 ? now.last_sequence : 0, now.created_ms};
    return true;
}

/* The cursor's sequence means something in the stream as it is now. */
static bool check_cursor(const struct api_letters_scan *scan, const struct bound *bound)
{
    const struct api_letters_cursor *cursor = &scan->next;
    return cursor->created_ms == 0 || bound->created_ms == 0 || cursor->created_ms == bound->created_ms ||
           refuse(scan, "cursor: the stream was deleted and made again since: begin without a cursor");
}

/* ------------------------------------------------------------------------------------------------ one message */

static bool matches(const struct api_letters_filter *filter, const struct letter *letter)
{
    struct span target = letter->target.data == NULL ? span_of_text(SUBJECT_REFUSED) : letter->target;
    return (filter->reason < 0 || (int)letter->reason == filter->reason) && (filter->target.data == NULL || span_equal(filter->target, target)) &&
           (filter->id.data == NULL || span_equals_text(filter->id, letter->id) || span_equal(filter->id, letter->schedule_id));
}

/* False: enough. */
static bool take(struct api_letters_scan *scan, const struct reader_message *message)
{
    struct letter letter;
    struct error error;
    scan->seen++;
    scan->next.sequence = (int64_t)(message->sequence + 1);
    if (!letter_decode(message->bytes, &letter, &error)) {
        scan->damaged++;
        return true;
    }
    return !matches(&scan->filter, &letter) || scan->visit(scan->visitor, scan->next.state, &letter, message->bytes.length);
}

/* ------------------------------------------------------------------------------------------------ one stream */

static bool time_is_up(const struct api_letters_scan *scan, int64_t end_ms)
{
    return clock_mono().ms >= end_ms || !api_letters_link_in_time(scan->request, scan->api, ANSWER_MS);
}

static enum api_letters_scan_result read_on(struct api_letters_scan *scan, struct reader *reader, uint64_t last, int64_t end_ms)
{
    struct reader_message message;
    struct error error = {ERROR_NONE, ""};
    bool ended = false;
    while (!ended && (uint64_t)scan->next.sequence <= last) {
        enum reader_result result = reader_step(reader, API_SLICE_MS, &message, &ended, &error);
        if (result == READER_FAILED) {
            (void)fail(scan, &error);
            return API_LETTERS_SCAN_FAILED;
        }
        bool stored_since = result == READER_MESSAGE && message.sequence > last;
        if (result == READER_MESSAGE && !stored_since && !take(scan, &message)) {
            return API_LETTERS_SCAN_ENOUGH;
        }
        ended = ended || stored_since;
        if (!ended && time_is_up(scan, end_ms)) {
            return API_LETTERS_SCAN_PART;
        }
    }
    return API_LETTERS_SCAN_ALL;
}

static void subject(const struct api_letters_scan *scan, char text[SUBJECT_SIZE])
{
    enum subject_kind kind = scan->next.state == LETTER_WAITING ? SUBJECT_DLQ : SUBJECT_PARKED;
    const char *prefix = api_letters_link_streams(scan->api)->prefix;
    struct span target = scan->filter.target;
    if (target.data == NULL) {
        subject_all(text, prefix, kind);
    } else {
        subject_of(text, prefix, kind, span_equals_text(target, SUBJECT_REFUSED) ? SPAN_ABSENT : target);
    }
}

static enum api_letters_scan_result read_stream(struct api_letters_scan *scan, const struct bound *bound, int64_t end_ms)
{
    char filter[SUBJECT_SIZE];
    struct reader *reader = NULL;
    struct error error = {ERROR_NONE, ""};
    if ((uint64_t)scan->next.sequence < bound->first) {
        scan->next.sequence = (int64_t)bound->first;
    }
    scan->next.created_ms = bound->created_ms;
    if (bound->last == 0 || (uint64_t)scan->next.sequence > bound->last) {
        return API_LETTERS_SCAN_ALL;
    }
    subject(scan, filter);
    if (!reader_open(scan->link, api_letters_link_stream(scan->api, scan->next.state), filter, (uint64_t)scan->next.sequence, &reader, &error)) {
        (void)fail(scan, &error);
        return API_LETTERS_SCAN_FAILED;
    }
    enum api_letters_scan_result result = read_on(scan, reader, bound->last, end_ms);
    reader_close(reader);
    return result;
}

/* The last message of all was the one that was enough. */
static bool is_end(const struct api_letters_scan *scan, const struct bound bounds[2])
{
    bool parked_left = scan->next.state == LETTER_WAITING && bounds[LETTER_PARKED].last > 0;
    return (uint64_t)scan->next.sequence > bounds[scan->next.state].last && !parked_left;
}

enum api_letters_scan_result api_letters_scan_run(struct api_letters_scan *scan)
{
    struct bound bounds[2];
    int64_t end_ms = clock_mono().ms + scan->time_ms;
    if (!look(scan, LETTER_WAITING, &bounds[LETTER_WAITING]) || !look(scan, LETTER_PARKED, &bounds[LETTER_PARKED]) ||
        !check_cursor(scan, &bounds[scan->next.state])) {
        return API_LETTERS_SCAN_FAILED;
    }
    enum api_letters_scan_result result = read_stream(scan, &bounds[scan->next.state], end_ms);
    if (result == API_LETTERS_SCAN_ALL && scan->next.state == LETTER_WAITING && scan->filter.wants[LETTER_PARKED]) {
        scan->next = (struct api_letters_cursor){.state = LETTER_PARKED};
        result = read_stream(scan, &bounds[LETTER_PARKED], end_ms);
    }
    return result == API_LETTERS_SCAN_ENOUGH && is_end(scan, bounds) ? API_LETTERS_SCAN_ALL : result;
}
