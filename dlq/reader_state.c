#include "dlq/reader_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOKENS_MAX 12
#define TOKENS_SHORT 9 /* with the two of the prefix */

int64_t reader_state_clock_ms(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

struct span reader_state_body(natsMsg *message)
{
    int length = natsMsg_GetDataLength(message);
    return length > 0 ? (struct span){(const uint8_t *)natsMsg_GetData(message), (size_t)length} : span_of_text("");
}

static size_t split(const char *text, const char *tokens[TOKENS_MAX])
{
    size_t count = 0;
    while (text != NULL && count < TOKENS_MAX) {
        tokens[count++] = text;
        text = strchr(text, '.');
        text = text == NULL ? NULL : text + 1;
    }
    return count;
}

static bool number(const char *token, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(token, &end, 10);
    return errno == 0 && end != token && (*end == '.' || *end == '\0');
}

bool reader_state_place(const char *reply, struct reader_state_place *place)
{
    const char *tokens[TOKENS_MAX];
    size_t count = reply != NULL && strncmp(reply, "$JS.ACK.", 8) == 0 ? split(reply, tokens) : 0;
    if (count != TOKENS_SHORT && count < TOKENS_SHORT + 2) {
        return false;
    }
    size_t first = count == TOKENS_SHORT ? 5 : 7; /* the sequence: behind stream, consumer and number of deliveries */
    uint64_t stored_ns = 0;
    if (!number(tokens[first], &place->sequence) || !number(tokens[first + 1], &place->consumer_sequence) ||
        !number(tokens[first + 2], &stored_ns) || stored_ns > INT64_MAX || !number(tokens[first + 3], &place->pending)) {
        return false;
    }
    place->stored_ns = (int64_t)stored_ns;
    return true;
}

bool reader_state_error(struct link_session *session, const char *doing, const char *stream, natsStatus status, jsErrCode code, struct error *error)
{
    (void)link_session_failure(session, status, code, error);
    if (error != NULL) {
        bool absent = code == JSStreamNotFoundErr || code == JSNoMessageFoundErr || code == JSSequenceNotFoundErr;
        error->code = absent ? ERROR_NOT_FOUND : ERROR_UNAVAILABLE;
    }
    return error_prefix(error, "%s %s", doing, stream);
}
