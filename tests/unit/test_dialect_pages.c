/*
 * The examples in docs/semantics.md, docs/schedules.md and docs/migration: each block ```record is a record, and what is to be said of it behind "->". So a page cannot promise
 * what is not so. The words of a block: read_input and check_result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "bridge/decimal.h"
#include "bridge/outgoing.h"
#include "bridge/time_text.h"
#include "support/sample_record.h"

#define DIALECTS_ON_MAX 4
#define OWN_MAX 16
#define PAGE_MAX (1 << 20)

/* One block as it is being read, and what came of it. */
struct example {
    const char *page;
    int line;
    char *texts; /* the block's lines, each ended by a NUL: everything here borrows from them */
    struct dialect_entry entries[OWN_MAX];
    struct dialect own;
    const struct dialect *on[DIALECTS_ON_MAX];
    struct decode_rules rules;
    struct sample sample;
    enum output_headers style;
    bool run;
    bool accepted;
    struct decoded decoded;
    struct refusal refusal;
    struct buffer bytes;
    struct buffer out; /* "\nname: value\n" for each header that goes out */
    int results;
};

#define EXPECT(example, condition)                                                                                     \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fail_msg("%s:%d: %s (refusal: %s)", (example)->page, (example)->line, #condition, (example)->refusal.text);  \
        }                                                                                                              \
    } while (0)

/* The rest of `line` behind `word`, or NULL. */
static const char *after(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 ? line + length : NULL;
}

static int64_t moment(const struct example *example, const char *text)
{
    int64_t ms = 0;
    EXPECT(example, time_text_parse(span_of_text(text), &ms) || decimal_parse(span_of_text(text), &ms) == DECIMAL_READ);
    return ms;
}

static struct span value_of(const char *text)
{
    return strcmp(text, "(null)") == 0 ? SPAN_ABSENT : span_of_text(text);
}

/* "NAME: rest" becomes name and rest. */
static const char *split(const struct example *example, char *line, const char **name)
{
    char *colon = strstr(line, ": ");
    EXPECT(example, colon != NULL);
    *colon = '\0';
    *name = line;
    return colon + 2;
}

static void read_dialects(struct example *example, char *list)
{
    example->rules.dialect_count = 0;
    for (char *rest = list, *name = strtok_r(list, ", ", &rest); name != NULL; name = strtok_r(NULL, ", ", &rest)) {
        const struct dialect *preset = dialect_preset(span_of_text(name));
        EXPECT(example, example->rules.dialect_count < DIALECTS_ON_MAX);
        example->on[example->rules.dialect_count++] = preset == NULL ? &example->own : preset;
    }
}

static void read_own(struct example *example, char *line)
{
    const char *name;
    struct dialect_entry *entry = &example->entries[example->own.count];
    const char *meaning = split(example, line, &name);
    EXPECT(example, example->own.count < OWN_MAX);
    EXPECT(example, dialect_meaning(span_of_text(meaning), entry));
    entry->header = name;
    example->own.count++;
}

static void read_header(struct example *example, char *line)
{
    const char *name;
    const char *value = split(example, line, &name);
    sample_add_bytes(&example->sample, name, value_of(value));
}

static void read_timestamp(struct example *example, const char *text)
{
    bool none = strcmp(text, "none") == 0;
    example->sample.record.timestamp = none ? RECORD_TIMESTAMP_NONE : RECORD_TIMESTAMP_CREATE;
    example->sample.record.timestamp_ms = none ? -1 : moment(example, text);
}

static void read_setting(struct example *example, const char *line)
{
    const char *rest;
    if ((rest = after(line, "default target: ")) != NULL) {
        example->rules.default_target = rest;
    } else if ((rest = after(line, "default delay: ")) != NULL) {
        example->rules.default_delay_ms = moment(example, rest);
    } else if (strcmp(line, "envelope: true") == 0) {
        example->rules.envelope = true;
    } else if (strcmp(line, "id from key: true") == 0) {
        example->own.id_from_key = true;
    } else if (strcmp(line, "null is cancel: true") == 0) {
        example->own.null_is_cancel = true;
    } else if (strcmp(line, "headers out: etf1") == 0) {
        example->style = OUTPUT_HEADERS_ETF1;
    } else {
        fail_msg("%s:%d: not understood: %s", example->page, example->line, line);
    }
}

