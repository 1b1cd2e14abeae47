/*
 * An evening of the person on call: 40,000 letters of five causes, sorted out with `tarry dlq`. What was typed and answered is the page
 * docs/dead-letters-transcript.md, which is compared; TARRY_UPDATE_DOCS=1 writes it.
 */
#include <inttypes.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/kafka_topics.h"
#include "tests/support/nats_letters.h"
#include "tests/support/replay_scene.h"
#include "tests/support/temp.h"

#define PAGE_MAX ((size_t)1024 * 1024)
#define BATCH 5000
#define TIMEOUT_MS 60000
#define LINE_MAX_SHOWN 150
#define EVENING "2020-03-14"                    /* long ago, so that an age has always as many digits */
#define EVENING_MS INT64_C(1584147600000)       /* 01:00 of it */
#define INVOICE_BYTES 4000

static struct replay_scene *const scene = &replay_scene_shared;
static struct buffer page;
static char copy_id[LETTER_ID_SIZE]; /* of the edited copy: another one each time */

/* ------------------------------------------------------------------------------------------------- the letters */

struct cause {
    const char *target; /* NULL: refused */
    enum letter_reason reason;
    enum letter_state state;
    const char *error;
    const char *rest;   /* of the error, behind the letter's number; NULL: it names none */
    unsigned count;
    unsigned minute;    /* of the evening, when it began */
    size_t value_bytes; /* 0: a short text */
};

static const struct cause causes[] = {
    {"invoices", LETTER_REASON_TOO_LARGE, LETTER_PARKED, "MSG_SIZE_TOO_LARGE: Broker: Message size too large", NULL, 20000, 0, INVOICE_BYTES},
    {"payments", LETTER_REASON_UNKNOWN_TARGET, LETTER_PARKED, "UNKNOWN_TOPIC_OR_PART: Broker: Unknown topic or partition", NULL, 10000, 12, 0},
    {NULL, LETTER_REASON_BAD_TIME, LETTER_PARKED, "tarry-delay is \"soon\": give a number of milliseconds, or 10s, 5m, 2h", NULL, 6000, 20, 0},
    {"mail", LETTER_REASON_CONSUMER_FAILED, LETTER_WAITING, "smtp-", ".example.org: connection refused", 3000, 31, 0},
    {"audit", LETTER_REASON_CONSUMER_FAILED, LETTER_PARKED, "record ", ": amount is null", 1000, 47, 0},
};
#define CAUSES (sizeof(causes) / sizeof(causes[0]))

/* What a letter borrows from. */
struct memory {
    struct letter letter;
    struct buffer headers;
    char value[INVOICE_BYTES + 64];
    char error[96];
};

static void fill_value(const struct cause *cause, unsigned n, struct memory *memory)
{
    int length = snprintf(memory->value, sizeof(memory->value), "{\"order\": %u, \"amount\": null, \"note\": \"", n);
    for (size_t i = (size_t)length; i < cause->value_bytes; i++) {
        memory->value[length++] = (char)('a' + (i * 7 + n) % 26);
    }
    length += snprintf(memory->value + length, sizeof(memory->value) - (size_t)length, "\"}");
    memory->letter.record.value = (struct span){(const uint8_t *)memory->value, (size_t)length};
}

static void fill(const struct cause *cause, unsigned n, struct memory *memory)
{
    static const char *const keys[] = {"k0", "k1", "k2", "k3", "k4"};
    int64_t failed_ms = EVENING_MS + (int64_t)cause->minute * 60000 + (int64_t)n * 100;
    struct letter *letter = &memory->letter;
    *letter = nats_letters_one(n + (uint64_t)cause->minute * 100000, 0);
    memory->headers = buffer_new(4096);
    letter_add_header(&memory->headers, span_of_text("trace"), span_of_text("00-4bf92f35"));
    if (cause->target == NULL) {
        letter_add_header(&memory->headers, span_of_text("tarry-delay"), span_of_text("soon"));
    }
    (void)snprintf(memory->error, sizeof(memory->error), "%s", cause->error);
    if (cause->rest != NULL) {
        (void)snprintf(memory->error, sizeof(memory->error), "%s%u%s", cause->error, n, cause->rest);
    }
    letter->reason = cause->reason;
    letter->error = span_of_text(memory->error);
    letter->attempt = cause->target == NULL ? 1 : 3;
    letter->first_failure_ms = failed_ms;
    letter->last_failure_ms = failed_ms + (cause->target == NULL ? 0 : 7000);
    letter->not_before_ms = cause->state == LETTER_WAITING ? INT64_C(4000000000000) : failed_ms;
    letter->due_ms = cause->target == NULL ? -1 : failed_ms - 20;
    letter->origin.timestamp_ms = failed_ms - 60000;
    letter->target = cause->target == NULL ? SPAN_ABSENT : span_of_text(cause->target);
    letter_id(letter->id, span_of_text("cluster"), letter->group, &letter->origin, 0);
    letter->record.key = span_of_text(keys[n % 5]);
    letter->record.headers = buffer_span(&memory->headers);
    fill_value(cause, n, memory);
}

