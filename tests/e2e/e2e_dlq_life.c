/*
 * The life of letters: a record fails, is redelivered with backoff, is parked, survives every restart as it is, and a person's replay brings it, exact, to
 * the topic that is there by then. And a record that cannot get better is parked at once and holds up nobody (reports N01, N02, D02, D06).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dlq/reader.h"
#include "tests/support/await.h"
#include "tests/support/nats_letters.h"
#include "tests/support/scene_dlq.h"
#include "tests/support/scene_letters.h"

#define EVENTS 10
#define REDELIVERIES 3
#define BACKOFF_MS 400 /* then 800, then 1600 */
#define LATE_MS 15000  /* generous: the machine is shared */
#define QUIET_MS 2500  /* longer than any backoff of these */
#define DELAY_MS 300

#define COMMON                                                                                                                                  \
    .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}", .shared_input = true, .letters = true,                         \
    .targets = "[{name: late, match: \"@-late\", retry: {max_deliver: 3, backoff: 400ms, factor: 2, jitter: 0}}]"

static const struct scene_options at_least_once = {COMMON, .more = "delivery: at_least_once\nunknown_topic_grace: 500ms\ntransaction_timeout: 4s"};
static const struct scene_options exactly_once = {COMMON, .more = "delivery: exactly_once\nunknown_topic_grace: 500ms\ntransaction_timeout: 4s"};

#define BYTES(text) {(const uint8_t *)(text), sizeof(text) - 1}
#define HEADER(name, value) {BYTES(name), BYTES(value)}

/* What nobody's parser may see as its own; a null, an empty one, repeats, and what an earlier failure left. The last two of an earlier round go. */
static const struct record_header headers[] = {
    HEADER("Nats-Msg-Id", "1"),
    HEADER("Nats-Expected-Stream", "nowhere"),
    HEADER("Nats-Msg-Id", "2\r\nNats-Rollup: all"),
    {BYTES("null"), {NULL, 0}},
    HEADER("empty", ""),
    HEADER("binary", "\x00\x1b[2J\xff\xfe\r\n"),
    HEADER("", "no name"),
    HEADER("again", "b"),
    HEADER("again", "a"),
    HEADER("x-delay-ms", "60000"),
    HEADER("__dlq.errors.message", "of long ago"),
    HEADER("kafka_dlt-original-topic", "elsewhere"),
};
#define HEADERS (sizeof(headers) / sizeof(headers[0]))
#define HEADERS_KEPT (HEADERS - 2)

static struct span key_of(unsigned event)
{
    static uint8_t keys[EVENTS][6];
    memcpy(keys[event], "\x00\xff\x80key", 6);
    keys[event][5] = (uint8_t)event;
    return (struct span){keys[event], 6};
}

/* One null, one empty, the others of all bytes. */
static struct span value_of(unsigned event)
{
    static uint8_t bytes[256 + EVENTS];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)i;
    }
    return event == 0 ? SPAN_ABSENT : event == 1 ? span_of_text("") : (struct span){bytes + event, 256};
}

static const char *id_of(unsigned event)
{
    static char ids[EVENTS][16];
    snprintf(ids[event], sizeof(ids[event]), "order %u>*", event);
    return ids[event];
}

static void send_events(struct scene *scene, const char *topic)
{
    for (unsigned event = 0; event < EVENTS; event++) {
        scene_send_apart(scene, &(struct scene_event){.delay_ms = DELAY_MS,
                                                      .target = topic,
                                                      .key = key_of(event),
                                                      .value = value_of(event),
                                                      .id = span_of_text(id_of(event)),
                                                      .headers = headers,
                                                      .header_count = HEADERS});
    }
    scene_flush(scene);
}

static unsigned event_of(const struct letter *letter)
{
    unsigned event = 0;
    while (event < EVENTS && !span_equals_text(letter->schedule_id, id_of(event))) {
        event++;
    }
    assert_true(event < EVENTS);
    return event;
}

