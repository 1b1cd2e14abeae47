/* A filter as text: for a job's record, and for people. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/base64.h"
#include "cli/dlq_filter_state.h"
#include "ops/clock.h"

#define ARGUMENT_MAX ((size_t)4 * 1024 * 1024) /* more than the system takes as one argument, in base64 */

static const char *const names[DLQ_FILTER_KINDS] = {"--state", "--reason", "--error", "--target", "--key", "--header", "--id"};

/* Bytes that neither a job's JSON nor an argument can hold. */
static bool is_text(struct span bytes)
{
    return text_is_utf8(bytes) && (bytes.length == 0 || memchr(bytes.data, '\0', bytes.length) == NULL);
}

static void write_term(const struct dlq_filter_term *term, struct buffer *argument)
{
    struct span value = term->kind == DLQ_FILTER_HEADER ? term->value : term->bytes;
    bool plain = is_text(value);
    buffer_add_text(argument, names[term->kind]);
    buffer_add_text(argument, plain ? "=" : "-base64=");
    if (term->kind == DLQ_FILTER_HEADER) {
        buffer_add_span(argument, term->bytes);
        buffer_add_text(argument, value.data == NULL ? "" : "=");
    }
    if (plain) {
        buffer_add_span(argument, value);
    } else {
        base64_write(value, argument);
    }
    buffer_add(argument, "", 1);
}

static void each_time(int64_t ms, int64_t not_given, const char *name, void (*each)(void *, const char *), void *context)
{
    char time[CLOCK_TEXT_SIZE];
    char argument[CLOCK_TEXT_SIZE + 16];
    if (ms != not_given) {
        clock_text((struct wall_ms){ms}, time, sizeof time);
        (void)snprintf(argument, sizeof argument, "%s=%s", name, time);
        each(context, argument);
    }
}

void dlq_filter_arguments(const struct dlq_filter *filter, void (*each)(void *context, const char *argument), void *context)
{
    struct buffer argument = buffer_new(ARGUMENT_MAX);
    for (size_t i = 0; i < filter->count; i++) {
        buffer_clear(&argument);
        write_term(&filter->terms[i], &argument);
        each(context, (const char *)argument.data);
    }
    buffer_free(&argument);
    each_time(filter->since_ms, INT64_MIN, "--since", each, context);
    each_time(filter->until_ms, INT64_MAX, "--until", each, context);
    if (filter->limit > 0) {
        char text[40];
        (void)snprintf(text, sizeof text, "--limit=%" PRId64, filter->limit);
        each(context, text);
    }
}

/* Nothing in it that a shell would read otherwise. */
static bool is_plain(const char *argument)
{
    return argument[strspn(argument, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+./:,@%")] == '\0';
}

static size_t count_of(const char *text, char wanted)
{
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += *text == wanted;
    }
    return count;
}

static void add_replaced(struct buffer *text, const char *from, char old, const char *replacement)
{
    for (; *from != '\0'; from++) {
        if (*from == old) {
            buffer_add_text(text, replacement);
        } else {
            buffer_add(text, from, 1);
        }
    }
}

/* As it is; in '...'; or, with what a terminal must not get, in $'...', which bash and zsh read back. */
static void add_quoted(void *context, const char *argument)
{
    struct buffer *text = context;
    size_t room = strlen(argument) * (TEXT_ESCAPE_MAX - 1) + 1;
    char *shown = memory_new(room, 1);
    size_t length = text_printable(span_of_text(argument), shown, room);
    buffer_add_text(text, text->length == 0 ? "" : " ");
    if (is_plain(argument)) {
        buffer_add_text(text, argument);
    } else if (length == strlen(argument) + count_of(argument, '\\')) {
        buffer_add_text(text, "'");
        add_replaced(text, argument, '\'', "'\\''");
        buffer_add_text(text, "'");
    } else {
        buffer_add_text(text, "$'");
        add_replaced(text, shown, '\'', "\\'");
        buffer_add_text(text, "'");
    }
    free(shown);
}

void dlq_filter_text(const struct dlq_filter *filter, struct buffer *text)
{
    size_t before = text->length;
    struct buffer own = buffer_new(text->most - before);
    dlq_filter_arguments(filter, add_quoted, &own);
    buffer_add_span(text, buffer_span(&own));
    buffer_free(&own);
    if (text->length == before) {
        buffer_add_text(text, "all letters");
    }
}
