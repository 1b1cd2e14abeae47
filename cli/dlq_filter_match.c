/* Whether a letter is meant. */
#include <string.h>

#include "cli/dlq_filter_state.h"
#include "dlq/subject.h"

static bool has_header(const struct letter *letter, const struct dlq_filter_term *term)
{
    struct span rest = letter->record.headers;
    struct span name;
    struct span value;
    while (letter_next_header(&rest, &name, &value)) {
        if (span_equal(name, term->bytes) && (term->value.data == NULL || span_equal(value, term->value))) {
            return true;
        }
    }
    return false;
}

static bool error_matches(const struct letter *letter, const struct dlq_filter_term *term)
{
    char text[LETTER_ERROR_MAX + 1]; /* regexec wants its NUL */
    size_t length = letter->error.length < LETTER_ERROR_MAX ? letter->error.length : LETTER_ERROR_MAX;
    if (length > 0) {
        memcpy(text, letter->error.data, length);
    }
    text[length] = '\0';
    return regexec(term->as.expression, text, 0, NULL, 0) == 0;
}

static bool target_matches(const struct letter *letter, const struct dlq_filter_term *term)
{
    return letter->target.data == NULL ? span_equals_text(term->bytes, SUBJECT_REFUSED) : span_equal(letter->target, term->bytes);
}

static bool term_matches(const struct dlq_filter_term *term, const struct letter *letter, enum letter_state state)
{
    switch (term->kind) {
    case DLQ_FILTER_STATE:
        return term->as.state == state;
    case DLQ_FILTER_REASON:
        return term->as.reason == letter->reason;
    case DLQ_FILTER_ERROR:
        return error_matches(letter, term);
    case DLQ_FILTER_TARGET:
        return target_matches(letter, term);
    case DLQ_FILTER_KEY:
        return span_equal(letter->record.key, term->bytes);
    case DLQ_FILTER_HEADER:
        return has_header(letter, term);
    case DLQ_FILTER_ID:
        return span_equals_text(term->bytes, letter->id) || span_equal(letter->schedule_id, term->bytes);
    case DLQ_FILTER_KINDS:
        break;
    }
    return false;
}

bool dlq_filter_matches(const struct dlq_filter *filter, const struct letter *letter, enum letter_state state)
{
    bool given[DLQ_FILTER_KINDS] = {false};
    bool met[DLQ_FILTER_KINDS] = {false};
    if (letter->last_failure_ms < filter->since_ms || letter->last_failure_ms >= filter->until_ms) {
        return false;
    }
    for (size_t i = 0; i < filter->count; i++) {
        const struct dlq_filter_term *term = &filter->terms[i];
        given[term->kind] = true;
        bool matches = (met[term->kind] && term->kind != DLQ_FILTER_HEADER) || term_matches(term, letter, state);
        if (!matches && term->kind == DLQ_FILTER_HEADER) {
            return false; /* all of them are wanted */
        }
        met[term->kind] = met[term->kind] || matches;
    }
    for (int kind = 0; kind < DLQ_FILTER_KINDS; kind++) {
        if (given[kind] && !met[kind]) {
            return false;
        }
    }
    return true;
}

bool dlq_filter_wants(const struct dlq_filter *filter, enum letter_state state)
{
    bool given = false;
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->terms[i].kind == DLQ_FILTER_STATE) {
            given = true;
            if (filter->terms[i].as.state == state) {
                return true;
            }
        }
    }
    return !given;
}

bool dlq_filter_needs_record(const struct dlq_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->terms[i].kind == DLQ_FILTER_KEY || filter->terms[i].kind == DLQ_FILTER_HEADER) {
            return true;
        }
    }
    return false;
}

struct span dlq_filter_only_target(const struct dlq_filter *filter)
{
    struct span only = SPAN_ABSENT;
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->terms[i].kind == DLQ_FILTER_TARGET) {
            if (only.data != NULL && !span_equal(only, filter->terms[i].bytes)) {
                return SPAN_ABSENT;
            }
            only = filter->terms[i].bytes;
        }
    }
    return only;
}

bool dlq_filter_is_all(const struct dlq_filter *filter)
{
    return filter->count == 0 && filter->since_ms == INT64_MIN && filter->until_ms == INT64_MAX && filter->limit == 0;
}