/* ------------------------------------------------------------------------------------------------- redelivered, and parked */

/* What was seen of the letters of one record, by attempt. */
struct trail {
    uint32_t seen;
    int64_t stored_ms[REDELIVERIES + 2]; /* by the server's clock */
    int64_t not_before_ms[REDELIVERIES + 2];
    int64_t last_failure_ms[REDELIVERIES + 2];
};

static void note(struct trail *trails, const struct reader_message *message)
{
    struct letter letter;
    struct error error;
    assert_true(letter_decode(message->bytes, &letter, &error));
    struct trail *trail = &trails[event_of(&letter)];
    assert_int_equal(letter.attempt, trail->seen + 1); /* none twice, none left out */
    assert_true(letter.attempt <= REDELIVERIES);
    trail->seen++;
    trail->stored_ms[letter.attempt] = message->stored_ms;
    trail->not_before_ms[letter.attempt] = letter.not_before_ms;
    trail->last_failure_ms[letter.attempt] = letter.last_failure_ms;
}

/* Follows the letters through the stream while they come and go, until all are parked. */
static void follow(struct scene *scene, struct nats_client *client, struct trail *trails)
{
    struct link *link = nats_letters_link(scene->nats_url);
    struct reader *reader = NULL;
    struct reader_message message;
    struct error error;
    int64_t end_ms = await_mono_ms() + 2 * SCENE_DLQ_OUT_MS;
    assert_true(reader_open(link, scene->dlq_stream, NULL, 1, &reader, &error));
    while (scene_dlq_count(scene, client, LETTER_PARKED) < EVENTS) {
        assert_true(await_mono_ms() < end_ms);
        while (reader_poll(reader, 50, &message, &error) == READER_MESSAGE) {
            note(trails, &message);
        }
    }
    reader_close(reader);
    link_close(link);
}

/* Each gap is at least its backoff, by the clock of NATS; and no other number of attempts than three. */
static void assert_gaps(const struct trail *trail, const struct scene_letter *parked)
{
    int64_t backoff_ms = BACKOFF_MS;
    assert_int_equal(trail->seen, REDELIVERIES);
    for (uint32_t attempt = 1; attempt <= REDELIVERIES; attempt++) {
        bool last = attempt == REDELIVERIES;
        int64_t failed_ms = last ? parked->letter.last_failure_ms : trail->last_failure_ms[attempt + 1];
        assert_int_equal(trail->not_before_ms[attempt], trail->last_failure_ms[attempt] + backoff_ms);
        assert_true(failed_ms >= trail->not_before_ms[attempt]);
        assert_true(failed_ms <= trail->not_before_ms[attempt] + LATE_MS);
        assert_true(last || trail->stored_ms[attempt + 1] >= trail->last_failure_ms[attempt] + backoff_ms);
        backoff_ms *= 2;
    }
}

static void assert_parked(const struct scene *scene, const struct scene_letter *item)
{
    const struct letter *letter = &item->letter;
    unsigned event = event_of(letter);
    assert_int_equal(letter->reason, LETTER_REASON_UNKNOWN_TARGET);
    assert_int_equal(letter->attempt, REDELIVERIES);
    assert_int_equal(letter->replays, 0);
    assert_true(letter->error.length > 0);
    assert_true(span_equals_text(letter->origin.topic, scene->in));
    assert_int_equal(letter->origin.partition, 0);
    assert_int_equal(letter->origin.offset, event);
    assert_int_equal(letter->due_ms, letter->origin.timestamp_ms + DELAY_MS);
    assert_true(letter->first_failure_ms >= letter->due_ms);
    assert_true(letter->last_failure_ms >= letter->first_failure_ms + 7 * BACKOFF_MS);
    assert_true(span_equals_text(letter->group, scene->prefix));
    assert_true(span_equal(letter->record.key, key_of(event)));
    assert_true(span_equal(letter->record.value, value_of(event)));
}

