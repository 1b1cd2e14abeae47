/* Headers of what goes out, and of what is written again: control headers of every dialect that is on, styles, next occurrences, decisions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bridge/outgoing.h"
#include "bridge/time_text.h"
#include "support/sample_record.h"

#define HEADERS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define ROOT "3:1795961500000:1795961505000:events"
#define NEXT_MS INT64_C(1795970000000)
#define ARENA_MAX (1 << 16)

/* A record that came in, as a row, and where it came from. */
struct scene {
    struct decode_rules rules;
    struct sample in;
    struct decoded decoded;
    struct buffer bytes;
    struct row row;
    struct sink_origin origin;
};

static void open_scene(struct scene *scene, struct decode_rules rules, const char *key, const char *const *headers)
{
    struct refusal refusal;
    struct error error;
    scene->rules = rules;
    sample_begin(&scene->in, key, "v");
    for (; headers[0] != NULL; headers += 2) {
        sample_add(&scene->in, headers[0], headers[1]);
    }
    if (!decode_record(&scene->rules, &scene->in.record, &scene->decoded, &refusal)) {
        fail_msg("%s", refusal.text);
    }
    scene->bytes = buffer_new(ARENA_MAX);
    assert_true(row_encode(&scene->bytes, &scene->in.record, &scene->decoded, &error));
    assert_true(row_decode(buffer_span(&scene->bytes), &scene->row, &error));
    scene->origin = (struct sink_origin){"in", 3, scene->row.root >= 0 ? scene->row.root : scene->in.record.offset, scene->decoded.due_ms, &scene->rules};
}

static void close_scene(struct scene *scene)
{
    buffer_free(&scene->bytes);
}

/* What is handed over is borrowed for the call, so it is copied: as a record's headers, and as text, "name: value; ..." with "-" for null. */
struct taken {
    struct sample sample;
    struct buffer arena;
    struct buffer text;
};

static struct span keep(struct buffer *arena, struct span bytes)
{
    if (bytes.data == NULL) {
        return bytes;
    }
    uint8_t *room = buffer_extend(arena, bytes.length + 1);
    assert_non_null(room);
    memcpy(room, bytes.data, bytes.length);
    return (struct span){room, bytes.length};
}

static void take(void *context, struct span name, struct span value)
{
    struct taken *taken = context;
    struct sample *sample = &taken->sample;
    buffer_add_format(&taken->text, "%s%.*s: ", sample->record.header_count == 0 ? "" : "; ", (int)name.length, (const char *)name.data);
    buffer_add_span(&taken->text, value.data == NULL ? span_of_text("-") : value);
    sample->headers[sample->record.header_count++] = (struct record_header){keep(&taken->arena, name), keep(&taken->arena, value)};
}

static void begin_taking(struct taken *taken, const struct scene *scene)
{
    sample_begin(&taken->sample, NULL, NULL);
    taken->sample.record.key = scene->row.record.key;
    taken->sample.record.value = scene->row.record.value;
    taken->arena = buffer_new(ARENA_MAX);
    taken->text = buffer_new(ARENA_MAX);
    buffer_clear(&taken->text);
    (void)buffer_extend(&taken->arena, ARENA_MAX / 2); /* all at once: what it gives out must not move */
    buffer_clear(&taken->arena);
}

static const char *text_of(struct taken *taken)
{
    buffer_add(&taken->text, "", 1);
    return (const char *)taken->text.data;
}

static void end_taking(struct taken *taken)
{
    buffer_free(&taken->arena);
    buffer_free(&taken->text);
}

static struct decode_rules rules_of(const char *first, const char *second)
{
    static const struct dialect *on[2];
    struct decode_rules rules = sample_rules();
    on[0] = dialect_preset(span_of_text(first));
    on[1] = second == NULL ? NULL : dialect_preset(span_of_text(second));
    rules.dialects = on;
    rules.dialect_count = second == NULL ? 1 : 2;
    rules.default_delay_ms = 1000;
    return rules;
}

static void expect_out(struct decode_rules rules, const char *key, const char *const *headers, enum output_headers style, const char *expected)
{
    struct scene scene;
    struct taken taken;
    open_scene(&scene, rules, key, headers);
    begin_taking(&taken, &scene);
    assert_true(outgoing_accepted(&scene.row, &scene.origin, style, take, &taken));
    assert_string_equal(text_of(&taken), expected);
    end_taking(&taken);
    close_scene(&scene);
}

