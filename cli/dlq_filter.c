/* From flags to terms. */
#include "cli/dlq_filter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/memory.h"
#include "base/text.h"
#include "bridge/delay_text.h"
#include "bridge/due.h"
#include "bridge/target.h"
#include "bridge/time_text.h"
#include "cli/base64.h"
#include "cli/dlq_filter_state.h"
#include "dlq/subject.h"
#include "ops/config_near.h"
#include "ops/config_value.h"

#define LIMIT_MOST INT64_C(1000000000000)

struct flag {
    const char *name;
    bool (*set)(struct dlq_filter *filter, const struct flag *flag, const char *value);
    enum dlq_filter_kind kind;
};

struct dlq_filter dlq_filter_new(const char *verb, int64_t now_ms)
{
    return (struct dlq_filter){.verb = verb, .now_ms = now_ms, .since_ms = INT64_MIN, .until_ms = INT64_MAX};
}

void dlq_filter_free(struct dlq_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        struct dlq_filter_term *term = &filter->terms[i];
        if (term->kind == DLQ_FILTER_ERROR) {
            regfree(term->as.expression);
            free(term->as.expression);
        }
        free((void *)(uintptr_t)term->bytes.data);
        free((void *)(uintptr_t)term->value.data);
    }
    free(filter->terms);
    *filter = dlq_filter_new(filter->verb, filter->now_ms);
}

/* ------------------------------------------------------------------------------------------------------ values */

static struct span copy(struct span bytes)
{
    return (struct span){(const uint8_t *)memory_text(bytes.data, bytes.length), bytes.length};
}

/* A new term with a copy of the bytes; NULL: there are too many, told. */
static struct dlq_filter_term *add(struct dlq_filter *filter, enum dlq_filter_kind kind, struct span bytes)
{
    if (filter->count == DLQ_FILTER_TERMS_MAX) {
        fprintf(stderr, "tarry %s: more than %d flags that choose letters: choose by what they have in common\n",
                filter->verb, DLQ_FILTER_TERMS_MAX);
        return NULL;
    }
    filter->terms = memory_resize(filter->terms, filter->count + 1, sizeof *filter->terms);
    struct dlq_filter_term *term = &filter->terms[filter->count];
    *term = (struct dlq_filter_term){.kind = kind, .bytes = copy(bytes)};
    filter->count += 1;
    return term;
}

static bool __attribute__((format(printf, 4, 5)))
wrong(const struct dlq_filter *filter, const struct flag *flag, const char *value, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof text, format, arguments) < 0) {
        text[0] = '\0';
    }
    va_end(arguments);
    fprintf(stderr, "tarry %s: %s is %s: %s\n", filter->verb, flag->name, config_value_show(value).text, text);
    return false;
}

static bool set_state(struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    unsigned index;
    if (!config_value_choice(value, "waiting|parked", &index, NULL)) {
        return wrong(filter, flag, value, "give waiting or parked");
    }
    struct dlq_filter_term *term = add(filter, flag->kind, span_of_text(value));
    if (term != NULL) {
        term->as.state = index == 0 ? LETTER_WAITING : LETTER_PARKED;
    }
    return term != NULL;
}

static bool reason_is_wrong(const struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    char known[512] = "";
    size_t used = 0;
    size_t distance;
    for (int i = 0; i < LETTER_REASONS; i++) {
        const char *name = letter_reason_name((enum letter_reason)i);
        if (config_near_is(value, name, &distance)) {
            return wrong(filter, flag, value, "there is no such reason; did you mean %s?", name);
        }
        int length = snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", name);
        used += length > 0 && (size_t)length < sizeof known - used ? (size_t)length : 0;
    }
    fprintf(stderr, "tarry %s: %s is %s: it is one of %s\n", filter->verb, flag->name, config_value_show(value).text, known);
    return false;
}

static bool set_reason(struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    enum letter_reason reason;
    if (!letter_reason_of(span_of_text(value), &reason)) {
        return reason_is_wrong(filter, flag, value);
    }
    struct dlq_filter_term *term = add(filter, flag->kind, span_of_text(value));
    if (term != NULL) {
        term->as.reason = reason;
    }
    return term != NULL;
}

/*
 * Whether the expression is one that takes only so much time and memory: glibc compiles a{n,m} into m copies of a, copies of copies multiply, and backreferences
 * match by trying.
 */
static bool is_bounded(const char *expression)
{
    uint64_t copies = 1;
    for (const char *at = expression; *at != '\0'; at++) {
        if (*at == '\\' && at[1] >= '1' && at[1] <= '9') {
            return false;
        }
        if (*at == '\\' && at[1] != '\0') {
            at++;
            continue;
        }
        uint64_t most = 0;
        for (const char *digit = at + 1; *at == '{' && ((*digit >= '0' && *digit <= '9') || *digit == ','); digit++) {
            most = *digit == ',' ? 0 : most * 10 + (uint64_t)(*digit - '0');
            if (most > 1000) {
                return false;
            }
        }
        copies *= most > 1 ? most : 1;
        if (copies > 1000) {
            return false;
        }
    }
    return true;
}

static bool set_error(struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    if (strlen(value) > DLQ_FILTER_EXPRESSION_MAX || !text_is_utf8(span_of_text(value))) {
        return wrong(filter, flag, value, "an expression is at most %d bytes of UTF-8", DLQ_FILTER_EXPRESSION_MAX);
    }
    if (!is_bounded(value)) {
        return wrong(filter, flag, value, "no backreferences, and at most 1,000 repetitions by {n}: they could take for ever");
    }
    regex_t *expression = memory_new(1, sizeof *expression);
    int code = regcomp(expression, value, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        char text[128];
        (void)regerror(code, expression, text, sizeof text);
        free(expression);
        return wrong(filter, flag, value, "not an extended regular expression: %s", text);
    }
    struct dlq_filter_term *term = add(filter, flag->kind, span_of_text(value));
    if (term == NULL) {
        regfree(expression);
        free(expression);
        return false;
    }
    term->as.expression = expression;
    return true;
}