/* What an on-call person sees. */
static void assert_listed(struct scene *scene)
{
    const char *const list[] = {"list", "-o", "jsonl", NULL};
    struct cli_program program = scene_dlq_run(scene, 0, list);
    size_t right = 0;
    assert_int_equal(cli_program_lines(&program), EVENTS);
    char *place = NULL;
    for (char *line = strtok_r(program.text, "\n", &place); line != NULL; line = strtok_r(NULL, "\n", &place)) {
        right += strstr(line, "\"state\":\"parked\"") != NULL && strstr(line, "\"attempt\":3") != NULL && strstr(line, "\"reason\":\"unknown_target\"") != NULL;
    }
    assert_int_equal(right, EVENTS);
    cli_program_free(&program);
    scene_dlq_await_metric(scene, "tarry_dead_letters", "state=\"parked\"", EVENTS);
    scene_dlq_await_metric(scene, "tarry_redeliveries_total", "result=\"failed\"", EVENTS);
    scene_dlq_await_metric(scene, "tarry_redeliveries_total", "result=\"retried\"", (REDELIVERIES - 1) * EVENTS);
    assert_true(tarry_process_metric(scene->process, "tarry_dead_letters", "state=\"waiting\"") == 0);
    assert_true(tarry_process_metric(scene->process, "tarry_redeliveries_total", "result=\"delivered\"") <= 0);
}

/* ------------------------------------------------------------------------------------------------- nothing wakes them */

static void assert_same(struct scene *scene, const struct scene_letters *before)
{
    struct scene_letters now = scene_letters_read(scene, LETTER_PARKED);
    assert_int_equal(now.count, before->count);
    for (size_t i = 0; i < now.count; i++) {
        assert_int_equal(now.items[i].sequence, before->items[i].sequence);
        assert_true(span_equal(buffer_span(&now.items[i].bytes), buffer_span(&before->items[i].bytes)));
    }
    scene_letters_free(&now);
}

/* Both are started again, in every way there is: no fourth attempt, the counts are what they were. */
static void sleep_well(struct scene *scene, struct nats_client *client, const struct scene_letters *before)
{
    nats_server_stop(scene_nats());
    nats_server_restart(scene_nats());
    scene_stop(scene);
    scene_start(scene);
    nats_server_kill(scene_nats());
    nats_server_restart(scene_nats());
    scene_dlq_await_running(scene);
    scene_dlq_await_metric(scene, "tarry_dead_letters", "state=\"parked\"", EVENTS);
    await_pause_ms(QUIET_MS); /* nothing may happen */
    scene_kill(scene);
    scene_start(scene);
    scene_dlq_await_running(scene);
    await_pause_ms(QUIET_MS);
    assert_same(scene, before);
    assert_int_equal(scene_dlq_count(scene, client, LETTER_WAITING), 0);
    assert_true(tarry_process_metric(scene->process, "tarry_redeliveries_total", NULL) <= 0);
    assert_true(tarry_process_metric(scene->process, "tarry_dead_letters", "state=\"parked\"") == EVENTS);
}

/* ------------------------------------------------------------------------------------------------- replayed */

static void assert_nth(const struct kafka_client_record *record, size_t nth, const char *name, const char *value)
{
    assert_true(nth < record->record.header_count);
    assert_true(span_equals_text(record->record.headers[nth].name, name));
    assert_true(value == NULL || span_equals_text(record->record.headers[nth].value, value));
}