static void controls_of_what_is_on_do_not_go_out(void **state)
{
    static const char *const headers[] = {"mine", "1", "x-delay", "5", "tarry-id", "a", "scheduler-epoch", "1795961634", "schedule_schema_version", "1", "mine", NULL,
                                          "delay_ms", "7", NULL};
    (void)state;
    expect_out(rules_of("rabbitmq", NULL), "k", headers, OUTPUT_HEADERS_NONE, "mine: 1; scheduler-epoch: 1795961634; schedule_schema_version: 1; mine: -");
    expect_out(rules_of("etf1", "karafka"), "k", headers, OUTPUT_HEADERS_NONE, "mine: 1; x-delay: 5; mine: -");
    expect_out(rules_of("activemq", NULL), "k", headers, OUTPUT_HEADERS_NONE,
               "mine: 1; x-delay: 5; scheduler-epoch: 1795961634; schedule_schema_version: 1; mine: -");
}

static void without_rules_only_ours_stay_here(void **state)
{
    struct scene scene;
    struct taken taken;
    (void)state;
    open_scene(&scene, rules_of("rabbitmq", NULL), "k", HEADERS("x-delay", "5", "tarry-cron", "x", "mine", "1"));
    scene.origin.rules = NULL;
    begin_taking(&taken, &scene);
    assert_true(outgoing_accepted(&scene.row, &scene.origin, OUTPUT_HEADERS_NONE, take, &taken));
    assert_string_equal(text_of(&taken), "x-delay: 5; mine: 1");
    end_taking(&taken);
    close_scene(&scene);
}

static void the_style_of_tarry(void **state)
{
    (void)state;
    expect_out(rules_of("tarry", NULL), "k", HEADERS("mine", "1", "tarry-due", "1", "tarry-source", "x", "tarry-delay", "5s"), OUTPUT_HEADERS_TARRY,
               "mine: 1; tarry-id: in/3/7; tarry-due: 1795961579000; tarry-source: in/3/7");
    expect_out(rules_of("etf1", NULL), "order-123", HEADERS("scheduler-epoch", "1795961634"), OUTPUT_HEADERS_TARRY,
               "tarry-id: order-123; tarry-due: 1795961634000; tarry-source: in/3/7");
}

/* The triad, each once however often the record goes round, whatever dialects are on. */
static void the_style_of_etf1(void **state)
{
    static const char *const round[] = {"scheduler-timestamp", "1", "scheduler-key", "old", "scheduler-topic", "other", "mine", "1", "scheduler-timestamp", "2", NULL};
    (void)state;
    expect_out(rules_of("etf1", NULL), "order-123", HEADERS("scheduler-epoch", "1795961634", "mine", "1"), OUTPUT_HEADERS_ETF1,
               "mine: 1; scheduler-timestamp: 1795961574; scheduler-key: order-123; scheduler-topic: in");
    expect_out(rules_of("etf1", "tarry"), "k", round, OUTPUT_HEADERS_ETF1, "mine: 1; scheduler-timestamp: 1795961574; scheduler-key: k; scheduler-topic: in");
    expect_out(rules_of("tarry", NULL), "k", round, OUTPUT_HEADERS_ETF1, "mine: 1; scheduler-timestamp: 1795961574; scheduler-key: k; scheduler-topic: in");
    expect_out(rules_of("etf1", NULL), NULL, HEADERS("scheduler-target-key", "t"), OUTPUT_HEADERS_ETF1,
               "scheduler-timestamp: 1795961574; scheduler-key: -; scheduler-topic: in");
    /* of a copy: the timestamp of the record that a person wrote; none if it had none */
    expect_out(rules_of("etf1", NULL), "k", HEADERS("tarry-root", ROOT), OUTPUT_HEADERS_ETF1, "scheduler-timestamp: 1795961500; scheduler-key: k; scheduler-topic: in");
    expect_out(rules_of("etf1", NULL), "k", HEADERS("tarry-root", "3:-1:1795961505000:events"), OUTPUT_HEADERS_ETF1, "scheduler-key: k; scheduler-topic: in");
}

/* --- written again --- */