static void post_batch(const struct cause *cause, unsigned first, unsigned count)
{
    struct memory *memories = memory_new(count, sizeof(*memories));
    struct mailer_item *items = memory_new(count, sizeof(*items));
    for (unsigned i = 0; i < count; i++) {
        fill(cause, first + i, &memories[i]);
        items[i] = (struct mailer_item){.letter = &memories[i].letter, .state = cause->state};
    }
    mailer_post(scene->mailer, items, count, TIMEOUT_MS);
    for (unsigned i = 0; i < count; i++) {
        if (items[i].result != MAILER_KEPT) {
            fail_msg("letter %u was not kept: %s", first + i, items[i].error);
        }
        buffer_free(&memories[i].headers);
    }
    free(items);
    free(memories);
}

static void post_all(void)
{
    for (size_t i = 0; i < CAUSES; i++) {
        for (unsigned first = 0; first < causes[i].count; first += BATCH) {
            unsigned left = causes[i].count - first;
            post_batch(&causes[i], first, left < BATCH ? left : BATCH);
        }
    }
}

/* The id of the nth letter of a cause. */
static const char *id_of(size_t cause, unsigned n)
{
    static char id[LETTER_ID_SIZE];
    struct memory *memory = memory_new(1, sizeof(*memory));
    fill(&causes[cause], n, memory);
    memcpy(id, memory->letter.id, sizeof(id));
    buffer_free(&memory->headers);
    free(memory);
    return id;
}

/* ------------------------------------------------------------------------------------------------- what is always the same */

/* In what the group matches, each of `set` becomes an x. */
static void mask(char *text, const char *pattern, size_t group, const char *set)
{
    regex_t regex;
    regmatch_t match[4];
    char *at = text;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED), 0);
    while (regexec(&regex, at, 4, match, 0) == 0) {
        char *start = at + match[group].rm_so;
        char *end = at + match[group].rm_eo;
        bool keep = strncmp(start, EVENING, strlen(EVENING)) == 0;
        for (char *one = start; one < end && !keep; one++) {
            *one = strchr(set, *one) != NULL ? 'x' : *one;
        }
        at = end;
    }
    regfree(&regex);
}

/* The group that is matched becomes an N: it has not always as many digits. */
static void shorten(char *text, const char *pattern, size_t group)
{
    regex_t regex;
    regmatch_t match[4];
    char *at = text;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED), 0);
    while (regexec(&regex, at, 4, match, 0) == 0) {
        char *end = at + match[group].rm_eo;
        at += match[group].rm_so;
        *at++ = 'N';
        memmove(at, end, strlen(end) + 1);
    }
    regfree(&regex);
}

/* An id becomes as many of another character. */
static void replace_all(char *text, const char *what, char with)
{
    for (char *at = what[0] == '\0' ? NULL : strstr(text, what); at != NULL; at = strstr(at, what)) {
        memset(at, with, strlen(what));
    }
}

/* The scratch folder's name goes. */
static void drop_folder(char *text)
{
    char folder[512];
    snprintf(folder, sizeof(folder), "%s/", scene->folder);
    for (char *at = strstr(text, folder); at != NULL; at = strstr(at, folder)) {
        memmove(at, at + strlen(folder), strlen(at + strlen(folder)) + 1);
    }
}

static void normalise(char *text)
{
    mask(text, "([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z)", 1, "0123456789");
    mask(text, "(replay|park|purge)-([0-9]{8}-[0-9]{6}-[0-9a-f]+)", 2, "0123456789abcdef");
    mask(text, "[ (]([0-9]{4}d)[ )]", 1, "0123456789");
    shorten(text, "message ([0-9]+)", 1);
    shorten(text, "(waiting|parked):([0-9]+)", 2);
    replace_all(text, copy_id, 'x');
    drop_folder(text);
}

/* How far a job that stopped had come depends on the moment: its numbers go, with the blanks before them. */
static void squeeze(char *line)
{
    char *out = line;
    for (const char *in = line; *in != '\0'; in++) {
        bool digit = *in >= '0' && *in <= '9';
        bool again = (digit && out > line && out[-1] == 'N') || (*in == ' ' && out > line && out[-1] == ' ') ||
                     (*in == ',' && out > line && out[-1] == 'N' && in[1] >= '0' && in[1] <= '9');
        if (!again) {
            *out++ = digit ? 'N' : *in;
        }
    }
    *out = '\0';
}

/* Said when the machine is slow, and not of this evening. */
static bool is_of_the_machine(const char *line)
{
    return strstr(line, "does not answer") != NULL || strstr(line, ": NATS: ") != NULL;
}