/* Its own headers as they came, tarry's, then those that say where it failed: of this failure alone. */
static void assert_headers(const struct scene *scene, const struct kafka_client_record *record, unsigned event)
{
    char text[SCENE_NAME_MAX + 32];
    for (size_t i = 0; i < HEADERS_KEPT; i++) {
        assert_true(i < record->record.header_count);
        assert_true(span_equal(record->record.headers[i].name, headers[i].name));
        assert_true(span_equal(record->record.headers[i].value, headers[i].value));
    }
    assert_nth(record, HEADERS_KEPT, "tarry-id", id_of(event));
    assert_nth(record, HEADERS_KEPT + 1, "tarry-due", NULL);
    snprintf(text, sizeof(text), "%s/0/%u", scene->in, event);
    assert_nth(record, HEADERS_KEPT + 2, "tarry-source", text);
    assert_nth(record, HEADERS_KEPT + 3, "__dlq.errors.topic", scene->in);
    assert_nth(record, HEADERS_KEPT + 4, "__dlq.errors.partition", "0");
    snprintf(text, sizeof(text), "%u", event);
    assert_nth(record, HEADERS_KEPT + 5, "__dlq.errors.offset", text);
    assert_nth(record, HEADERS_KEPT + 6, "__dlq.errors.group", scene->prefix);
    assert_nth(record, HEADERS_KEPT + 7, "__dlq.errors.message", NULL);
    assert_nth(record, HEADERS_KEPT + 8, "tarry-replays", "1");
    assert_int_equal(record->record.header_count, HEADERS_KEPT + 9);
}

static unsigned number_of(const struct kafka_client_record *record)
{
    assert_int_equal(record->record.key.length, 6);
    unsigned event = record->record.key.data[5];
    assert_true(event < EVENTS);
    return event;
}

static void assert_replayed(struct scene *scene, const struct kafka_client_records *records, int32_t *partitions)
{
    bool seen[EVENTS] = {false};
    assert_int_equal(records->count, EVENTS);
    for (size_t i = 0; i < records->count; i++) {
        const struct kafka_client_record *record = &records->items[i];
        unsigned event = number_of(record);
        assert_false(seen[event]);
        seen[event] = true;
        partitions[event] = record->partition;
        assert_true(span_equal(record->record.key, key_of(event)));
        assert_true(span_equal(record->record.value, value_of(event)));
        assert_headers(scene, record, event);
    }
}

/* The same keys once more, delivered without a failure: they are in the partitions in which the replay has put them. */
static void assert_same_partitions(struct scene *scene, const char *topic, const int32_t *partitions)
{
    const char *const topics[] = {topic, NULL};
    struct kafka_client_reader *reader = kafka_client_reader_open(scene->bootstrap, topics);
    struct kafka_client_records records = {0};
    send_events(scene, topic);
    assert_int_equal(kafka_client_read(reader, &records, 2 * EVENTS, SCENE_DLQ_OUT_MS), 2 * EVENTS);
    for (size_t i = 0; i < records.count; i++) {
        assert_int_equal(records.items[i].partition, partitions[number_of(&records.items[i])]);
    }
    kafka_client_reader_close(reader);
    kafka_client_records_free(&records);
}

static void replay(struct scene *scene, const char *topic)
{
    const char *const topics[] = {topic, NULL};
    const char *const words[] = {"replay", "--target", topic, "--execute", NULL};
    int32_t partitions[EVENTS];
    kafka_topics_create(scene->bootstrap, topic, 3, NULL);
    struct cli_program program = scene_dlq_run(scene, 0, words);
    assert_non_null(strstr(program.text, "\"replayed\":10"));
    cli_program_free(&program);
    struct kafka_client_records records = kafka_client_read_all(scene->bootstrap, topics);
    assert_replayed(scene, &records, partitions);
    kafka_client_records_free(&records);
    assert_same_partitions(scene, topic, partitions);
}

static void live(const char *name, const struct scene_options *options)
{
    struct scene *scene = scene_open(name, options);
    struct nats_client *client = nats_client_open(scene->nats_url);
    struct trail trails[EVENTS] = {0};
    char topic[SCENE_DLQ_TOPIC_SIZE];
    scene_dlq_topic(scene, "late", topic);
    scene_start(scene);
    scene_dlq_await_running(scene);
    send_events(scene, topic);
    follow(scene, client, trails);
    scene_dlq_await_none(scene, client, LETTER_WAITING);
    struct scene_letters parked = scene_letters_read(scene, LETTER_PARKED);
    assert_int_equal(parked.count, EVENTS);
    for (size_t i = 0; i < parked.count; i++) {
        assert_parked(scene, &parked.items[i]);
        assert_gaps(&trails[event_of(&parked.items[i].letter)], &parked.items[i]);
    }
    assert_listed(scene);
    sleep_well(scene, client, &parked);
    replay(scene, topic);
    assert_int_equal(scene_dlq_count(scene, client, LETTER_PARKED), 0);
    scene_letters_free(&parked);
    nats_client_close(client);
    scene_stop(scene);
    scene_close(scene);
}