static void read_input(struct example *example, char *line)
{
    if (after(line, "dialects: ") != NULL) {
        read_dialects(example, line + strlen("dialects: "));
    } else if (after(line, "own ") != NULL) {
        read_own(example, line + strlen("own "));
    } else if (after(line, "header ") != NULL) {
        read_header(example, line + strlen("header "));
    } else if (after(line, "timestamp: ") != NULL) {
        read_timestamp(example, after(line, "timestamp: "));
    } else if (after(line, "key: ") != NULL) {
        example->sample.record.key = value_of(after(line, "key: "));
    } else if (after(line, "value: ") != NULL) {
        example->sample.record.value = value_of(after(line, "value: "));
    } else {
        read_setting(example, line);
    }
}

/* --- what came of it --- */

static void take_out(void *context, struct span name, struct span value)
{
    struct buffer *out = context;
    buffer_add_format(out, "\n%.*s: ", (int)name.length, (const char *)name.data);
    buffer_add_span(out, value.data == NULL ? span_of_text("(null)") : value);
    buffer_add_text(out, "\n");
}

static void run(struct example *example)
{
    struct error error;
    struct row row;
    example->run = true;
    dialect_index(&example->own);
    example->accepted = decode_record(&example->rules, &example->sample.record, &example->decoded, &example->refusal);
    if (!example->accepted || example->decoded.action == DECODE_CANCEL) {
        return;
    }
    assert_true(row_encode(&example->bytes, &example->sample.record, &example->decoded, &error));
    assert_true(row_decode(buffer_span(&example->bytes), &row, &error));
    struct sink_origin origin = {"schedules", 0, example->sample.record.offset, row.decoded.due_ms, &example->rules};
    assert_true(outgoing_accepted(&row, &origin, example->style, take_out, &example->out));
    buffer_add(&example->out, "", 1);
}

static bool goes_out(const struct example *example, const char *text)
{
    char wanted[512];
    snprintf(wanted, sizeof wanted, "\n%s", text);
    return example->out.data != NULL && strstr((const char *)example->out.data, wanted) != NULL;
}

static bool check_recurrence(const struct example *example, const char *line)
{
    const struct decoded_recurrence *recurrence = &example->decoded.recurrence;
    const char *rest;
    if ((rest = after(line, "every ")) != NULL) {
        EXPECT(example, recurrence->kind == DECODE_RECURRENCE_EVERY && recurrence->every_ms == moment(example, rest));
    } else if ((rest = after(line, "cron ")) != NULL) {
        EXPECT(example, recurrence->kind == DECODE_RECURRENCE_CRON && span_equals_text(recurrence->cron, rest));
    } else if ((rest = after(line, "zone ")) != NULL) {
        EXPECT(example, span_equals_text(recurrence->zone, rest));
    } else if ((rest = after(line, "until ")) != NULL) {
        EXPECT(example, recurrence->until_ms == moment(example, rest));
    } else if ((rest = after(line, "count ")) != NULL) {
        EXPECT(example, recurrence->count == moment(example, rest));
    } else {
        return false;
    }
    return true;
}

static bool check_where(const struct example *example, const char *line)
{
    const struct decoded *decoded = &example->decoded;
    const char *rest;
    if ((rest = after(line, "due ")) != NULL) {
        EXPECT(example, decoded->due_ms == moment(example, rest));
    } else if ((rest = after(line, "target ")) != NULL) {
        EXPECT(example, span_equals_text(decoded->target, rest));
    } else if ((rest = after(line, "key ")) != NULL) {
        EXPECT(example, span_equal(decoded->key, value_of(rest)));
    } else if ((rest = after(line, "value ")) != NULL) {
        EXPECT(example, span_equal(decoded->value, value_of(rest)));
    } else if ((rest = after(line, "id ")) != NULL) {
        EXPECT(example, span_equals_text(decoded->id, rest));
    } else if ((rest = after(line, "partition ")) != NULL) {
        EXPECT(example, decoded->partition == (int32_t)moment(example, rest));
    } else {
        return false;
    }
    return true;
}

static bool check_out(const struct example *example, const char *line)
{
    const char *rest;
    if ((rest = after(line, "out ")) != NULL) {
        EXPECT(example, goes_out(example, rest));
    } else if ((rest = after(line, "not out ")) != NULL) {
        char name[256];
        snprintf(name, sizeof name, "%s: ", rest);
        EXPECT(example, !goes_out(example, name));
    } else {
        return false;
    }
    return true;
}

