#include "tests/support/exposition.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NAME_MAX_BYTES 128
#define SERIES_MAX 20000

enum family_type { TYPE_COUNTER, TYPE_GAUGE, TYPE_HISTOGRAM };

struct reader {
    char *problem;
    size_t size;
    size_t line;
    char help_name[NAME_MAX_BYTES]; /* of the last HELP line */
    char family[NAME_MAX_BYTES];
    enum family_type type;
    char **seen; /* families as "# name", series as written */
    size_t seen_count;
    /* The histogram series being read: */
    char group[1024];
    double last_bound;
    double last_count;
};

static bool fail(struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct reader *reader, const char *format, ...)
{
    int length = snprintf(reader->problem, reader->size, "line %zu: ", reader->line);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reader->problem + length, reader->size - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

static bool see(struct reader *reader, const char *what)
{
    for (size_t i = 0; i < reader->seen_count; i++) {
        if (strcmp(reader->seen[i], what) == 0) {
            return fail(reader, "%s is there twice", what);
        }
    }
    if (reader->seen_count == SERIES_MAX) {
        return fail(reader, "too many series");
    }
    reader->seen[reader->seen_count++] = strdup(what);
    return true;
}

static size_t name_length(const char *text, bool colon)
{
    size_t length = 0;
    while (isalpha((unsigned char)text[length]) || text[length] == '_' || (colon && text[length] == ':') ||
           (length > 0 && isdigit((unsigned char)text[length]))) {
        length++;
    }
    return length;
}

static bool copy_name(struct reader *reader, const char *text, char *name)
{
    size_t length = name_length(text, true);
    if (length == 0 || length >= NAME_MAX_BYTES) {
        return fail(reader, "bad metric name in %s", text);
    }
    memcpy(name, text, length);
    name[length] = '\0';
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool read_type(struct reader *reader, const char *text)
{
    if (!copy_name(reader, text, reader->family)) {
        return false;
    }
    const char *type = text + strlen(reader->family);
    if (strcmp(reader->family, reader->help_name) != 0) {
        return fail(reader, "TYPE of %s does not follow its HELP", reader->family);
    }
    if (strcmp(type, " counter") == 0) {
        reader->type = TYPE_COUNTER;
    } else if (strcmp(type, " gauge") == 0) {
        reader->type = TYPE_GAUGE;
    } else if (strcmp(type, " histogram") == 0) {
        reader->type = TYPE_HISTOGRAM;
    } else {
        return fail(reader, "unknown type%s", type);
    }
    if (ends_with(reader->family, "_total") != (reader->type == TYPE_COUNTER)) {
        return fail(reader, "%s: only counters, and all of them, end in _total", reader->family);
    }
    reader->group[0] = '\0';
    char family[NAME_MAX_BYTES + 2];
    (void)snprintf(family, sizeof(family), "# %s", reader->family);
    return see(reader, family);
}

static bool read_comment(struct reader *reader, const char *line)
{
    if (strncmp(line, "# HELP ", 7) == 0) {
        reader->family[0] = '\0';
        if (!copy_name(reader, line + 7, reader->help_name)) {
            return false;
        }
        const char *help = line + 7 + strlen(reader->help_name);
        return (help[0] == ' ' && help[1] != '\0') || fail(reader, "no help text");
    }
    return strncmp(line, "# TYPE ", 7) == 0 ? read_type(reader, line + 7)
                                            : fail(reader, "neither HELP nor TYPE: %s", line);
}

/* From a quote to past the closing one; NULL when it is malformed. */
static const char *skip_quoted(const char *at)
{
    if (*at++ != '"') {
        return NULL;
    }
    for (; *at != '"'; at++) {
        if (*at == '\0') {
            return NULL;
        }
        if (*at == '\\' && strchr("\\\"n", *++at) == NULL) {
            return NULL;
        }
        if (*at == '\0') {
            return NULL;
        }
    }
    return at + 1;
}

/* From '{' to past '}'. `le` gets the value of le, if any; group all but le. */
static const char *skip_labels(const char *at, char *le, char *group)
{
    at++;
    for (;;) {
        const char *label = at;
        size_t length = name_length(at, false);
        if (length == 0 || at[length] != '=') {
            return NULL;
        }
        const char *value = at + length + 1;
        at = skip_quoted(value);
        if (at == NULL) {
            return NULL;
        }
        if (length == 2 && strncmp(label, "le", 2) == 0) {
            (void)snprintf(le, 64, "%.*s", (int)(at - value - 2), value + 1);
        } else {
            (void)snprintf(group + strlen(group), 1024 - strlen(group), "%.*s,", (int)(at - label), label);
        }
        if (*at == '}') {
            return at + 1;
        }
        if (*at++ != ',') {
            return NULL;
        }
    }
}

static bool read_number(const char *text, double *value)
{
    if (strcmp(text, "+Inf") == 0) {
        *value = (double)INFINITY;
        return true;
    }
    if (text[0] == '\0' || strspn(text, "0123456789.e+-") != strlen(text)) {
        return false;
    }
    char *end;
    *value = strtod(text, &end);
    return *end == '\0';
}

static bool check_bucket(struct reader *reader, const char *group, const char *le, double value)
{
    double bound;
    if (!read_number(le, &bound)) {
        return fail(reader, "bad le \"%s\"", le);
    }
    if (strcmp(group, reader->group) != 0 || isinf(reader->last_bound)) {
        (void)snprintf(reader->group, sizeof(reader->group), "%s", group);
        reader->last_bound = -(double)INFINITY;
        reader->last_count = 0;
    }
    if (!(bound > reader->last_bound) && reader->last_bound > -1) {
        return fail(reader, "buckets are not in order");
    }
    if (value < reader->last_count) {
        return fail(reader, "buckets are not cumulative");
    }
    reader->last_bound = bound;
    reader->last_count = value;
    return true;
}

static bool check_histogram(struct reader *reader, const char *name, const char *group, const char *le, double value)
{
    const char *suffix = name + strlen(reader->family);
    if (strcmp(suffix, "_bucket") == 0) {
        return check_bucket(reader, group, le, value);
    }
    if (strcmp(group, reader->group) != 0 || !isinf(reader->last_bound)) {
        return fail(reader, "%s does not follow its +Inf bucket", name);
    }
    if (strcmp(suffix, "_sum") == 0) {
        return true;
    }
    if (strcmp(suffix, "_count") != 0) {
        return fail(reader, "unexpected suffix of %s", name);
    }
    return (value >= reader->last_count && value <= reader->last_count) ||
           fail(reader, "count differs from the +Inf bucket");
}

static bool read_sample(struct reader *reader, const char *line)
{
    char name[NAME_MAX_BYTES];
    char le[64] = "";
    char group[1024] = ".";
    if (!copy_name(reader, line, name)) {
        return false;
    }
    const char *at = line + strlen(name);
    if (*at == '{') {
        at = skip_labels(at, le, group);
    }
    double value;
    if (at == NULL || *at != ' ' || !read_number(at + 1, &value)) {
        return fail(reader, "malformed sample: %s", line);
    }
    char series[1200];
    (void)snprintf(series, sizeof(series), "%.*s", (int)(at - line), line);
    if (reader->family[0] == '\0' || strncmp(name, reader->family, strlen(reader->family)) != 0 ||
        !see(reader, series)) {
        return fail(reader, "%s: repeated, or outside its family", name);
    }
    if (reader->type == TYPE_HISTOGRAM) {
        return check_histogram(reader, name, group, le, value);
    }
    if (strcmp(name, reader->family) != 0) {
        return fail(reader, "%s is not %s", name, reader->family);
    }
    return reader->type != TYPE_COUNTER || value >= 0 || fail(reader, "negative counter");
}

static bool read_all(struct reader *reader, char *text)
{
    for (char *line = text; *line != '\0';) {
        reader->line++;
        char *end = strchr(line, '\n');
        if (end == NULL) {
            return fail(reader, "does not end in a line feed");
        }
        *end = '\0';
        if (!(line[0] == '#' ? read_comment(reader, line) : read_sample(reader, line))) {
            return false;
        }
        line = end + 1;
    }
    return reader->line > 0 || fail(reader, "empty");
}

bool exposition_check(const char *text, char *problem, size_t size)
{
    struct reader reader = {.problem = problem, .size = size, .seen = calloc(SERIES_MAX, sizeof(char *))};
    char *copy = strdup(text);
    bool good = text_is_utf8(span_of_text(text)) ? read_all(&reader, copy) : fail(&reader, "not UTF-8");
    for (size_t i = 0; i < reader.seen_count; i++) {
        free(reader.seen[i]);
    }
    free(reader.seen);
    free(copy);
    return good;
}

double exposition_value(const char *text, const char *series)
{
    size_t length = strlen(series);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, series, length) == 0 && line[length] == ' ') {
            return strtod(line + length + 1, NULL);
        }
    }
    return (double)NAN;
}
