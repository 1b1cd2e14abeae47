#include "cli/schedule_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "bridge/decimal.h"
#include "cli/base64.h"
#include "cli/json_line.h"
#include "cli/verbs.h"
#include "ops/config_value.h"

#define BLOCK 65536
#define JSON_MAX ((size_t)64 * 1024 * 1024)
#define COUNT_MOST INT64_C(1000000000)

static int wrong(const struct verb_arguments *arguments, const char *words)
{
    return verb_arguments_wrong(arguments->verb, "%s", words);
}

/* Which flags go together. */
static int check(const struct verb_arguments *arguments)
{
    bool at = verb_arguments_has(arguments, "--at");
    bool in = verb_arguments_has(arguments, "--in");
    bool every = verb_arguments_has(arguments, "--every");
    bool cron = verb_arguments_has(arguments, "--cron");
    const char *id = verb_arguments_value(arguments, "--id");
    int64_t count = 0;
    if (!at && !in && !every && !cron) {
        return wrong(arguments, "when is it due? Give --at, --in, --every or --cron");
    }
    if (at && in) {
        return wrong(arguments, "--at and --in both say when: give one of them");
    }
    if (every && cron) {
        return wrong(arguments, "--every and --cron both say how it comes again: give one of them");
    }
    if (verb_arguments_has(arguments, "--tz") && !cron) {
        return wrong(arguments, "--tz is the time zone of --cron, which is missing");
    }
    if ((verb_arguments_has(arguments, "--until") || verb_arguments_has(arguments, "--count")) && !every && !cron) {
        return wrong(arguments, "--until and --count end what comes again: give --every or --cron, too");
    }
    if (id != NULL && (id[0] == '\0' || !text_is_utf8(span_of_text(id)))) {
        return wrong(arguments, "--id is empty, or no UTF-8");
    }
    return verb_arguments_number(arguments, "--count", 1, COUNT_MOST, 0, &count) ? VERBS_EXIT_DONE : VERBS_EXIT_USAGE;
}

static int check_headers(const struct verb_arguments *arguments)
{
    for (size_t i = 0; i < arguments->flag_count; i++) {
        const struct verb_arguments_flag *each = &arguments->flags[i];
        size_t name = each->value == NULL ? 0 : strcspn(each->value, "=");
        bool named = name > 0 && each->value[name] == '=' && text_is_utf8((struct span){(const uint8_t *)each->value, name});
        if (strcmp(each->flag->name, "--header") == 0 && !named) {
            return verb_arguments_wrong(arguments->verb, "--header is %s: give NAME=VALUE", config_value_show(each->value).text);
        }
    }
    return VERBS_EXIT_DONE;
}

static int read_stream(const struct verb_arguments *arguments, FILE *file, const char *shown, struct buffer *value)
{
    char block[BLOCK];
    size_t count = 0;
    while ((count = fread(block, 1, sizeof block, file)) > 0) {
        buffer_add(value, block, count);
    }
    if (ferror(file) != 0) {
        fprintf(stderr, "tarry %s: %s cannot be read: %s\n", arguments->verb->name, shown, strerror(errno));
        return VERBS_EXIT_FAILED;
    }
    if (value->full) {
        fprintf(stderr, "tarry %s: %s is larger than %zu MiB: no daemon takes that\n", arguments->verb->name, shown, SCHEDULE_REQUEST_VALUE_MAX >> 20);
        return VERBS_EXIT_FAILED;
    }
    return VERBS_EXIT_DONE;
}

static int read_file(const struct verb_arguments *arguments, const char *name, struct buffer *value)
{
    if (strcmp(name, "-") == 0) {
        return read_stream(arguments, stdin, "standard input", value);
    }
    FILE *file = fopen(name, "rbe");
    if (file == NULL) {
        fprintf(stderr, "tarry %s: %s cannot be opened: %s\n", arguments->verb->name, config_value_show(name).text, strerror(errno));
        return VERBS_EXIT_FAILED;
    }
    int code = read_stream(arguments, file, config_value_show(name).text, value);
    (void)fclose(file);
    return code;
}