static void check_result(struct example *example, const char *line)
{
    const char *rest;
    if (!example->run) {
        run(example);
    }
    example->results++;
    if ((rest = after(line, "refused ")) != NULL) {
        EXPECT(example, !example->accepted && strcmp(refusal_name(example->refusal.reason), rest) == 0);
        return;
    }
    EXPECT(example, example->accepted);
    if ((rest = after(line, "cancels ")) != NULL) {
        EXPECT(example, example->decoded.action == DECODE_CANCEL && span_equals_text(example->decoded.id, rest));
        return;
    }
    EXPECT(example, example->decoded.action == DECODE_SCHEDULE);
    if (strcmp(line, "undecided") == 0) {
        EXPECT(example, example->decoded.undecided);
    } else if (strcmp(line, "conditional") == 0) {
        EXPECT(example, example->decoded.conditional);
    } else if ((rest = after(line, "expires ")) != NULL) {
        EXPECT(example, example->decoded.expires_ms == moment(example, rest));
    } else if (!check_where(example, line) && !check_recurrence(example, line) && !check_out(example, line)) {
        fail_msg("%s:%d: not understood: -> %s", example->page, example->line, line);
    }
}

/* --- pages --- */

static void begin(struct example *example, const char *page)
{
    memset(example, 0, sizeof *example);
    example->page = page;
    example->own = (struct dialect){.name = "own", .entries = example->entries};
    example->rules = sample_rules();
    example->rules.dialects = example->on;
    example->on[0] = dialect_preset(span_of_text("tarry"));
    sample_begin(&example->sample, NULL, NULL);
    example->bytes = buffer_new(PAGE_MAX);
    example->out = buffer_new(PAGE_MAX);
}

static void end(struct example *example)
{
    EXPECT(example, example->results > 0);
    buffer_free(&example->bytes);
    buffer_free(&example->out);
}

static char *read_page(const char *page)
{
    char path[1024];
    char *text = memory_new(PAGE_MAX, 1);
    snprintf(path, sizeof path, "%s/%s", DOCS_DIR, page);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(text, 1, PAGE_MAX - 1, file);
    assert_true(length > 0 && length < PAGE_MAX - 1);
    fclose(file);
    return text;
}

/* Checks the page's examples; how many there are. */
static int check_page(const char *page)
{
    static struct example example;
    char *text = read_page(page);
    bool inside = false;
    int count = 0;
    int number = 0;
    for (char *line = text, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        number++;
        if (!inside && strcmp(line, "```record") == 0) {
            inside = true;
            count++;
            begin(&example, page);
        } else if (inside && strcmp(line, "```") == 0) {
            inside = false;
            end(&example);
        } else if (inside) {
            example.line = number;
            if (after(line, "-> ") != NULL) {
                check_result(&example, after(line, "-> "));
            } else {
                EXPECT(&example, !example.run);
                read_input(&example, line);
            }
        }
    }
    assert_false(inside);
    free(text);
    return count;
}

static void assert_page(const char *page, int least)
{
    int count = check_page(page);
    if (count < least) {
        fail_msg("%s has %d examples, not %d", page, count, least);
    }
}

static void etf1(void **state)
{
    (void)state;
    assert_page("migration/etf1.md", 5);
}

static void karafka(void **state)
{
    (void)state;
    assert_page("migration/karafka.md", 4);
}

static void rabbitmq(void **state)
{
    (void)state;
    assert_page("migration/rabbitmq.md", 5);
}

static void rocketmq(void **state)
{
    (void)state;
    assert_page("migration/rocketmq.md", 7);
}

static void activemq(void **state)
{
    (void)state;
    assert_page("migration/activemq.md", 4);
}

static void own(void **state)
{
    (void)state;
    assert_page("migration/own.md", 6);
}

static void semantics(void **state)
{
    (void)state;
    assert_page("semantics.md", 12);
}

static void schedules(void **state)
{
    (void)state;
    assert_page("schedules.md", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(etf1),     cmocka_unit_test(karafka), cmocka_unit_test(rabbitmq),  cmocka_unit_test(rocketmq),
        cmocka_unit_test(activemq), cmocka_unit_test(own),     cmocka_unit_test(semantics), cmocka_unit_test(schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
