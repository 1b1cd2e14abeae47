#include "tests/support/write_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "tests/support/await.h"
#include "tests/support/http_client.h"

struct write_client_answer write_client_try(int port, const char *method, const char *path, const char *key, const char *body)
{
    struct write_client_answer answer = {0};
    char headers[512];
    int64_t begun_ms = await_mono_ms();
    (void)snprintf(headers, sizeof(headers), "Host: 127.0.0.1\r\nContent-Type: application/json\r\n%s%s%s", key == NULL ? "" : "Idempotency-Key: ", key == NULL ? "" : key,
                   key == NULL ? "" : "\r\n");
    char *text = http_client_send_body((uint16_t)port, method, path, headers, body == NULL ? "" : body, body == NULL ? 0 : strlen(body));
    answer.took_ms = await_mono_ms() - begun_ms;
    if (text != NULL) {
        answer.status = http_client_status(text);
        answer.document = cJSON_Parse(http_client_body(text));
    }
    free(text);
    return answer;
}

struct write_client_answer write_client_expect(int port, const char *method, const char *path, const char *body, int status, const char *said)
{
    struct write_client_answer answer = write_client_try(port, method, path, NULL, body);
    const char *word = write_client_text(&answer, status < 300 ? "result" : "code");
    if (answer.document == NULL || answer.status != status || (said != NULL && (word == NULL || strcmp(word, said) != 0))) {
        char *text = answer.document == NULL ? NULL : cJSON_PrintUnformatted(answer.document);
        fail_msg("%s %s %s: %d %s, not %d %s", method, path, body == NULL ? "" : body, answer.status, text == NULL ? "" : text, status, said == NULL ? "" : said);
    }
    return answer;
}

void write_client_check(int port, const char *method, const char *path, const char *body, int status, const char *said)
{
    struct write_client_answer answer = write_client_expect(port, method, path, body, status, said);
    write_client_free(&answer);
}

static const cJSON *find(const struct write_client_answer *answer, const char *name)
{
    char first[64];
    const char *dot = strchr(name, '.');
    if (dot == NULL) {
        return cJSON_GetObjectItemCaseSensitive(answer->document, name);
    }
    (void)snprintf(first, sizeof(first), "%.*s", (int)(dot - name), name);
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(answer->document, first), dot + 1);
}

const char *write_client_text(const struct write_client_answer *answer, const char *name)
{
    return cJSON_GetStringValue(find(answer, name));
}

double write_client_number(const struct write_client_answer *answer, const char *name)
{
    const cJSON *member = find(answer, name);
    return cJSON_IsNumber(member) ? member->valuedouble : -1;
}

void write_client_free(struct write_client_answer *answer)
{
    cJSON_Delete(answer->document);
    answer->document = NULL;
}