static bool set_target(struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    if (strcmp(value, SUBJECT_REFUSED) != 0 && !target_name_valid(span_of_text(value))) {
        return wrong(filter, flag, value, "no topic can have this name; give a whole name, or " SUBJECT_REFUSED);
    }
    return add(filter, flag->kind, span_of_text(value)) != NULL;
}

static bool set_bytes(struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    return add(filter, flag->kind, span_of_text(value)) != NULL;
}

static bool set_base64(struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    struct buffer bytes = buffer_new(strlen(value) + 1);
    bool read = base64_read(span_of_text(value), &bytes);
    bool done = read ? add(filter, flag->kind, buffer_span(&bytes)) != NULL : wrong(filter, flag, value, "not base64");
    buffer_free(&bytes);
    return done;
}

static bool add_header(struct dlq_filter *filter, const struct flag *flag, const char *text, struct span value)
{
    size_t length = strcspn(text, "=");
    struct span name = {(const uint8_t *)text, length};
    if (length == 0 || !text_is_utf8(name)) {
        return wrong(filter, flag, text, "give NAME=VALUE, or NAME alone for any value; the name in UTF-8");
    }
    struct dlq_filter_term *term = add(filter, flag->kind, name);
    if (term != NULL && value.data != NULL) {
        term->value = copy(value);
    }
    return term != NULL;
}

static bool set_header(struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    const char *equals = strchr(value, '=');
    return add_header(filter, flag, value, span_of_text(equals == NULL ? NULL : equals + 1));
}

static bool set_header_base64(struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    const char *equals = strchr(value, '=');
    struct buffer bytes = buffer_new(strlen(value) + 1);
    bool read = equals != NULL && base64_read(span_of_text(equals + 1), &bytes);
    bool done = read ? add_header(filter, flag, value, buffer_span(&bytes)) : wrong(filter, flag, value, "give NAME=BASE64");
    buffer_free(&bytes);
    return done;
}

static bool read_time(const struct dlq_filter *filter, const struct flag *flag, const char *value, int64_t *ms)
{
    return dlq_filter_time(value, filter->now_ms, ms) ||
           wrong(filter, flag, value, "give RFC 3339 (2026-11-29T14:00:00Z), epoch milliseconds, now, or 10m: that long ago");
}

static bool set_since(struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    return read_time(filter, flag, value, &filter->since_ms);
}

static bool set_until(struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    return read_time(filter, flag, value, &filter->until_ms);
}

static bool set_limit(struct dlq_filter *filter, const struct flag *flag, const char *value)
{
    int64_t limit;
    if (!config_value_count(value, &limit, NULL) || limit < 1 || limit > LIMIT_MOST) {
        return wrong(filter, flag, value, "give a whole number from 1 on");
    }
    filter->limit = limit;
    return true;
}

/* ------------------------------------------------------------------------------------------------------- flags */

static const struct flag FLAGS[] = {
    {"--state", set_state, DLQ_FILTER_STATE},
    {"--reason", set_reason, DLQ_FILTER_REASON},
    {"--error", set_error, DLQ_FILTER_ERROR},
    {"--target", set_target, DLQ_FILTER_TARGET},
    {"--key", set_bytes, DLQ_FILTER_KEY},
    {"--key-base64", set_base64, DLQ_FILTER_KEY},
    {"--header", set_header, DLQ_FILTER_HEADER},
    {"--header-base64", set_header_base64, DLQ_FILTER_HEADER},
    {"--id", set_bytes, DLQ_FILTER_ID},
    {"--id-base64", set_base64, DLQ_FILTER_ID},
    {"--since", set_since, DLQ_FILTER_KINDS},
    {"--until", set_until, DLQ_FILTER_KINDS},
    {"--limit", set_limit, DLQ_FILTER_KINDS},
};

enum options_result dlq_filter_take(struct dlq_filter *filter, int argc, char **argv, int *index)
{
    for (size_t i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; i++) {
        const struct flag *flag = &FLAGS[i];
        const char *value = NULL;
        if (!options_value(argc, argv, index, flag->name, &value)) {
            continue;
        }
        bool may_be_empty = flag->kind == DLQ_FILTER_KEY;
        if (value == NULL || (value[0] == '\0' && !may_be_empty)) {
            fprintf(stderr, "tarry %s: %s needs a value\n", filter->verb, flag->name);
            return OPTIONS_WRONG;
        }
        return flag->set(filter, flag, value) ? OPTIONS_TAKEN : OPTIONS_WRONG;
    }
    return OPTIONS_UNKNOWN;
}

bool dlq_filter_add_id(struct dlq_filter *filter, const char *id)
{
    return add(filter, DLQ_FILTER_ID, span_of_text(id)) != NULL;
}

bool dlq_filter_time(const char *text, int64_t now_ms, int64_t *ms)
{
    struct span span = span_of_text(text);
    int64_t number;
    if (strcmp(text, "now") == 0) {
        *ms = now_ms;
        return true;
    }
    if (time_text_parse(span, ms)) {
        return true;
    }
    bool ago = text[0] != '\0' && strchr("dhms", text[span.length - 1]) != NULL;
    if (delay_text_parse(span, &number) != DECIMAL_READ) {
        return false;
    }
    if (!ago) {
        *ms = number;
        return number >= DUE_LEAST_MS && number <= TIME_TEXT_LAST_MS;
    }
    return checked_add_i64(now_ms, -number, ms);
}