static void expect_again(const char *const *headers, const struct outgoing_again *again, int64_t looked_at_ms, const char *expected, struct decoded *read_back)
{
    struct scene scene;
    struct taken taken;
    struct refusal refusal;
    static uint8_t id[8];
    open_scene(&scene, rules_of("tarry", NULL), "k", headers);
    scene.origin.due_ms = looked_at_ms;
    begin_taking(&taken, &scene);
    assert_true(outgoing_copied(&scene.row, &scene.origin, again, take, &taken));
    assert_string_equal(text_of(&taken), expected);
    taken.sample.record.offset = 100;
    taken.sample.record.timestamp_ms += 999;
    if (!decode_record(&scene.rules, &taken.sample.record, read_back, &refusal)) {
        fail_msg("%s", refusal.text);
    }
    memcpy(id, read_back->id.data == NULL ? (const uint8_t *)"" : read_back->id.data, read_back->id.length);
    read_back->id.data = id;
    end_taking(&taken);
    close_scene(&scene);
}

static void a_next_occurrence(void **state)
{
    struct decoded back;
    (void)state;
    expect_again(HEADERS("tarry-id", "a", "tarry-every", "1m"), &(struct outgoing_again){NEXT_MS, 0, 1}, 0,
                 "tarry-id: a; tarry-every: 1m; tarry-root: 7:1795961574000:1795970000000:events; tarry-runs: 1", &back);
    assert_int_equal(back.due_ms, NEXT_MS);
    assert_int_equal(back.recurrence.kind, DECODE_RECURRENCE_EVERY);
    assert_int_equal(back.recurrence.runs, 1);
    assert_int_equal(back.root, 7);
    assert_false(back.undecided || back.paused);
    /* from a copy: an earlier root and run count stand there no more */
    expect_again(HEADERS("tarry-id", "a", "tarry-runs", "1", "tarry-cron", "0 9 * * *", "tarry-root", "3:1795961500000:1795961505000:events:2", "tarry-not-before", "5"),
                 &(struct outgoing_again){NEXT_MS, 0, 2}, 0,
                 "tarry-id: a; tarry-cron: 0 9 * * *; tarry-root: 3:1795961500000:1795970000000:events:2; tarry-runs: 2", &back);
    assert_int_equal(back.recurrence.runs, 2);
    assert_int_equal(back.partition, 2);
    assert_int_equal(back.root, 3);
}

static void runs_are_kept_unless_said(void **state)
{
    static const char *const headers[] = {"tarry-id", "a", "tarry-every", "1m", "tarry-root", ROOT, "tarry-runs", "5", NULL};
    struct decoded back;
    (void)state;
    expect_again(headers, &(struct outgoing_again){NEXT_MS, 0, -1}, 0,
                 "tarry-id: a; tarry-every: 1m; tarry-root: 3:1795961500000:1795970000000:events; tarry-runs: 5", &back);
    expect_again(headers, NULL, 0, "tarry-id: a; tarry-every: 1m; tarry-root: " ROOT "; tarry-runs: 5", &back);
    assert_int_equal(back.recurrence.runs, 5);
    expect_again(headers, &(struct outgoing_again){NEXT_MS, 0, 0}, 0, "tarry-id: a; tarry-every: 1m; tarry-root: 3:1795961500000:1795970000000:events", &back);
    assert_int_equal(back.recurrence.runs, 0);
}

static void a_decision(void **state)
{
    static const char *const headers[] = {"tarry-id", "a", "tarry-if-exists", "reject", "tarry-delay", "5s", NULL};
    struct decoded back;
    (void)state;
    expect_again(headers, &(struct outgoing_again){INT64_C(1795961579000), 0, -1}, 0,
                 "tarry-id: a; tarry-if-exists: reject; tarry-delay: 5s; tarry-root: 7:1795961574000:1795961579000:events", &back);
    assert_false(back.conditional || back.undecided);
    assert_int_equal(back.due_ms, INT64_C(1795961579000));
    /* copied forward before it is decided: it stays undecided */
    expect_again(headers, NULL, 0, "tarry-id: a; tarry-if-exists: reject; tarry-delay: 5s; tarry-root: 7:1795961574000", &back);
    assert_true(back.conditional && back.undecided);
    assert_int_equal(back.due_ms, INT64_C(1795961579000));
    assert_int_equal(back.root, 7);
    expect_again(HEADERS("tarry-id", "a", "tarry-cron", "0 9 * * *"), NULL, 0, "tarry-id: a; tarry-cron: 0 9 * * *; tarry-root: 7:1795961574000", &back);
    assert_true(back.undecided);
    assert_int_equal(back.due_ms, DUE_SINCE_EVER);
}

