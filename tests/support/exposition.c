#include "tests/support/exposition.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NAME_MAX_BYTES 128
#define SERIES_MAX 40000
#define PLACES (2 * SERIES_MAX) /* of the hash table of what was seen */
#define GAUGE_TOTAL "pending_notifications_total" /* an alias: others made it a gauge */
#define SIGNED_GAUGE "tarry_clock_offset_seconds" /* the one that may be negative */
#define LABELS_MAX_BYTES 2048   /* of one series: topics have 249 bytes, each of which may need two */

enum family_type { TYPE_COUNTER, TYPE_GAUGE, TYPE_HISTOGRAM };

/* What has to come next of a histogram's series. */
enum stage { STAGE_NONE, STAGE_BUCKETS, STAGE_SUM, STAGE_COUNT, STAGE_DONE };

struct reader {
    char *problem;
    size_t size;
    size_t line;
    char help_name[NAME_MAX_BYTES]; /* of a HELP line whose TYPE is still to come; "" */
    char family[NAME_MAX_BYTES];
    enum family_type type;
    char **seen; /* families as "# name", series as written: PLACES of them, NULL: free */
    size_t seen_count;
    char label_names[1024]; /* of the family's first series, but for le; "-": none was read yet */
    /* The histogram series being read: */
    enum stage stage;
    char group[LABELS_MAX_BYTES];
    double last_bound;
    double last_count;
};

/* One sample, taken apart. */
struct sample {
    char name[NAME_MAX_BYTES];
    char group[LABELS_MAX_BYTES]; /* the labels but le */
    char label_names[1024];       /* theirs, each with a comma behind */
    char le[64];
    bool has_le;
    double value;
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
    size_t hash = 5381;
    for (const char *at = what; *at != '\0'; at++) {
        hash = hash * 33 + (unsigned char)*at;
    }
    size_t place = hash % PLACES;
    for (; reader->seen[place] != NULL; place = (place + 1) % PLACES) {
        if (strcmp(reader->seen[place], what) == 0) {
            return fail(reader, "%s is there twice", what);
        }
    }
    if (reader->seen_count++ == SERIES_MAX) {
        return fail(reader, "too many series");
    }
    reader->seen[place] = strdup(what);
    return true;
}

/* A histogram that was begun has come to its count. */
static bool check_finished(struct reader *reader)
{
    return reader->stage == STAGE_NONE || reader->stage == STAGE_DONE || fail(reader, "a histogram of %s is not at its end", reader->family);
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
    reader->help_name[0] = '\0';
    if (strcmp(type, " counter") == 0) {
        reader->type = TYPE_COUNTER;
    } else if (strcmp(type, " gauge") == 0) {
        reader->type = TYPE_GAUGE;
    } else if (strcmp(type, " histogram") == 0) {
        reader->type = TYPE_HISTOGRAM;
    } else {
        return fail(reader, "unknown type%s", type);
    }
    if (ends_with(reader->family, "_total") != (reader->type == TYPE_COUNTER) && strcmp(reader->family, GAUGE_TOTAL) != 0) {
        return fail(reader, "%s: only counters, and all of them, end in _total", reader->family);
    }
    if (ends_with(reader->family, "_bucket") || ends_with(reader->family, "_sum") || ends_with(reader->family, "_count")) {
        return fail(reader, "%s: looks like part of a histogram", reader->family);
    }
    reader->group[0] = '\0';
    reader->stage = STAGE_NONE;
    (void)snprintf(reader->label_names, sizeof(reader->label_names), "-");
    char family[NAME_MAX_BYTES + 2];
    (void)snprintf(family, sizeof(family), "# %s", reader->family);
    return see(reader, family);
}

/* Backslashes of a help text: \\\\ and \\n alone. */
static bool help_is_escaped(const char *help)
{
    for (; *help != '\0'; help++) {
        if (*help == '\\' && *++help != '\\' && *help != 'n') {
            return false;
        }
    }
    return true;
}

static bool read_help(struct reader *reader, const char *text)
{
    if (!check_finished(reader)) {
        return false;
    }
    if (reader->help_name[0] != '\0') {
        return fail(reader, "%s has a HELP and no TYPE", reader->help_name);
    }
    reader->family[0] = '\0';
    if (!copy_name(reader, text, reader->help_name)) {
        return false;
    }
    const char *help = text + strlen(reader->help_name);
    return (help[0] == ' ' && help[1] != '\0' && help_is_escaped(help)) || fail(reader, "no help text, or a stray backslash in it");
}

static bool read_comment(struct reader *reader, const char *line)
{
    if (strncmp(line, "# HELP ", 7) == 0) {
        return read_help(reader, line + 7);
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
        if (*at == '\\') {
            at++;
            if (*at != '\\' && *at != '"' && *at != 'n') {
                return NULL;
            }
        } else if (*at == '\0') {
            return NULL;
        }
    }
    return at + 1;
}

/* True when the list, in which each name has a comma behind, has it. */
static bool has_name(const char *list, const char *name, size_t length)
{
    for (const char *at = list; *at != '\0'; at = strchr(at, ',') + 1) {
        if (strncmp(at, name, length) == 0 && at[length] == ',') {
            return true;
        }
    }
    return false;
}

