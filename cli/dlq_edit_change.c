#include "cli/dlq_edit_change.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ops/config_value.h"

#define TOPIC_MAX 249
#define VALUE_MAX ((size_t)512 * 1024 * 1024)
#define HEADERS_MAX ((size_t)256 * 1024 * 1024)
#define CHUNK ((size_t)64 * 1024)

struct dlq_edit_change dlq_edit_change_new(const char *verb)
{
    return (struct dlq_edit_change){.verb = verb, .value = buffer_new(VALUE_MAX), .encoded = buffer_new(HEADERS_MAX)};
}

void dlq_edit_change_free(struct dlq_edit_change *change)
{
    buffer_free(&change->value);
    buffer_free(&change->encoded);
}

/* ---------------------------------------------------------------------------------------------------------- flags */

static enum options_result wrong(const struct dlq_edit_change *change, const char *flag, const char *what)
{
    fprintf(stderr, "tarry %s: %s %s\n", change->verb, flag, what);
    return OPTIONS_WRONG;
}

static enum options_result take_header(struct dlq_edit_change *change, const char *flag, const char *text, bool set)
{
    const char *equals = set ? strchr(text, '=') : text + strlen(text);
    if (equals == NULL || equals == text) {
        return wrong(change, flag, set ? "needs NAME=VALUE" : "needs the name of a header");
    }
    if (change->header_count == DLQ_EDIT_CHANGE_HEADERS_MAX) {
        return wrong(change, flag, "is given too often");
    }
    struct span name = {(const uint8_t *)text, (size_t)(equals - text)};
    change->headers[change->header_count++] = (struct dlq_edit_header){name, set ? span_of_text(equals + 1) : SPAN_ABSENT};
    return OPTIONS_TAKEN;
}

static enum options_result take_value(struct dlq_edit_change *change, size_t which, const char *flag, const char *value)
{
    bool topic = config_value_name(value, TOPIC_MAX, NULL) && strcmp(value, ".") != 0 && strcmp(value, "..") != 0;
    switch (which) {
    case 0:
        change->target = value;
        return topic ? OPTIONS_TAKEN : wrong(change, flag, "needs a topic of Kafka: 1 to 249 of a-z A-Z 0-9 . _ -, not . or ..");
    case 1:
        change->key = value;
        return OPTIONS_TAKEN;
    case 2:
        change->value_file = value;
        return OPTIONS_TAKEN;
    default:
        return take_header(change, flag, value, which == 3);
    }
}

enum options_result dlq_edit_change_take(struct dlq_edit_change *change, int argc, char **argv, int *index)
{
    static const char *const names[] = {"--target", "--key", "--value-file", "--set-header", "--remove-header"};
    const char *value = NULL;
    bool key_null = strcmp(argv[*index], "--key-null") == 0;
    if (key_null || strcmp(argv[*index], "--value-null") == 0) {
        change->key_null = change->key_null || key_null;
        change->value_null = change->value_null || !key_null;
        *index += 1;
        return OPTIONS_TAKEN;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (options_value(argc, argv, index, names[i], &value)) {
            return value == NULL ? wrong(change, names[i], "needs a value") : take_value(change, i, names[i], value);
        }
    }
    return OPTIONS_UNKNOWN;
}

/* ------------------------------------------------------------------------------------------------------- applying */

static bool read_file(FILE *file, const char *name, struct buffer *bytes, struct error *error)
{
    size_t count = 0;
    do {
        uint8_t *room = buffer_extend(bytes, CHUNK);
        if (room == NULL) {
            return error_set(error, ERROR_INVALID, "%s is larger than %zu bytes", name, VALUE_MAX);
        }
        count = fread(room, 1, CHUNK, file);
        bytes->length -= CHUNK - count;
    } while (count > 0);
    return !ferror(file) || error_set(error, ERROR_SYSTEM, "%s could not be read: %s", name, strerror(errno));
}

static bool read_value(struct dlq_edit_change *change, struct error *error)
{
    if (strcmp(change->value_file, "-") == 0) {
        return read_file(stdin, "standard input", &change->value, error);
    }
    FILE *file = fopen(change->value_file, "rb");
    if (file == NULL) {
        return error_set(error, ERROR_SYSTEM, "%s could not be opened: %s", change->value_file, strerror(errno));
    }
    bool read = read_file(file, change->value_file, &change->value, error);
    (void)fclose(file);
    return read;
}

static bool is_changed(const struct dlq_edit_change *change, struct span name)
{
    for (size_t i = 0; i < change->header_count; i++) {
        if (span_equal(change->headers[i].name, name)) {
            return true;
        }
    }
    return false;
}

static bool change_headers(struct dlq_edit_change *change, struct letter *letter, struct error *error)
{
    struct span rest = letter->record.headers;
    struct span name;
    struct span value;
    while (letter_next_header(&rest, &name, &value)) {
        if (!is_changed(change, name)) {
            letter_add_header(&change->encoded, name, value);
        }
    }
    for (size_t i = 0; i < change->header_count; i++) {
        if (change->headers[i].value.data != NULL) {
            letter_add_header(&change->encoded, change->headers[i].name, change->headers[i].value);
        }
    }
    letter->record.headers = buffer_span(&change->encoded);
    return !change->encoded.full || error_set(error, ERROR_INVALID, "the headers take more than %zu bytes", HEADERS_MAX);
}

bool dlq_edit_change_apply(struct dlq_edit_change *change, struct letter *letter, struct error *error)
{
    if (change->target != NULL) {
        letter->target = span_of_text(change->target);
        letter->target_partition = -1;
    }
    if (change->key != NULL || change->key_null) {
        letter->record.key = change->key_null ? SPAN_ABSENT : span_of_text(change->key);
    }
    if (change->value_file != NULL && !change->value_null) {
        if (!read_value(change, error)) {
            return false;
        }
        letter->record.value = buffer_span(&change->value);
    }
    if (change->value_null) {
        letter->record.value = SPAN_ABSENT;
    }
    return change->header_count == 0 || change_headers(change, letter, error);
}