/* A person who forgets the value must not send a record without one. */
static int read_value(const struct verb_arguments *arguments, struct schedule_request *request)
{
    const char *text = verb_arguments_value(arguments, "--value");
    size_t ways = arguments->word_count + (text != NULL) + request->null;
    if (ways != 1) {
        return wrong(arguments, ways == 0 ? "the value is missing: give FILE, - for standard input, --value TEXT, or --null for none"
                                          : "more than one value: give one of FILE, -, --value TEXT and --null");
    }
    if (text != NULL) {
        buffer_add_text(&request->value, text);
    }
    return arguments->word_count == 1 ? read_file(arguments, arguments->words[0], &request->value) : VERBS_EXIT_DONE;
}

int schedule_request_read(const struct verb_arguments *arguments, struct schedule_request *request)
{
    *request = (struct schedule_request){.value = buffer_new(SCHEDULE_REQUEST_VALUE_MAX)};
    request->recurring = verb_arguments_has(arguments, "--every") || verb_arguments_has(arguments, "--cron");
    request->null = verb_arguments_has(arguments, "--null");
    int code = check(arguments);
    code = code == VERBS_EXIT_DONE ? check_headers(arguments) : code;
    return code == VERBS_EXIT_DONE ? read_value(arguments, request) : code;
}

void schedule_request_free(struct schedule_request *request)
{
    buffer_free(&request->value);
}

/* JSON writes most control bytes as six: many of them go as base64, so a body is at most twice as long as the value. */
static bool grows(struct span value)
{
    size_t controls = 0;
    for (size_t i = 0; i < value.length; i++) {
        controls += value.data[i] < 0x20 && value.data[i] != '\n' && value.data[i] != '\r' && value.data[i] != '\t';
    }
    return controls > value.length / 16;
}

static void add_value(cJSON *object, const struct schedule_request *request)
{
    struct span value = request->null ? SPAN_ABSENT : buffer_span(&request->value);
    if (!grows(value)) {
        json_line_add_bytes(object, "value", value);
        return;
    }
    struct buffer text = buffer_new(value.length * 2 + 8);
    base64_write(value, &text);
    buffer_add(&text, "", 1);
    (void)cJSON_AddStringToObject(object, "value", (const char *)text.data);
    (void)cJSON_AddStringToObject(object, "value_encoding", "base64");
    buffer_free(&text);
}

static void add_headers(const struct verb_arguments *arguments, cJSON *object)
{
    cJSON *array = NULL;
    for (size_t i = 0; i < arguments->flag_count; i++) {
        const struct verb_arguments_flag *each = &arguments->flags[i];
        if (strcmp(each->flag->name, "--header") != 0) {
            continue;
        }
        array = array == NULL ? cJSON_AddArrayToObject(object, "headers") : array;
        cJSON *header = cJSON_CreateObject();
        size_t name = strcspn(each->value, "=");
        json_line_add_bytes(header, "name", (struct span){(const uint8_t *)each->value, name});
        const char *value = each->value + name + 1;
        json_line_add_bytes(header, "value", span_of_text(value));
        cJSON *encoding = cJSON_DetachItemFromObjectCaseSensitive(header, "value_encoding"); /* a header's is called "encoding" */
        if (encoding != NULL) {
            (void)cJSON_AddItemToObject(header, "encoding", encoding);
        }
        (void)cJSON_AddItemToArray(array, header);
    }
}

void schedule_request_json(const struct verb_arguments *arguments, const struct schedule_request *request, struct buffer *json)
{
    static const char *const texts[][2] = {
        {"--source", "source"}, {"--topic", "topic"}, {"--id", "id"}, {"--every", "every"},   {"--cron", "cron"},   {"--tz", "tz"}, {"--until", "until"}, {"--expires", "expires"}, {"--if-exists", "if_exists"},
    };
    int64_t count = 0;
    const char *member = NULL;
    const char *when = verb_arguments_at(arguments, &member);
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *value = verb_arguments_value(arguments, texts[i][0]);
        if (value != NULL) {
            (void)cJSON_AddStringToObject(object, texts[i][1], value);
        }
    }
    if (when != NULL) {
        (void)cJSON_AddStringToObject(object, member, when);
    }
    if (verb_arguments_number(arguments, "--count", 1, COUNT_MOST, 0, &count) && count > 0) {
        (void)cJSON_AddNumberToObject(object, "count", (double)count);
    }
    if (verb_arguments_has(arguments, "--key")) {
        json_line_add_bytes(object, "key", span_of_text(verb_arguments_value(arguments, "--key")));
    }
    add_value(object, request);
    add_headers(arguments, object);
    json_line_write(object, false, json);
    buffer_add(json, "", 1);
    cJSON_Delete(object);
}
