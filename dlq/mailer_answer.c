/* What JetStream says of a publish: {"stream":...,"seq":...,"duplicate":true} or {"error":{"code":...,"err_code":...,"description":...}}. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "dlq/letter_text.h"
#include "dlq/mailer_state.h"

#define SEQUENCE_MOST 9007199254740992 /* what a JSON number of cJSON holds exactly: 2^53 */

/* JetStream's numbers of errors that pass. */
#define NO_LEADER_FIRST 10004
#define NO_LEADER_LAST 10009
#define ID_IN_PROCESS 10158 /* "duplicate message id is in process" */
#define WRONG_STREAM 10060

static bool says(const char *text, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcasestr(text, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* A full store is told under one number with many another trouble of the store: its words decide. */
static enum mailer_result result_of(int number, const char *text)
{
    static const char *const full[] = {"maximum bytes exceeded", "maximum messages exceeded", "maximum messages per subject exceeded",
                                       "insufficient", "resource limits exceeded", "resources exceeded", "no space left", NULL};
    if (says(text, full)) {
        return MAILER_FULL;
    }
    bool store = number == 10077; /* some other failure of the server's disk */
    return store || number == WRONG_STREAM ? MAILER_UNAVAILABLE : MAILER_REFUSED;
}

static int number_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valueint : 0;
}

static void read_error(const cJSON *error, struct mailer_answer *answer)
{
    const cJSON *description = cJSON_GetObjectItemCaseSensitive(error, "description");
    const char *text = cJSON_IsString(description) ? description->valuestring : "no reason given";
    int code = number_of(error, "code");
    int number = number_of(error, "err_code");
    answer->result = result_of(number, text);
    bool passes = (number >= NO_LEADER_FIRST && number <= NO_LEADER_LAST) || number == ID_IN_PROCESS ||
                  (code == 503 && answer->result != MAILER_FULL && number != 10077);
    answer->kind = passes ? MAILER_ANSWER_LATER : MAILER_ANSWER_FAILED;
    snprintf(answer->text, sizeof answer->text, "JetStream: %.120s (%d)%s", text, number,
             number == WRONG_STREAM ? ": another stream takes this subject" : "");
}

/* {"stream":"NAME", "seq":N}, as nats-server writes nearly all of them: read without a tree. False: some other answer. */
static bool read_plain(struct span answer, uint64_t *sequence)
{
    static const char start[] = "{\"stream\":\"";
    static const char middle[] = "\", \"seq\":";
    const size_t start_length = sizeof start - 1;
    const size_t middle_length = sizeof middle - 1;
    if (answer.length < start_length || memcmp(answer.data, start, start_length) != 0) {
        return false;
    }
    const uint8_t *end = answer.data + answer.length;
    const uint8_t *quote = memchr(answer.data + start_length, '"', answer.length - start_length);
    if (quote == NULL || (size_t)(end - quote) <= middle_length || memcmp(quote, middle, middle_length) != 0 || end[-1] != '}') {
        return false;
    }
    const uint8_t *digits = quote + middle_length;
    int64_t number = 0;
    bool read = letter_text_number((struct span){digits, (size_t)(end - 1 - digits)}, 1, SEQUENCE_MOST, &number);
    *sequence = (uint64_t)number;
    return read;
}

void mailer_answer_read(const char *bytes, size_t length, struct mailer_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    if (bytes != NULL && read_plain((struct span){(const uint8_t *)bytes, length}, &answer->sequence)) {
        answer->kind = MAILER_ANSWER_KEPT;
        return;
    }
    cJSON *root = cJSON_ParseWithLength(bytes == NULL ? "" : bytes, length);
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
    const cJSON *sequence = cJSON_GetObjectItemCaseSensitive(root, "seq");
    if (error != NULL) {
        read_error(error, answer);
    } else if (cJSON_IsNumber(sequence) && sequence->valuedouble >= 1 && sequence->valuedouble <= (double)SEQUENCE_MOST) {
        answer->sequence = (uint64_t)sequence->valuedouble;
        bool duplicate = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "duplicate"));
        answer->kind = duplicate ? MAILER_ANSWER_DUPLICATE : MAILER_ANSWER_KEPT;
    } else {
        answer->kind = MAILER_ANSWER_LATER;
        snprintf(answer->text, sizeof answer->text, "an answer that is none of JetStream's");
    }
    cJSON_Delete(root);
}
