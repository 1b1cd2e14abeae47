/* `tarry dlq get ID`: one letter whole, or its bytes alone. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/dlq_command.h"
#include "cli/dlq_scan.h"
#include "cli/dlq_verbs.h"
#include "cli/verbs.h"
#include "dlq/letter_json.h"
#include "dlq/subject.h"
#include "ops/clock.h"
#include "ops/config_value.h"

#define JSON_MAX ((size_t)2 * 1024 * 1024 * 1024)
#define SHOWN_MAX 4096 /* bytes of a key, a value, a header on a terminal */

enum raw { RAW_NONE, RAW_VALUE, RAW_KEY };

struct get {
    struct dlq_command command;
    enum raw raw;
    bool named; /* an id was given */
    uint64_t found;
    struct buffer json;
    struct buffer bytes; /* --raw: of the first letter found */
    bool null;           /* --raw: it is a Kafka null */
    bool failed;         /* told */
};

/* --------------------------------------------------------------------------------------------------- for people */

static void show_line(const char *name, struct span value)
{
    char text[(TEXT_ESCAPE_MAX - 1) * SHOWN_MAX + 1];
    struct span shown = {value.data, value.length < SHOWN_MAX ? value.length : SHOWN_MAX};
    (void)text_printable(shown, text, sizeof text);
    printf("%-14s %s", name, value.data == NULL ? "-" : text);
    if (shown.length < value.length) {
        printf("... (%zu bytes; all of them by -o json or --raw)", value.length);
    }
    printf("\n");
}

static void show_time(const struct output *output, const char *name, int64_t ms)
{
    char time[CLOCK_TEXT_SIZE];
    char age[OUTPUT_AGE_SIZE];
    if (ms < 0) {
        printf("%-14s -\n", name);
        return;
    }
    (void)clock_text((struct wall_ms){ms}, time, sizeof time);
    output_age(output, ms, age);
    printf("%-14s %s (%s%s)\n", name, time, age, ms <= output->now_ms && strcmp(age, "now") != 0 ? " ago" : "");
}

static void show_number(const char *name, int64_t number)
{
    if (number < 0) {
        printf("%-14s -\n", name);
    } else {
        printf("%-14s %" PRId64 "\n", name, number);
    }
}

static void show_record(const struct letter_record *record)
{
    struct span rest = record->headers;
    struct span name;
    struct span value;
    char shown[512];
    char title[600];
    show_line("key", record->key);
    while (letter_next_header(&rest, &name, &value)) {
        (void)text_printable(name, shown, sizeof shown);
        (void)snprintf(title, sizeof title, "header         %s:", shown);
        show_line(title, value);
    }
    show_line("value", record->value);
}

static void show_card(const struct get *get, const struct dlq_scan_letter *found)
{
    const struct letter *letter = found->letter;
    const struct output *output = &get->command.output;
    printf("%s", get->found > 1 ? "\n" : "");
    show_line("id", span_of_text(letter->id));
    show_line("state", span_of_text(dlq_context_state_name(found->state)));
    show_line("target", letter->target.data == NULL ? span_of_text(SUBJECT_REFUSED) : letter->target);
    show_line("reason", span_of_text(letter_reason_name(letter->reason)));
    show_line("error", letter->error);
    show_number("attempt", letter->attempt);
    show_number("replays", letter->replays);
    show_time(output, "first failure", letter->first_failure_ms);
    show_time(output, "last failure", letter->last_failure_ms);
    if (found->state == LETTER_WAITING) {
        show_time(output, "not before", letter->not_before_ms);
    }
    show_line("origin topic", letter->origin.topic);
    show_number("partition", letter->origin.partition);
    show_number("offset", letter->origin.offset);
    show_time(output, "timestamp", letter->origin.timestamp_ms);
    show_line("group", letter->group);
    show_line("schedule id", letter->schedule_id);
    show_time(output, "due", letter->due_ms);
    printf("%-14s %s message %" PRIu64 "\n", "stream", dlq_context_stream(&get->command.context, found->state), found->sequence);
    if (found->record_missing) {
        printf("%-14s could not be loaded\n", "record");
    } else {
        show_record(&letter->record);
    }
}

/* --------------------------------------------------------------------------------------------------- the others */

static void show_json(struct get *get, const struct dlq_scan_letter *found)
{
    struct error error = {ERROR_NONE, ""};
    buffer_clear(&get->json);
    if (letter_json_write(&get->json, found->letter, found->state, !found->record_missing, &error)) {
        output_item(&get->command.output, buffer_span(&get->json));
    } else {
        dlq_context_say(&get->command.context, "letter %s: %s", found->letter->id, error.text);
        get->failed = true;
    }
}

static bool visit(void *context, const struct dlq_scan_letter *found)
{
    struct get *get = context;
    get->found += 1;
    if (get->raw != RAW_NONE) {
        const struct letter_record *record = &found->letter->record;
        struct span bytes = get->raw == RAW_VALUE ? record->value : record->key;
        buffer_clear(&get->bytes);
        buffer_add_span(&get->bytes, bytes);
        get->null = bytes.data == NULL;
        get->failed = get->failed || found->record_missing;
    } else if (get->command.output.format == OUTPUT_TABLE) {
        show_card(get, found);
    } else {
        show_json(get, found);
    }
    return true;
}

