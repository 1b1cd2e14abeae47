/* See http_uri.h. */
#include "ops/http_uri.h"

#include <string.h>

#include "base/memory.h"

/* Writes what is read so far, one byte behind the other. */
struct reading {
    uint8_t *at;
    bool bad;
};

static int digit_of(uint8_t byte)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = byte == 0 ? NULL : strchr(digits, byte | (byte >= 'A' && byte <= 'F' ? 0x20 : 0));
    return found == NULL ? -1 : (int)(found - digits);
}

static struct span decode(struct reading *reading, struct span text, bool plus_is_blank)
{
    uint8_t *start = reading->at;
    for (size_t i = 0; i < text.length; i++) {
        uint8_t byte = text.data[i];
        if (byte == '%') {
            int high = i + 2 < text.length ? digit_of(text.data[i + 1]) : -1;
            int low = high < 0 ? -1 : digit_of(text.data[i + 2]);
            reading->bad = reading->bad || low < 0;
            byte = (uint8_t)(low < 0 ? 0 : high << 4 | low);
            i += 2;
        } else if (byte == '+' && plus_is_blank) {
            byte = ' ';
        }
        *reading->at++ = byte;
    }
    return (struct span){start, (size_t)(reading->at - start)};
}

static void read_pair(struct reading *reading, struct span text, struct http_request_pair *pair)
{
    const uint8_t *equals = memchr(text.data, '=', text.length);
    size_t name_length = equals == NULL ? text.length : (size_t)(equals - text.data);
    size_t skipped = equals == NULL ? text.length : name_length + 1;
    pair->name = decode(reading, (struct span){text.data, name_length}, true);
    pair->value = decode(reading, (struct span){text.data + skipped, text.length - skipped}, true);
}

/* False: too many. */
static bool read_query(struct http_request *request, struct reading *reading, const char *query)
{
    while (*query != '\0') {
        size_t length = strcspn(query, "&");
        if (length > 0 && request->query_count == HTTP_REQUEST_QUERY_MOST) {
            return false;
        }
        if (length > 0) {
            read_pair(reading, (struct span){(const uint8_t *)query, length}, &request->query[request->query_count++]);
        }
        query += length + (query[length] == '&' ? 1 : 0);
    }
    return true;
}

static bool is_dots(struct span text)
{
    return span_equals_text(text, ".") || span_equals_text(text, "..");
}

static size_t length_of(const char *text)
{
    return text == NULL ? 0 : strlen(text);
}

enum http_uri_result http_uri_read(struct http_request *request, struct span parameter, const char *query, const char *idempotency_key)
{
    /* Decoding never makes longer. */
    request->text = memory_new(parameter.length + length_of(query) + length_of(idempotency_key) + 1, 1);
    struct reading reading = {(uint8_t *)request->text, false};
    if (idempotency_key != NULL) {
        request->idempotency_key = (struct span){reading.at, strlen(idempotency_key)};
        memcpy(reading.at, idempotency_key, request->idempotency_key.length);
        reading.at += request->idempotency_key.length;
    }
    request->parameter = parameter.data == NULL ? SPAN_ABSENT : decode(&reading, parameter, false);
    if (query != NULL && !read_query(request, &reading, query)) {
        return HTTP_URI_TOO_MANY;
    }
    if (reading.bad) {
        return HTTP_URI_BAD_PERCENT;
    }
    return is_dots(request->parameter) ? HTTP_URI_DOTS : HTTP_URI_READ;
}
