#include "cli/api_client_answer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "cli/base64.h"
#include "cli/verbs.h"

#define WHOLE_MOST 9007199254740992.0 /* 2^53 */
#define WORDS_SIZE 1024

struct api_client_answer api_client_answer_new(void)
{
    return (struct api_client_answer){.code = VERBS_EXIT_FAILED, .body = buffer_new(API_CLIENT_ANSWER_MAX)};
}

void api_client_answer_clear(struct api_client_answer *answer)
{
    cJSON_Delete(answer->json);
    answer->json = NULL;
    answer->status = 0;
    buffer_clear(&answer->body);
}

void api_client_answer_free(struct api_client_answer *answer)
{
    api_client_answer_clear(answer);
    buffer_free(&answer->body);
}

void api_client_answer_set(struct api_client_answer *answer, int code, const char *format, ...)
{
    char words[WORDS_SIZE];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(words, sizeof words, format, list);
    va_end(list);
    (void)text_printable(span_of_text(words), answer->message, sizeof answer->message);
    answer->code = code;
}

const struct cJSON *api_client_answer_member(const struct cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

const char *api_client_answer_text(const struct cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(api_client_answer_member(object, name));
    return text == NULL ? "" : text;
}

double api_client_answer_number(const struct cJSON *object, const char *name, double otherwise)
{
    const cJSON *member = api_client_answer_member(object, name);
    return cJSON_IsNumber(member) && isfinite(member->valuedouble) ? member->valuedouble : otherwise;
}

int64_t api_client_answer_whole(const struct cJSON *object, const char *name, int64_t otherwise)
{
    double number = api_client_answer_number(object, name, NAN);
    return isnan(number) || fabs(number) > WHOLE_MOST ? otherwise : (int64_t)number;
}

bool api_client_answer_true(const struct cJSON *object, const char *name)
{
    return cJSON_IsTrue(api_client_answer_member(object, name)) != 0;
}

bool api_client_answer_bytes(const struct cJSON *object, const char *name, struct buffer *bytes)
{
    char encoding[64];
    const char *text = cJSON_GetStringValue(api_client_answer_member(object, name));
    if (text == NULL) {
        return false;
    }
    (void)snprintf(encoding, sizeof encoding, "%s_encoding", name);
    if (strcmp(api_client_answer_text(object, encoding), "base64") == 0) {
        return base64_read(span_of_text(text), bytes);
    }
    buffer_add_text(bytes, text);
    return true;
}

const char *api_client_answer_problem(const struct api_client_answer *answer)
{
    return answer->json == NULL || answer->status < 400 ? "" : api_client_answer_text(answer->json, "code");
}

static int code_of(long status, const char *problem)
{
    if (strcmp(problem, "too_much_to_look_through") == 0) {
        return VERBS_EXIT_FAILED; /* 503, but trying again does not help */
    }
    switch (status) {
    case 400:
        return VERBS_EXIT_USAGE;
    case 401:
    case 403:
        return VERBS_EXIT_REFUSED;
    case 404:
        return VERBS_EXIT_PARTLY;
    case 503:
        return VERBS_EXIT_UNREACHABLE;
    default:
        return VERBS_EXIT_FAILED;
    }
}

static void parse(struct api_client_answer *answer)
{
    size_t length = answer->body.length;
    buffer_add(&answer->body, "", 1); /* so that what stands behind the document is seen */
    if (length == 0 || answer->body.full) {
        return;
    }
    cJSON *json = cJSON_ParseWithLengthOpts((const char *)answer->body.data, answer->body.length, NULL, 1);
    answer->body.length = length;
    if (cJSON_IsObject(json)) {
        answer->json = json;
    } else {
        cJSON_Delete(json);
    }
}

#define OWNERS_SIZE 300

/* " (SERVER, SERVER)": the instances that may have what was not found here, each once, as many as fit; "" when none is known. */
static void list_owners(const struct cJSON *elsewhere, char text[OWNERS_SIZE])
{
    const cJSON *each = NULL;
    size_t used = 0;
    text[0] = '\0';
    cJSON_ArrayForEach(each, elsewhere)
    {
        const char *owner = api_client_answer_text(each, "owner");
        char piece[OWNERS_SIZE];
        int length = snprintf(piece, sizeof piece, "--server %s,", owner);
        if (owner[0] != '\0' && (size_t)length < sizeof piece && strstr(text, piece) == NULL && used + strlen(piece) + 2 < OWNERS_SIZE) {
            used += (size_t)snprintf(text + used, OWNERS_SIZE - used, " %s", piece);
        }
    }
    if (used > 0) {
        text[used - 1] = '\0'; /* the last comma */
    }
}

/* A problem in one line: its detail, its code, and for what a person can do about some of them. */
static void judge_problem(struct api_client_answer *answer)
{
    const char *detail = api_client_answer_text(answer->json, "detail");
    const char *title = api_client_answer_text(answer->json, "title");
    const char *problem = api_client_answer_problem(answer);
    const char *hint = answer->status == 401 ? "; name the file of its token with --token-file or TARRY_TOKEN_FILE" : "";
    char owners[OWNERS_SIZE];
    list_owners(api_client_answer_member(answer->json, "elsewhere"), owners);
    api_client_answer_set(answer, code_of(answer->status, problem), "%.600s%s%s%s (%.60s)", detail[0] == '\0' ? title : detail, hint, owners[0] == '\0' ? "" : " Ask them:", owners,
                          problem);
}

void api_client_answer_judge(struct api_client_answer *answer, const char *shown)
{
    parse(answer);
    if (answer->status >= 200 && answer->status < 300 && answer->json != NULL) {
        answer->code = VERBS_EXIT_DONE;
        answer->message[0] = '\0';
    } else if (answer->status >= 200 && answer->status < 300) {
        api_client_answer_set(answer, VERBS_EXIT_FAILED, "%s answered, but with no JSON object: is it a tarry?", shown);
    } else if (answer->status >= 300 && answer->status < 400) {
        api_client_answer_set(answer, VERBS_EXIT_FAILED, "%s answered with a redirect (status %ld), which is not followed: is it a tarry?", shown, answer->status);
    } else if (api_client_answer_problem(answer)[0] == '\0') {
        api_client_answer_set(answer, answer->status == 404 ? VERBS_EXIT_FAILED : code_of(answer->status, ""), "%s answered with status %ld and no word of why: is it a tarry?",
                              shown, answer->status);
    } else {
        judge_problem(answer);
    }
}
