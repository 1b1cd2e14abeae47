#include "ops/api_write.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "ops/api_audit.h"
#include "ops/api_owner.h"
#include "ops/clock.h"
#include "ops/json.h"

void api_write_unavailable(struct api_write *write, const char *why)
{
    api_owner_unavailable(write->request, why);
    write->result = "unavailable";
}

void api_write_unreadable(struct api_write *write, const char *why)
{
    api_answer_problem(write->request, 500, "unreadable", "Internal Server Error", "Nothing was written: what is stored of it does not read back: %s", why);
    write->result = "unreadable";
}

bool api_write_in_time(struct api_write *write)
{
    if (write->request->deadline.ms - clock_mono().ms >= API_WRITE_LEAST_MS) {
        return true;
    }
    api_write_unavailable(write, "too little time was left, as Kafka or tarry is slow just now; try again");
    return false;
}

void api_write_problem(struct api_write *write, unsigned status, const char *code, const char *title, const char *detail, struct cJSON *members)
{
    api_answer_problem_with(write->request, status, code, title, detail, members);
    write->result = code;
}

void api_write_refused(struct api_write *write, const struct refusal *refusal, int64_t offset)
{
    struct cJSON *members = json_object();
    json_add_text(members, "reason", refusal_name(refusal->reason));
    json_add_bool(members, "written", offset >= 0);
    api_write_problem(write, 422, "refused", "Unprocessable Content", refusal->text, members);
}

void api_write_random_word(char word[API_IDEMPOTENCY_NONCE_SIZE])
{
    uint64_t numbers[2];
    if (getrandom(numbers, sizeof(numbers), 0) != (ssize_t)sizeof(numbers)) {
        abort(); /* 16 bytes are always to be had once the system has started */
    }
    (void)snprintf(word, API_IDEMPOTENCY_NONCE_SIZE, "%016" PRIx64 "%016" PRIx64, numbers[0], numbers[1]);
}

struct mono_ms api_write_send_deadline(const struct api_write *write)
{
    return (struct mono_ms){write->request->deadline.ms - API_WRITE_ANSWER_MS};
}

/* The moment by which the owner must have said something. */
static struct mono_ms read_deadline(const struct api_write *write)
{
    struct mono_ms latest = api_write_send_deadline(write);
    int64_t usual_ms = clock_mono().ms + API_WRITE_READ_MS;
    return usual_ms < latest.ms ? (struct mono_ms){usual_ms} : latest;
}

static bool is_stopping(const void *context)
{
    return api_stopping(context);
}

void api_write_wait(struct api_write *write, struct request_watch *watch)
{
    (void)request_watch_wait(watch, read_deadline(write), is_stopping, write->api);
}

bool api_write_begin(struct api_write *write, const struct api_question_write *question, struct api_question_begin *begin)
{
    struct error error;
    if (!api_question_begin(write->api, question, write->request->deadline, begin, &error)) {
        if (error.code == ERROR_CORRUPT) {
            api_write_unreadable(write, error.text);
        } else {
            api_write_unavailable(write, error.text);
        }
        return false;
    }
    switch (begin->result) {
    case API_QUESTION_BEGUN:
    case API_QUESTION_THERE:
    case API_QUESTION_REFUSED:
        return true;
    case API_QUESTION_MOVING:
        api_write_unavailable(write, "the event of this id is just being written again; try again");
        break;
    case API_QUESTION_GONE:
        api_write_unavailable(write, "its partition was just given to another instance; try again");
        break;
    case API_QUESTION_FULL:
        api_write_unavailable(write, "too many writes are under way; try again");
        break;
    }
    return false;
}

/* Of answers that were given without a word for the audit. */
static const char *name_of(unsigned status)
{
    switch (status) {
    case 400:
        return "bad_request";
    case 404:
        return "not_found";
    case 421:
        return "not_owner";
    case 422:
        return "refused";
    case 503:
        return "unavailable";
    default:
        return "failed";
    }
}

void api_write_end(struct api_write *write)
{
    write->result = write->result == NULL ? name_of(write->request->status) : write->result;
    api_audit_note(write->api->audit, clock_wall(), write->request->actor, write->action, write->what, write->subject, write->result);
}