/* What a terminal can take as it is: printable, with line ends and tabs. */
static bool is_harmless(struct span bytes)
{
    char text[2 * TEXT_ESCAPE_MAX];
    for (size_t i = 0; i < bytes.length;) {
        size_t length = text_utf8_length(bytes.data + i, bytes.length - i);
        bool plain = bytes.data[i] == '\n' || bytes.data[i] == '\t' || bytes.data[i] == '\\';
        if (length == 0 || (!plain && text_printable((struct span){bytes.data + i, length}, text, sizeof text) != length)) {
            return false;
        }
        i += length;
    }
    return true;
}

static int print_raw(struct get *get)
{
    const char *what = get->raw == RAW_VALUE ? "value" : "key";
    const struct dlq_context *context = &get->command.context;
    struct span bytes = buffer_span(&get->bytes);
    if (get->failed) {
        return VERBS_EXIT_PARTLY; /* the scan has told it */
    }
    if (get->found > 1) {
        dlq_context_say(context, "%" PRIu64 " letters have this id: give the id of one of them, or --state", get->found);
        return VERBS_EXIT_PARTLY;
    }
    if (get->command.output.terminal && !is_harmless(bytes)) {
        dlq_context_say(context, "the %s is binary, %zu bytes, and would upset the terminal: send it to a file (> FILE) or a pipe", what, bytes.length);
        return VERBS_EXIT_FAILED;
    }
    if (get->null) {
        dlq_context_say(context, "the %s is null", what);
    }
    (void)fwrite(bytes.data, 1, bytes.length, stdout);
    return VERBS_EXIT_DONE;
}

static int run(struct get *get)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_scan_totals totals = {0};
    const struct dlq_context *context = &get->command.context;
    struct dlq_scan scan = {.context = context, .filter = &get->command.filter, .records = true, .visit = visit, .visitor = get};
    if (!dlq_scan_look(context, &get->command.filter, &scan.bounds, &error) || !dlq_scan_run(&scan, &totals, &error)) {
        return dlq_context_failed(context, &error);
    }
    if (get->found == 0) {
        dlq_context_say(context, "no letter has this id; `tarry dlq list` shows those there are");
    }
    int code = get->found == 0 || totals.missing > 0 || get->failed ? VERBS_EXIT_PARTLY : VERBS_EXIT_DONE;
    if (get->raw != RAW_NONE) {
        code = get->found == 0 ? code : print_raw(get);
        get->command.output.format = OUTPUT_TABLE; /* no array to be closed */
    }
    return output_end(&get->command.output) ? code : VERBS_EXIT_FAILED;
}

static bool is_id_flag(const char *argument)
{
    return strncmp(argument, "--id", 4) == 0;
}

static enum options_result take(void *owner, int argc, char **argv, int *index)
{
    struct get *get = owner;
    const char *value = NULL;
    unsigned raw;
    if (options_value(argc, argv, index, "--raw", &value)) {
        if (value == NULL || !config_value_choice(value, "value|key", &raw, NULL)) {
            dlq_context_say(&get->command.context, "--raw is %s: give value or key", value == NULL ? "empty" : config_value_show(value).text);
            return OPTIONS_WRONG;
        }
        get->raw = raw == 0 ? RAW_VALUE : RAW_KEY;
        return OPTIONS_TAKEN;
    }
    bool argument = argv[*index][0] != '-' && argv[*index][0] != '\0';
    bool again = get->named && (argument || is_id_flag(argv[*index]));
    if (again) {
        dlq_context_say(&get->command.context, "one id at a time; `tarry dlq list --id A --id B` shows several");
        return OPTIONS_WRONG;
    }
    get->named = get->named || argument || is_id_flag(argv[*index]);
    if (!argument) {
        return OPTIONS_UNKNOWN;
    }
    *index += 1;
    return dlq_filter_add_id(&get->command.filter, argv[*index - 1]) ? OPTIONS_TAKEN : OPTIONS_WRONG;
}

int dlq_get_run(int argc, char **argv)
{
    struct get get = {.command = dlq_command_new("dlq get"), .json = buffer_new(JSON_MAX), .bytes = buffer_new(JSON_MAX)};
    int code = dlq_command_flags(&get.command, argc, argv, take, &get);
    if (code == VERBS_EXIT_DONE && !get.named) {
        dlq_context_say(&get.command.context, "which letter? Give its id, or its schedule id; see `tarry dlq get --help`");
        code = VERBS_EXIT_USAGE;
    }
    code = code == VERBS_EXIT_DONE ? dlq_command_open(&get.command) : code;
    code = code == VERBS_EXIT_DONE ? run(&get) : code;
    buffer_free(&get.json);
    buffer_free(&get.bytes);
    dlq_command_free(&get.command);
    return code;
}
