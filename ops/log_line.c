/* Log lines: see log_line.h. */
#include "ops/log_line.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "ops/clock.h"
#include "ops/escape.h"

/* Together well below LOG_OUTPUT_LINE_MAX, so that a line always ends properly. */
#define EVENT_ROOM 100
#define MESSAGE_ROOM 1536
#define NAME_ROOM 64
#define VALUE_ROOM 700
#define FIELDS_END 3900 /* no field is begun that might pass this */

const char *log_line_level_name(enum log_level level)
{
    switch (level) {
    case LOG_LEVEL_DEBUG:
        return "debug";
    case LOG_LEVEL_INFO:
        return "info";
    case LOG_LEVEL_WARNING:
        return "warning";
    case LOG_LEVEL_ERROR:
        break;
    }
    return "error";
}

static bool is_fixed_name(const char *name)
{
    static const char *const fixed[] = {"timestamp", "level", "service", "event", "message", "truncated"};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        if (strcmp(fixed[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static struct span text_of(const char *text)
{
    return span_of_text(text == NULL ? "" : text);
}

static void add_json_text(struct buffer *line, const char *name, const char *value, size_t room)
{
    buffer_add_text(line, ",\"");
    buffer_add_text(line, name);
    buffer_add_text(line, "\":\"");
    escape_json(line, text_of(value), room);
    buffer_add_text(line, "\"");
}

static void add_json_field(struct buffer *line, const struct log_field *field)
{
    buffer_add_text(line, is_fixed_name(field->name) ? ",\"field_" : ",\"");
    escape_json(line, text_of(field->name), NAME_ROOM);
    buffer_add_text(line, "\":");
    if (field->text == NULL) {
        buffer_add_format(line, "%" PRId64, field->number);
        return;
    }
    buffer_add_text(line, "\"");
    escape_json(line, text_of(field->text), VALUE_ROOM);
    buffer_add_text(line, "\"");
}

/* How long a field's line can get at most; a number is shorter than any text. */
static size_t room_for(const struct log_field *field)
{
    size_t longest = 6 * (field->text == NULL ? 4 : strlen(field->text));
    return NAME_ROOM + 20 + (longest < VALUE_ROOM ? longest : VALUE_ROOM);
}

static bool field_fits(const struct buffer *line, const struct log_field *field)
{
    return field->name != NULL && line->length + room_for(field) <= FIELDS_END;
}

void log_line_json(struct buffer *line, const struct log_entry *entry, struct wall_ms wall)
{
    char time[CLOCK_TEXT_SIZE];
    (void)clock_text(wall, time, sizeof(time));
    buffer_add_format(line, "{\"timestamp\":\"%s\",\"level\":\"%s\",\"service\":\"tarry\"", time,
                      log_line_level_name(entry->level));
    add_json_text(line, "event", entry->event, EVENT_ROOM);
    add_json_text(line, "message", entry->message, MESSAGE_ROOM);
    bool truncated = false;
    for (size_t i = 0; i < entry->field_count; i++) {
        if (field_fits(line, &entry->fields[i])) {
            add_json_field(line, &entry->fields[i]);
        } else {
            truncated = true;
        }
    }
    buffer_add_text(line, truncated ? ",\"truncated\":true}\n" : "}\n");
    assert(!line->full);
}

static void add_printable(struct buffer *line, const char *text, size_t room)
{
    char printable[MESSAGE_ROOM];
    assert(room <= sizeof(printable));
    size_t length = text_printable(text_of(text), printable, room);
    buffer_add(line, printable, length);
}

/* Quoted when a reader could not see where it ends. */
static void add_text_value(struct buffer *line, const char *text)
{
    bool quoted = text[0] == '\0' || strpbrk(text, " \"=\t\r\n") != NULL;
    if (!quoted) {
        add_printable(line, text, VALUE_ROOM);
        return;
    }
    char printable[VALUE_ROOM / 2]; /* each byte may get a backslash */
    (void)text_printable(text_of(text), printable, sizeof(printable));
    buffer_add_text(line, "\"");
    for (const char *at = printable; *at != '\0'; at++) {
        buffer_add(line, "\\", *at == '"' ? 1 : 0);
        buffer_add(line, at, 1);
    }
    buffer_add_text(line, "\"");
}

static void add_text_field(struct buffer *line, const struct log_field *field)
{
    buffer_add_text(line, " ");
    add_printable(line, field->name, NAME_ROOM);
    buffer_add_text(line, "=");
    if (field->text == NULL) {
        buffer_add_format(line, "%" PRId64, field->number);
    } else {
        add_text_value(line, field->text);
    }
}

static void add_text_rest(struct buffer *line, const struct log_entry *entry)
{
    add_printable(line, entry->event, EVENT_ROOM);
    buffer_add_text(line, ": ");
    add_printable(line, entry->message, MESSAGE_ROOM);
    for (size_t i = 0; i < entry->field_count; i++) {
        if (field_fits(line, &entry->fields[i])) {
            add_text_field(line, &entry->fields[i]);
        }
    }
    buffer_add_text(line, "\n");
    assert(!line->full);
}

void log_line_text(struct buffer *line, const struct log_entry *entry, struct wall_ms wall)
{
    char time[CLOCK_TEXT_SIZE];
    (void)clock_text(wall, time, sizeof(time));
    buffer_add_format(line, "%s %-7s ", time, log_line_level_name(entry->level));
    add_text_rest(line, entry);
}

void log_line_journal(struct buffer *line, const struct log_entry *entry)
{
    static const int priority[] = {
        [LOG_LEVEL_DEBUG] = 7, [LOG_LEVEL_INFO] = 6, [LOG_LEVEL_WARNING] = 4, [LOG_LEVEL_ERROR] = 3};
    buffer_add_format(line, "<%d>", priority[entry->level]);
    add_text_rest(line, entry);
}