static void add_line(const char *line)
{
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == ' ') {
        length--;
    }
    buffer_add(&page, line, length < LINE_MAX_SHOWN ? length : LINE_MAX_SHOWN);
    buffer_add_text(&page, length > LINE_MAX_SHOWN ? "...\n" : "\n");
}

static void add_output(const char *output, unsigned lines, bool stopped)
{
    char *text = memory_text(output, strlen(output));
    unsigned count = 0;
    normalise(text);
    char *place = NULL;
    for (char *line = strtok_r(text, "\n", &place); line != NULL; line = strtok_r(NULL, "\n", &place)) {
        if (is_of_the_machine(line)) {
            continue;
        }
        if (stopped || strstr(line, " stopped ") != NULL) {
            squeeze(line);
        }
        if (count < lines) {
            add_line(line);
        }
        count++;
    }
    if (count > lines) {
        buffer_add_format(&page, "... and %u lines more\n", count - lines);
    }
    free(text);
}

/* ------------------------------------------------------------------------------------------------- a command, and the page */

static void say(const char *text)
{
    buffer_add_text(&page, text);
    buffer_add_text(&page, "\n\n");
}

static void show(const char *words, int code, unsigned lines)
{
    char *text = memory_text(words, strlen(words));
    normalise(text);
    buffer_add_format(&page, "```\n$ tarry dlq %s\n", text);
    add_output(scene->output, lines, code == 1);
    add_output(scene->errors, lines, false);
    if (code != 0) {
        buffer_add_format(&page, "(exit status %d)\n", code);
    }
    buffer_add_text(&page, "```\n\n");
    free(text);
}

static void run(const char *words, int code)
{
    int ended = replay_scene_wait(scene, replay_scene_start(scene, words));
    if (ended != code) {
        fail_msg("tarry dlq %s ended with %d, not %d: %s%s", words, ended, code, scene->output, scene->errors);
    }
}

/* As typed on a terminal; but tables are asked for, as there is none, and have times in full. */
static void type(const char *words, int code, unsigned lines)
{
    char typed[1024];
    int length = snprintf(typed, sizeof(typed), "%s -o table", words);
    assert_true(length > 0 && (size_t)length < sizeof(typed));
    run(typed, code);
    show(words, code, lines);
}

static void type_export(const char *filter, const char *file)
{
    char words[1024];
    snprintf(words, sizeof(words), "export %s -O %s/%s", filter, scene->folder, file);
    run(words, 0);
    show(words, 0, 5);
}

static void assert_records(const char *topic, size_t count)
{
    struct kafka_client_records records = replay_scene_records(scene, topic);
    assert_int_equal(records.count, count);
    kafka_client_records_free(&records);
}

/* ------------------------------------------------------------------------------------------------- the evening */

static void look_around(void)
{
    char words[128];
    say("# An evening with dead letters");
    say("A test made this page (`tests/e2e/e2e_dlq_transcript.c`): 40,000 letters of five causes, and what a person on call does about them. `TARRY_CONFIG`\n"
        "names the configuration. Times of today, new ids, places in a stream, and how far a job had come when it stopped are shown as x and N. Long lines\n"
        "and long lists are cut.");
    say("## What is it?");
    type("reasons", 0, 20);
    type("reasons --by error", 0, 20);
    say("One of each, closer. A topic that is not there:");
    type("list --target payments --limit 3", 0, 10);
    snprintf(words, sizeof(words), "get %s", id_of(1, 0));
    type(words, 0, 40);
}

static void make_the_missing_topic(void)
{
    say("## `payments` was never made");
    say("It is made now. What would be done, and then it is done, slowly enough for those who read the topic:");
    replay_scene_topic(scene, "payments", 3, NULL);
    type("replay --target payments", 0, 10);
    assert_records("payments", 0);
    type("replay --target payments --rate 5000/s --execute", 0, 10);
    assert_records("payments", 10000);
}

static void try_too_early(void)
{
    static const char *const narrow[] = {"max.message.bytes=1000", NULL};
    say("## `invoices` takes larger records now, they say");
    say("Trust, but stop when a fifth fails again:");
    replay_scene_topic(scene, "invoices", 1, narrow);
    type("replay --target invoices --rate 2000/s --stop-after 20% --execute", 1, 10);
    assert_records("invoices", 0);
    assert_int_equal(replay_scene_parked(scene), 27000);
}

static void raise_the_limit(void)
{
    const char *const arguments[] = {"--bootstrap-server", kafka_broker_bootstrap(scene->kafka), "--alter", "--topic", "invoices", "--add-config",
                                     "max.message.bytes=1000000", NULL};
    say("It had been raised on another cluster. None is lost: what failed again is parked again. Now it is raised here:");
    assert_int_equal(kafka_broker_run_tool("kafka.admin.ConfigCommand", arguments, NULL, NULL), 0);
    type("replay --target invoices --rate 10000/s --stop-after 20% --execute", 0, 10);
    assert_records("invoices", 20000);
}

