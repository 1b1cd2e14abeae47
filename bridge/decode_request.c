/* Header tarry-request: a word by which who wrote a record knows it again when it is read. It decides nothing. */
#include "bridge/decode_request.h"

#include "bridge/refusal.h"

#define NAME "tarry-request"
#define ROOT "tarry-root"

bool decode_request_valid(struct span value)
{
    if (value.data == NULL || value.length < 1 || value.length > DECODE_REQUEST_MAX) {
        return false;
    }
    for (size_t i = 0; i < value.length; i++) {
        if (value.data[i] <= ' ' || value.data[i] > '~') {
            return false;
        }
    }
    return true;
}

bool decode_request_read(const struct dialect_controls *controls, bool lenient, struct span *request, struct refusal *refusal)
{
    const struct record_header *header = &controls->headers[DIALECT_REQUEST];
    if (!dialect_given(controls, DIALECT_REQUEST)) {
        return true;
    }
    if (decode_request_valid(header->value)) {
        *request = header->value;
        return true;
    }
    return lenient || refusal_set(refusal, REFUSAL_UNSUPPORTED,
                                  "header %s must have 1 to %d printable characters of ASCII without blanks: tarry writes it on what its API is asked for, leave it out",
                                  refusal_show(header->name).text, DECODE_REQUEST_MAX);
}

static bool is_read(const struct decode_rules *rules)
{
    for (size_t i = 0; i < rules->dialect_count; i++) {
        if (dialect_find(rules->dialects[i], span_of_text(NAME)) != NULL) {
            return true;
        }
    }
    return false;
}

struct span decode_request(const struct decode_rules *rules, const struct record *record)
{
    struct span found = SPAN_ABSENT;
    for (size_t i = 0; i < record->header_count; i++) {
        const struct record_header *header = &record->headers[i];
        if (span_equals_text(header->name, ROOT) || (found.data != NULL && span_equals_text(header->name, NAME))) {
            return SPAN_ABSENT;
        }
        if (span_equals_text(header->name, NAME)) {
            found = header->value;
        }
    }
    return decode_request_valid(found) && is_read(rules) ? found : SPAN_ABSENT;
}