static void paused_and_resumed(void **state)
{
    static const char *const paused[] = {"tarry-id", "a", "tarry-root", ROOT, "tarry-not-before", "253402300799999", NULL};
    struct decoded back;
    (void)state;
    expect_again(HEADERS("tarry-id", "a", "tarry-delay", "5s"), &(struct outgoing_again){INT64_C(1795961579000), TIME_TEXT_LAST_MS, -1}, 0,
                 "tarry-id: a; tarry-delay: 5s; tarry-root: 7:1795961574000:1795961579000:events; tarry-not-before: 253402300799999", &back);
    assert_true(back.paused);
    assert_int_equal(back.due_ms, INT64_C(1795961579000));
    /* copied forward it stays paused, whatever its key says */
    expect_again(paused, NULL, TIME_TEXT_LAST_MS, "tarry-id: a; tarry-root: " ROOT "; tarry-not-before: 253402300799999", &back);
    expect_again(paused, NULL, 0, "tarry-id: a; tarry-root: " ROOT "; tarry-not-before: 253402300799999", &back);
    assert_true(back.paused);
    expect_again(paused, &(struct outgoing_again){INT64_C(1795961505000), 0, -1}, 0, "tarry-id: a; tarry-root: " ROOT, &back);
    assert_false(back.paused);
}

static void put_off(void **state)
{
    struct decoded back;
    (void)state;
    expect_again(HEADERS("tarry-delay", "5s"), NULL, NEXT_MS, "tarry-delay: 5s; tarry-root: 7:1795961574000:1795961579000:events; tarry-not-before: 1795970000000", &back);
    expect_again(HEADERS("tarry-delay", "5s"), &(struct outgoing_again){INT64_C(1795961579000), NEXT_MS, -1}, 0,
                 "tarry-delay: 5s; tarry-root: 7:1795961574000:1795961579000:events; tarry-not-before: 1795970000000", &back);
    assert_int_equal(back.due_ms, INT64_C(1795961579000));
    assert_false(back.paused);
    expect_again(HEADERS("tarry-delay", "5s"), &(struct outgoing_again){INT64_C(1795961579000), 1, -1}, 0,
                 "tarry-delay: 5s; tarry-root: 7:1795961574000:1795961579000:events; tarry-not-before: 1", &back);
}

/* Of a refused one nothing was decided: only when it is to be looked at counts. */
static void refused_ones(void **state)
{
    struct refusal refusal = {REFUSAL_BAD_SCHEDULE, "bad"};
    struct error error;
    struct scene scene;
    struct taken taken;
    (void)state;
    open_scene(&scene, rules_of("tarry", NULL), "k", HEADERS("tarry-delay", "5s"));
    buffer_clear(&scene.bytes);
    assert_true(row_encode_refused(&scene.bytes, &scene.in.record, &refusal, &error) && row_decode(buffer_span(&scene.bytes), &scene.row, &error));
    begin_taking(&taken, &scene);
    assert_true(outgoing_copied(&scene.row, &scene.origin, &(struct outgoing_again){5, NEXT_MS, 9}, take, &taken));
    assert_string_equal(text_of(&taken), "tarry-delay: 5s; tarry-root: 7:1795961574000; tarry-not-before: 1795970000000");
    end_taking(&taken);
    close_scene(&scene);
}

/* A letter of what is to be decided anew holds what a person wrote, of a copy too. */
static void whole_it_has_nothing_of_copies(void **state)
{
    static const char *const roots[] = {"3:1795961500000", ROOT};
    (void)state;
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        struct scene scene;
        struct taken taken;
        open_scene(&scene, sample_rules(), "k",
                   HEADERS("a", "1", "tarry-id", "x", "tarry-root", roots[i], "tarry-cron", "0 9 * * *", "tarry-runs", "4", "tarry-not-before", "5"));
        begin_taking(&taken, &scene);
        assert_true(outgoing_refused(&scene.row, take, &taken));
        assert_string_equal(text_of(&taken), "a: 1; tarry-id: x; tarry-cron: 0 9 * * *");
        end_taking(&taken);
        close_scene(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_it_has_nothing_of_copies),
        cmocka_unit_test(controls_of_what_is_on_do_not_go_out),
        cmocka_unit_test(without_rules_only_ours_stay_here),
        cmocka_unit_test(the_style_of_tarry),
        cmocka_unit_test(the_style_of_etf1),
        cmocka_unit_test(a_next_occurrence),
        cmocka_unit_test(runs_are_kept_unless_said),
        cmocka_unit_test(a_decision),
        cmocka_unit_test(paused_and_resumed),
        cmocka_unit_test(put_off),
        cmocka_unit_test(refused_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