static void a_life_at_least_once(void **state)
{
    (void)state;
    live("life", &at_least_once);
}

static void a_life_exactly_once(void **state)
{
    (void)state;
    live("lifeex", &exactly_once);
}

/* ------------------------------------------------------------------------------------------------- D06 */

#define GOOD "{\"type\":\"GOOD\",\"payload\":{\"n\":1}}"
#define BROKEN "{\"type\":\"GOOD\",\"payload\":{\"n\":1}"
#define NOWHERE "{\"type\":\"GOOD\",\"target\":\"not-allowed\",\"payload\":{\"n\":1}}"

static void send_value(struct scene *scene, const char *value, bool good)
{
    struct scene_event event = {.delay_ms = 500, .ordered = true, .value = span_of_text(value), .payload = span_of_text("{\"n\":1}")};
    if (good) {
        scene_send(scene, &event);
    } else {
        scene_send_apart(scene, &event);
    }
    scene_flush(scene);
}

/* good, broken, good; a restart; one that may not go where it wants to, good: all of one partition. */
static void poison_holds_up_nobody(void **state)
{
    (void)state;
    static const struct scene_options options = {.kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}",
                                                 .source = "envelope: true, routes: {GOOD: @-out}",
                                                 .letters = true};
    struct scene *scene = scene_open("poison", &options);
    scene_start(scene);
    send_value(scene, GOOD, true);
    send_value(scene, BROKEN, false);
    send_value(scene, GOOD, true);
    assert_true(scene_await_all(scene, SCENE_DLQ_OUT_MS));
    scene_dlq_await_metric(scene, "tarry_records_refused_total", "reason=\"bad_envelope\"", 1);
    scene_dlq_await_metric(scene, "tarry_letters_total", "reason=\"bad_envelope\"", 1);
    scene_stop(scene);
    scene_start(scene);
    send_value(scene, NOWHERE, false);
    send_value(scene, GOOD, true);
    assert_true(scene_await_all(scene, SCENE_DLQ_OUT_MS));
    assert_true(ledger_lateness_max_ms(scene->ledger) < LATE_MS);
    scene_dlq_await_metric(scene, "tarry_letters_total", "reason=\"target_not_allowed\"", 1);
    scene_dlq_await_no_lag(scene);
    struct scene_letters parked = scene_letters_read(scene, LETTER_PARKED);
    assert_int_equal(parked.count, 2); /* each once */
    assert_int_equal(parked.items[0].letter.reason, LETTER_REASON_BAD_ENVELOPE);
    assert_int_equal(parked.items[0].letter.origin.offset, 1);
    assert_true(span_equals_text(parked.items[0].letter.record.value, BROKEN));
    assert_int_equal(parked.items[1].letter.reason, LETTER_REASON_TARGET_NOT_ALLOWED);
    assert_int_equal(parked.items[1].letter.origin.offset, 3);
    for (size_t i = 0; i < parked.count; i++) {
        assert_int_equal(parked.items[i].letter.attempt, 1); /* it cannot get better by itself */
    }
    scene_letters_free(&parked);
    struct scene_letters waiting = scene_letters_read(scene, LETTER_WAITING);
    assert_int_equal(waiting.count, 0);
    scene_letters_free(&waiting);
    scene_finish(scene, 1000, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_life_at_least_once, scene_teardown),
        cmocka_unit_test_teardown(a_life_exactly_once, scene_teardown),
        cmocka_unit_test_teardown(poison_holds_up_nobody, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