static void clear_the_refused(void)
{
    say("## Producers that wrote `tarry-delay: soon`");
    say("They have mended it and sent all of them anew. A copy is taken, and what would go is looked at before it goes:");
    type("list --reason bad_time --limit 2", 0, 10);
    type_export("--reason bad_time", "bad-times.jsonl");
    type("purge --reason bad_time", 0, 10);
    assert_int_equal(replay_scene_parked(scene), 7000);
    type("purge --reason bad_time --execute", 0, 10);
    assert_int_equal(replay_scene_parked(scene), 1000);
}

static void wait_for_monday(void)
{
    say("## The mail server is away until Monday");
    say("Redelivering is of no use until then. Parked, they wait for a person:");
    type("park --target mail", 0, 10);
    type("park --target mail --execute", 0, 10);
    assert_int_equal(replay_scene_waiting(scene), 0);
    assert_int_equal(replay_scene_parked(scene), 4000);
}

static void find_copy_id(void)
{
    const char *found = strstr(scene->output, "\"id\":\"");
    assert_non_null(found);
    snprintf(copy_id, sizeof(copy_id), "%.*s", LETTER_ID_SIZE - 1, found + strlen("\"id\":\""));
}

static void mend_one(void)
{
    char words[1024];
    char *path = temp_path(scene->folder, "mended.json");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("{\"order\": 0, \"amount\": 12.50}", file) >= 0);
    assert_int_equal(fclose(file), 0);
    say("## A value that nobody can read");
    say("One of them is urgent, and mended by hand; the others go to the team as a file, and stay until they have answered.");
    replay_scene_topic(scene, "audit", 1, NULL);
    snprintf(words, sizeof(words), "edit %s --value-file %s --set-header mended=yes --replace --execute", id_of(4, 0), path);
    run(words, 0);
    find_copy_id();
    show(words, 0, 2);
    snprintf(words, sizeof(words), "replay --id %s --execute", copy_id);
    type(words, 0, 10);
    struct kafka_client_records records = replay_scene_records(scene, "audit");
    assert_int_equal(records.count, 1);
    assert_true(span_equals_text(records.items[0].record.value, "{\"order\": 0, \"amount\": 12.50}"));
    assert_string_equal(kafka_client_header_text(&records.items[0], "mended"), "yes");
    kafka_client_records_free(&records);
    type_export("--target audit", "audit.jsonl");
    free(path);
}

static void go_home(void)
{
    say("## What is left, and what was done");
    type("reasons --by target", 0, 10);
    type("jobs", 0, 10);
    assert_int_equal(replay_scene_parked(scene), 3999);
    page.length--; /* one line end at the end of the file */
}

/* ------------------------------------------------------------------------------------------------- the page */

static char *read_page(void)
{
    char *text = memory_new(PAGE_MAX + 1, 1);
    FILE *file = fopen(TRANSCRIPT_DOCS, "r");
    if (file == NULL) {
        fail_msg("there is no %s: TARRY_UPDATE_DOCS=1 writes it", TRANSCRIPT_DOCS);
    }
    text[fread(text, 1, PAGE_MAX, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    return text;
}

static void write_page(void)
{
    FILE *file = fopen(TRANSCRIPT_DOCS, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(page.data, 1, page.length, file), page.length);
    assert_int_equal(fclose(file), 0);
}

static void compare_page(void)
{
    char *found = read_page();
    size_t at = 0;
    size_t line = 1;
    while (at < page.length && found[at] == (char)page.data[at]) {
        line += found[at++] == '\n';
    }
    if (at < page.length || found[at] != '\0') {
        fail_msg("docs/dead-letters-transcript.md differs in line %zu:\n%.300s\nwhere it was now:\n%.*s", line, found + at, page.length - at < 300 ? (int)(page.length - at) : 300,
                 (const char *)page.data + at);
    }
    free(found);
}

static void an_evening_on_call(void **state)
{
    (void)state;
    bool update = getenv("TARRY_UPDATE_DOCS") != NULL;
    (void)unsetenv("TARRY_UPDATE_DOCS"); /* tarry takes what begins so for its configuration, and would say that it knows no such key */
    page = buffer_new(PAGE_MAX);
    post_all();
    look_around();
    make_the_missing_topic();
    try_too_early();
    raise_the_limit();
    clear_the_refused();
    wait_for_monday();
    mend_one();
    go_home();
    if (update) {
        write_page();
    }
    compare_page();
    buffer_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_evening_on_call),
    };
    return cmocka_run_group_tests(tests, replay_scene_fixture_open, replay_scene_fixture_close);
}