/* One label into the sample; false: there twice, reserved, or too long. */
static bool add_label(struct sample *sample, const char *name, size_t name_bytes, const char *end)
{
    if (name_bytes == 2 && strncmp(name, "le", 2) == 0) {
        bool again = sample->has_le;
        sample->has_le = true;
        return !again && snprintf(sample->le, sizeof(sample->le), "%.*s", (int)(end - name - 5), name + 4) < (int)sizeof(sample->le);
    }
    size_t used = strlen(sample->label_names);
    size_t group = strlen(sample->group);
    if (strncmp(name, "__", 2) == 0 || has_name(sample->label_names, name, name_bytes)) {
        return false;
    }
    return snprintf(sample->label_names + used, sizeof(sample->label_names) - used, "%.*s,", (int)name_bytes, name) < (int)(sizeof(sample->label_names) - used) &&
           snprintf(sample->group + group, sizeof(sample->group) - group, "%.*s,", (int)(end - name), name) < (int)(sizeof(sample->group) - group);
}

/* From '{' to past '}'; NULL when it is malformed. */
static const char *read_labels(const char *at, struct sample *sample)
{
    do {
        const char *label = ++at;
        size_t length = name_length(at, false);
        if (length == 0 || at[length] != '=') {
            return NULL;
        }
        at = skip_quoted(at + length + 1);
        if (at == NULL || !add_label(sample, label, length, at)) {
            return NULL;
        }
    } while (*at == ',');
    return *at == '}' ? at + 1 : NULL;
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

static bool check_bucket(struct reader *reader, const struct sample *sample)
{
    double bound;
    if (!sample->has_le || !read_number(sample->le, &bound)) {
        return fail(reader, "bad le \"%s\"", sample->le);
    }
    bool fresh = strcmp(sample->group, reader->group) != 0 || reader->stage == STAGE_DONE;
    if (fresh) {
        if (!check_finished(reader)) {
            return false;
        }
        (void)snprintf(reader->group, sizeof(reader->group), "%s", sample->group);
        reader->stage = STAGE_BUCKETS;
        reader->last_count = 0;
    }
    if (reader->stage != STAGE_BUCKETS || (!fresh && !(bound > reader->last_bound))) {
        return fail(reader, "buckets are not in order");
    }
    if (sample->value < reader->last_count) {
        return fail(reader, "buckets are not cumulative");
    }
    reader->last_bound = bound;
    reader->last_count = sample->value;
    reader->stage = isinf(bound) ? STAGE_SUM : STAGE_BUCKETS;
    return true;
}

static bool check_histogram(struct reader *reader, const struct sample *sample)
{
    const char *suffix = sample->name + strlen(reader->family);
    if (strcmp(suffix, "_bucket") == 0) {
        return check_bucket(reader, sample);
    }
    enum stage wanted = strcmp(suffix, "_sum") == 0 ? STAGE_SUM : STAGE_COUNT;
    if (sample->has_le || (wanted == STAGE_COUNT && strcmp(suffix, "_count") != 0)) {
        return fail(reader, "%s: no part of a histogram", sample->name);
    }
    if (strcmp(sample->group, reader->group) != 0 || reader->stage != wanted) {
        return fail(reader, "%s does not follow its +Inf bucket, or its sum", sample->name);
    }
    reader->stage = wanted == STAGE_SUM ? STAGE_COUNT : STAGE_DONE;
    return wanted == STAGE_SUM || (sample->value >= reader->last_count && sample->value <= reader->last_count) ||
           fail(reader, "count differs from the +Inf bucket");
}

/* All series of a family have the same labels, in the same order. */
static bool check_label_names(struct reader *reader, const struct sample *sample)
{
    if (strcmp(reader->label_names, "-") == 0) {
        (void)snprintf(reader->label_names, sizeof(reader->label_names), "%s", sample->label_names);
    }
    return strcmp(reader->label_names, sample->label_names) == 0 ||
           fail(reader, "labels %s, but %s before", sample->label_names, reader->label_names);
}

static bool check_sample(struct reader *reader, const struct sample *sample)
{
    if (!check_label_names(reader, sample)) {
        return false;
    }
    if (reader->type == TYPE_HISTOGRAM) {
        return check_histogram(reader, sample);
    }
    if (strcmp(sample->name, reader->family) != 0 || sample->has_le) {
        return fail(reader, "%s is not %s", sample->name, reader->family);
    }
    return sample->value >= 0 || strcmp(reader->family, SIGNED_GAUGE) == 0 || fail(reader, "%s is negative", sample->name);
}

static bool read_sample(struct reader *reader, const char *line)
{
    struct sample sample = {.group = "."};
    if (!copy_name(reader, line, sample.name)) {
        return false;
    }
    const char *at = line + strlen(sample.name);
    if (*at == '{') {
        at = read_labels(at, &sample);
    }
    if (at == NULL || *at != ' ' || !read_number(at + 1, &sample.value)) {
        return fail(reader, "malformed sample: %s", line);
    }
    if (reader->family[0] == '\0' || strncmp(sample.name, reader->family, strlen(reader->family)) != 0) {
        return fail(reader, "%s is outside its family", sample.name);
    }
    char series[NAME_MAX_BYTES + LABELS_MAX_BYTES + 64];
    (void)snprintf(series, sizeof(series), "%.*s", (int)(at - line), line);
    return see(reader, series) && check_sample(reader, &sample);
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
    if (reader->help_name[0] != '\0') {
        return fail(reader, "%s has a HELP and no TYPE", reader->help_name);
    }
    return check_finished(reader) && (reader->line > 0 || fail(reader, "empty"));
}

bool exposition_check(const char *text, char *problem, size_t size)
{
    struct reader reader = {.problem = problem, .size = size, .seen = calloc(PLACES, sizeof(char *))};
    char *copy = strdup(text);
    bool good = text_is_utf8(span_of_text(text)) ? read_all(&reader, copy) : fail(&reader, "not UTF-8");
    for (size_t i = 0; i < PLACES; i++) {
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
