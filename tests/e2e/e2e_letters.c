/*
 * Records that cannot be understood or delivered become dead letters, whole; and while JetStream takes none, what is due leaves all the same, and what fails is
 * tried again later: nothing waits for NATS, and nothing is lost without it. In both modes of delivery.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/await.h"
#include "tests/support/nats_client.h"
#include "tests/support/scene.h"
#include "tests/support/scene_letters.h"
#include "tests/support/temp.h"

#define OUT_MS 30000
#define LARGE_BYTES 5000
#define HOUR_MS (INT64_C(3600) * 1000)
#define GOOD 20
#define MANY 3000 /* more than the outbox holds with exactly_once */

#define AT_LEAST_ONCE "delivery: at_least_once"
#define EXACTLY_ONCE "delivery: exactly_once"
#define COMMON                                                                                                                                  \
    .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}", .shared_input = true, .letters = true, .dlq = "retry_later: 2s",     \
    .targets = "[{name: small, match: \"@-small\", retry: {max_deliver: 3, backoff: 1h, backoff_max: 1h, jitter: 0}},"                          \
               " {name: missing, match: \"@-missing\", retry: {max_deliver: 0}}]"

static const struct scene_options at_least_once = {COMMON, .more = AT_LEAST_ONCE "\nunknown_topic_grace: 1s\ntransaction_timeout: 5s"};
static const struct scene_options exactly_once = {COMMON, .more = EXACTLY_ONCE "\nunknown_topic_grace: 1s\ntransaction_timeout: 5s"};

static char large[LARGE_BYTES];

static const struct span binary_key = {(const uint8_t *)"\x00\xff\x80key", 6};
static const struct record_header refused_headers[] = {
    {{(const uint8_t *)"tarry-delay", 11}, {(const uint8_t *)"soon", 4}},
    {{(const uint8_t *)"mine", 4}, {NULL, 0}},
    {{(const uint8_t *)"mine", 4}, {(const uint8_t *)"", 0}},
    {{(const uint8_t *)"binary", 6}, {(const uint8_t *)"\x00\xc3\x28\xff", 4}},
};
#define REFUSED_HEADERS (sizeof(refused_headers) / sizeof(refused_headers[0]))

/* ------------------------------------------------------------------------------------------------- records */

static void name_topic(const struct scene *scene, const char *suffix, char topic[SCENE_NAME_MAX + 16])
{
    snprintf(topic, SCENE_NAME_MAX + 16, "%s-%s", scene->prefix, suffix);
}

static struct scene *begin(const char *name, const struct scene_options *options)
{
    static const char *const small[] = {"max.message.bytes=1000", NULL};
    char topic[SCENE_NAME_MAX + 16];
    struct scene *scene = scene_open(name, options);
    name_topic(scene, "small", topic);
    kafka_topics_create(scene->bootstrap, topic, 1, small);
    memset(large, 'x', sizeof(large));
    return scene;
}

/* It cannot be understood. */
static void send_refused(struct scene *scene)
{
    kafka_client_produce(scene->producer, scene->in,
                         &(struct kafka_client_output){.key = binary_key, .headers = refused_headers, .header_count = REFUSED_HEADERS});
}

/* It is understood, and its topic will never take it: it is too large, or the topic is not there. */
static void send_culprit(struct scene *scene, const char *suffix, const char *id, struct span value, int64_t delay_ms)
{
    char topic[SCENE_NAME_MAX + 16];
    name_topic(scene, suffix, topic);
    scene_send_apart(scene, &(struct scene_event){.delay_ms = delay_ms,
                                                  .target = topic,
                                                  .key = binary_key,
                                                  .value = value,
                                                  .id = span_of_text(id),
                                                  .headers = &refused_headers[1],
                                                  .header_count = REFUSED_HEADERS - 1});
}

static void send_large(struct scene *scene, const char *id)
{
    send_culprit(scene, "small", id, (struct span){(const uint8_t *)large, sizeof(large)}, 500);
}

static void send_good(struct scene *scene)
{
    for (int i = 0; i < GOOD; i++) {
        scene_send_delay(scene, 0, 500 + i * 50, true);
    }
}

static void assert_refused(const struct scene *scene, const struct scene_letter *item)
{
    const struct letter *letter = &item->letter;
    assert_int_equal(letter->reason, LETTER_REASON_BAD_TIME);
    assert_null(letter->target.data);
    assert_true(scene_letters_says(item, "soon"));
    assert_true(span_equals_text(letter->origin.topic, scene->in));
    assert_true(letter->origin.timestamp_ms > 0);
    scene_letters_assert_record(item, binary_key, SPAN_ABSENT, refused_headers, REFUSED_HEADERS);
}

/* What would have gone out: its own headers without control headers, then ours; due when it was, however often it was put off. */
static void assert_delivered_in_vain(const struct scene *scene, const struct scene_letter *item, enum letter_reason reason, const char *id, struct span value)
{
    const struct letter *letter = &item->letter;
    struct record_header headers[REFUSED_HEADERS - 1 + 3];
    char source[SCENE_NAME_MAX + 32];
    char due[32];
    snprintf(source, sizeof(source), "%s/0/%" PRId64, scene->in, letter->origin.offset);
    snprintf(due, sizeof(due), "%" PRId64, letter->origin.timestamp_ms + 500);
    memcpy(headers, &refused_headers[1], (REFUSED_HEADERS - 1) * sizeof(headers[0]));
    headers[REFUSED_HEADERS - 1] = (struct record_header){span_of_text("tarry-id"), span_of_text(id)};
    headers[REFUSED_HEADERS] = (struct record_header){span_of_text("tarry-due"), span_of_text(due)};
    headers[REFUSED_HEADERS + 1] = (struct record_header){span_of_text("tarry-source"), span_of_text(source)};
    assert_int_equal(letter->reason, reason);
    assert_int_equal(letter->attempt, 1);
    assert_int_equal(letter->due_ms, letter->origin.timestamp_ms + 500);
    assert_true(span_equals_text(letter->schedule_id, id));
    assert_true(span_equals_text(letter->group, scene->prefix));
    scene_letters_assert_record(item, binary_key, value, headers, REFUSED_HEADERS + 2);
}

static void assert_large(const struct scene *scene, const struct scene_letter *item, const char *id)
{
    assert_delivered_in_vain(scene, item, LETTER_REASON_TOO_LARGE, id, (struct span){(const uint8_t *)large, sizeof(large)});
    assert_int_equal(item->letter.not_before_ms, item->letter.last_failure_ms + HOUR_MS);
}

/* ------------------------------------------------------------------------------------------------- what is looked at */

struct watch {
    struct scene *scene;
    const char *metric;
    const char *label;
    double least;
};

static bool has_risen(void *context)
{
    const struct watch *watch = context;
    return tarry_process_metric(watch->scene->process, watch->metric, watch->label) >= watch->least;
}

static void await_metric(struct scene *scene, const char *metric, const char *label, double least)
{
    struct watch watch = {scene, metric, label, least};
    if (!await_condition(has_risen, &watch, OUT_MS)) {
        fail_msg("%s{%s}: %g, not %g", metric, label, tarry_process_metric(scene->process, metric, label), least);
    }
}

struct said {
    struct scene *scene;
    const char *part;
};

static bool is_said(void *context)
{
    const struct said *said = context;
    char body[16384];
    return tarry_process_get(said->scene->process, "/health", body, sizeof(body)) == 200 && strstr(body, said->part) != NULL;
}

/* /health is 200 and says it: dead letters are no reason to take an instance out. */
static void await_health(struct scene *scene, const char *part)
{
    if (!await_condition(is_said, &(struct said){scene, part}, OUT_MS)) {
        char body[16384];
        int status = tarry_process_get(scene->process, "/health", body, sizeof(body));
        fail_msg("/health does not say %s: %d %s", part, status, body);
    }
}

/* ------------------------------------------------------------------------------------------------- cases */

static void become_letters(const char *name, const struct scene_options *options)
{
    struct scene *scene = begin(name, options);
    scene_start(scene);
    send_refused(scene);
    send_large(scene, "large");
    send_culprit(scene, "missing", "missing", SPAN_ABSENT, 500);
    send_good(scene);
    scene_flush(scene);
    assert_true(scene_await_all(scene, OUT_MS));
    struct scene_letters waiting = scene_letters_await(scene, LETTER_WAITING, 1, OUT_MS);
    struct scene_letters parked = scene_letters_await(scene, LETTER_PARKED, 2, OUT_MS);
    assert_int_equal(waiting.count, 1);
    assert_large(scene, &waiting.items[0], "large");
    assert_int_equal(parked.count, 2);
    assert_refused(scene, &parked.items[0]);
    assert_delivered_in_vain(scene, &parked.items[1], LETTER_REASON_UNKNOWN_TARGET, "missing", SPAN_ABSENT);
    await_metric(scene, "tarry_letters_total", NULL, 3);
    await_metric(scene, "tarry_letters_total", "target=\"small\",reason=\"too_large\"", 1);
    await_metric(scene, "tarry_parked_total", NULL, 2);
    await_metric(scene, "tarry_dead_letters", "state=\"parked\"", 2);
    await_metric(scene, "tarry_connection_up", "system=\"nats\"", 1);
    assert_true(tarry_process_metric(scene->process, "tarry_reappended_total", "why=\"letter\"") == 0);
    scene_letters_free(&waiting);
    scene_letters_free(&parked);
    scene_finish(scene, 1000, false);
}

static void become_letters_at_least_once(void **state)
{
    (void)state;
    become_letters("letters", &at_least_once);
}

static void become_letters_exactly_once(void **state)
{
    (void)state;
    become_letters("lettersex", &exactly_once);
}

/* Each occurrence of one schedule that fails is a letter of its own. */
static void occurrences_fail(const char *name, const struct scene_options *options)
{
    char topic[SCENE_NAME_MAX + 16];
    struct scene *scene = begin(name, options);
    name_topic(scene, "small", topic);
    scene_start(scene);
    const struct record_header headers[] = {{span_of_text("tarry-id"), span_of_text("tick")},
                                            {span_of_text("tarry-every"), span_of_text("1s")},
                                            {span_of_text("tarry-count"), span_of_text("3")},
                                            {span_of_text("tarry-topic"), span_of_text(topic)}};
    kafka_client_produce(scene->producer, scene->in,
                         &(struct kafka_client_output){.value = {(const uint8_t *)large, sizeof(large)}, .headers = headers, .header_count = 4});
    scene_flush(scene);
    struct scene_letters waiting = scene_letters_await(scene, LETTER_WAITING, 3, OUT_MS);
    assert_int_equal(waiting.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct letter *letter = &waiting.items[i].letter;
        assert_true(i == 0 || strcmp(letter->id, waiting.items[i - 1].letter.id) != 0);
        assert_int_equal(letter->due_ms, letter->origin.timestamp_ms + 1000 * (int64_t)(i + 1));
        assert_true(span_equals_text(letter->schedule_id, "tick"));
    }
    scene_letters_free(&waiting);
    scene_stop(scene);
    scene_close(scene);
}

static void occurrences_fail_at_least_once(void **state)
{
    (void)state;
    occurrences_fail("occurrences", &at_least_once);
}

static void occurrences_fail_exactly_once(void **state)
{
    (void)state;
    occurrences_fail("occurrencesex", &exactly_once);
}

/* It was not decided upon, as this host has no such zone: the letter has all that it asked for, so that a replay gives it to its topic again. */
static void is_not_decided(const char *name, const struct scene_options *options)
{
    struct scene *scene = begin(name, options);
    scene_start(scene);
    const struct record_header headers[] = {{span_of_text("mine"), SPAN_ABSENT},
                                            {span_of_text("tarry-id"), span_of_text("report")},
                                            {span_of_text("tarry-cron"), span_of_text("0 9 * * *")},
                                            {span_of_text("tarry-tz"), span_of_text("Europe/Atlantis")},
                                            {span_of_text("tarry-if-exists"), span_of_text("reject")},
                                            {span_of_text("tarry-key"), span_of_text("other")}};
    kafka_client_produce(scene->producer, scene->in,
                         &(struct kafka_client_output){.key = binary_key, .value = span_of_text("v"), .headers = headers, .header_count = 6});
    scene_flush(scene);
    struct scene_letters parked = scene_letters_await(scene, LETTER_PARKED, 1, OUT_MS);
    const struct letter *letter = &parked.items[0].letter;
    assert_int_equal(letter->reason, LETTER_REASON_BAD_SCHEDULE);
    assert_null(letter->target.data);
    assert_int_equal(letter->target_partition, -1);
    assert_int_equal(letter->due_ms, -1);
    scene_letters_assert_record(&parked.items[0], binary_key, span_of_text("v"), headers, 6);
    scene_letters_free(&parked);
    scene_stop(scene);
    assert_int_equal(tarry_process_log_count(scene->process, "record_refused"), 0); /* on another host it may be in order: its lane is the same on both */
    scene_close(scene);
}

static void is_not_decided_at_least_once(void **state)
{
    (void)state;
    is_not_decided("undecided", &at_least_once);
}

static void is_not_decided_exactly_once(void **state)
{
    (void)state;
    is_not_decided("undecidedex", &exactly_once);
}

/* One refused record and one that is too large: a letter each, and all else came out once. */
static void end(struct scene *scene)
{
    struct scene_letters waiting = scene_letters_read(scene, LETTER_WAITING);
    struct scene_letters parked = scene_letters_read(scene, LETTER_PARKED);
    assert_int_equal(waiting.count, 1);
    assert_large(scene, &waiting.items[0], "large");
    assert_int_equal(parked.count, 1);
    assert_refused(scene, &parked.items[0]);
    scene_letters_free(&waiting);
    scene_letters_free(&parked);
}
/* Without NATS what is due leaves, and what fails is put off, with all behind it going on; when NATS comes, each is a letter, once. */
static void without_nats(const char *name, const struct scene_options *options)
{
    struct scene *scene = begin(name, options);
    nats_server_stop(scene_nats());
    scene_start(scene);
    send_refused(scene);
    send_large(scene, "large");
    send_good(scene);
    scene_flush(scene);
    assert_true(scene_await_all(scene, OUT_MS));
    await_metric(scene, "tarry_reappended_total", "why=\"letter\"", 4); /* both of them, twice */
    await_health(scene, "dead_letters_not_kept");
    await_metric(scene, "tarry_letter_failures_total", "result=\"unavailable\"", 4);
    assert_int_equal(tarry_process_get(scene->process, "/readyz", NULL, 0), 200);
    send_good(scene);
    scene_flush(scene);
    assert_true(scene_await_all(scene, OUT_MS));
    assert_true(tarry_process_metric(scene->process, "tarry_letters_total", NULL) <= 0);
    nats_server_restart(scene_nats());
    struct scene_letters waiting = scene_letters_await(scene, LETTER_WAITING, 1, OUT_MS);
    struct scene_letters parked = scene_letters_await(scene, LETTER_PARKED, 1, OUT_MS);
    scene_letters_free(&waiting);
    scene_letters_free(&parked);
    await_health(scene, "\"redelivery\":\"running\"");
    scene_stop(scene);
    scene_start(scene); /* none is made again */
    end(scene);
}

static void without_nats_at_least_once(void **state)
{
    (void)state;
    without_nats("nonats", &at_least_once);
}

static void without_nats_exactly_once(void **state)
{
    (void)state;
    without_nats("nonatsex", &exactly_once);
}

/* A stream at its limit takes no more and drops nothing; when somebody makes room, what was put off becomes letters. */
static void with_a_full_stream(const char *name, const struct scene_options *options)
{
    static const char filler[3500];
    char subjects[2 * SCENE_NAME_MAX];
    char subject[2 * SCENE_NAME_MAX];
    struct scene *scene = begin(name, options);
    struct nats_client *client = nats_client_open(scene->nats_url);
    snprintf(subjects, sizeof(subjects), "%s.parked.>", scene->subject_prefix);
    snprintf(subject, sizeof(subject), "%s.parked.filler", scene->subject_prefix);
    nats_client_add_stream(client, scene->parked_stream, subjects, 3900, 1);
    nats_client_publish(client, subject, NULL, filler, sizeof(filler));
    scene_start(scene);
    send_refused(scene);
    send_good(scene);
    scene_flush(scene);
    assert_true(scene_await_all(scene, OUT_MS));
    await_metric(scene, "tarry_letter_failures_total", "result=\"full\"", 2);
    await_metric(scene, "tarry_reappended_total", "why=\"letter\"", 2);
    await_health(scene, scene->parked_stream); /* it says which stream is full, or how it differs */
    send_large(scene, "large"); /* the other stream has room */
    scene_flush(scene);
    struct scene_letters waiting = scene_letters_await(scene, LETTER_WAITING, 1, OUT_MS);
    scene_letters_free(&waiting);
    assert_int_equal(nats_client_count(client, scene->parked_stream, NULL), 1); /* the filler: nothing was dropped for another */
    nats_client_purge(client, scene->parked_stream, NULL);
    struct scene_letters parked = scene_letters_await(scene, LETTER_PARKED, 1, OUT_MS);
    scene_letters_free(&parked);
    nats_client_close(client);
    end(scene);
}

static void with_a_full_stream_at_least_once(void **state)
{
    (void)state;
    with_a_full_stream("full", &at_least_once);
}

static void with_a_full_stream_exactly_once(void **state)
{
    (void)state;
    with_a_full_stream("fullex", &exactly_once);
}

/* ------------------------------------------------------------------------------------------------- many at once */

static void send_many(struct scene *scene)
{
    for (int i = 0; i < MANY; i++) {
        send_refused(scene);
    }
    send_good(scene);
    scene_flush(scene);
}

/* A letter of each of the records that were sent, and no second one. */
static void end_many(struct scene *scene)
{
    struct scene_letters parked = scene_letters_await(scene, LETTER_PARKED, MANY, 2 * OUT_MS);
    scene_letters_free(&parked);
    scene_stop(scene); /* what was on its way has been answered */
    parked = scene_letters_read(scene, LETTER_PARKED);
    bool seen[MANY] = {false};
    assert_int_equal(parked.count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        int64_t offset = parked.items[i].letter.origin.offset;
        assert_true(offset >= 0 && offset < MANY && !seen[offset]);
        seen[offset] = true;
    }
    scene_letters_free(&parked);
    scene_read(scene);
    ledger_assert(scene->ledger, false);
    scene_close(scene);
}

/* More than the outbox has room for: the rest waits for room, and nothing waits for it. */
static void many_at_once(const char *name, const struct scene_options *options)
{
    struct scene *scene = begin(name, options);
    scene_start(scene);
    await_health(scene, "\"parked\":0");
    send_many(scene);
    assert_true(scene_await_all(scene, OUT_MS));
    end_many(scene);
}

static void many_at_least_once(void **state)
{
    (void)state;
    many_at_once("many", &at_least_once);
}

static void many_exactly_once(void **state)
{
    (void)state;
    many_at_once("manyex", &exactly_once);
}

/* A server that is there and says nothing: no transaction outlives its time for it, good records leave, and what it took unsaid is a letter once. */
static void with_a_silent_server(const char *name, const struct scene_options *options)
{
    struct scene *scene = begin(name, options);
    scene_start(scene);
    await_health(scene, "\"parked\":0");
    nats_server_freeze(scene_nats());
    send_many(scene);
    assert_true(scene_await_all(scene, OUT_MS));
    await_metric(scene, "tarry_reappended_total", "why=\"letter\"", MANY);
    assert_int_equal(tarry_process_get(scene->process, "/readyz", NULL, 0), 200);
    nats_server_thaw(scene_nats());
    end_many(scene);
}

static void with_a_silent_server_at_least_once(void **state)
{
    (void)state;
    with_a_silent_server("silent", &at_least_once);
}

static void with_a_silent_server_exactly_once(void **state)
{
    (void)state;
    with_a_silent_server("silentex", &exactly_once);
}

static char *write_secret(const struct scene *scene, const char *text)
{
    char *path = temp_path(scene->folder, "nats-password");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
    return path;
}

/* A wrong password is told in words, without it, and costs no record; with the right one what was put off becomes letters. */
static void with_a_wrong_password(void **state)
{
    (void)state;
    struct scene *scene = begin("password", &at_least_once);
    struct scene_options options = at_least_once;
    char nats[512];
    char *path = write_secret(scene, "not the right one\n");
    snprintf(nats, sizeof(nats), "user: tarry, password_file: %s", path);
    options.nats = nats;
    scene_configure(scene, &options);
    nats_server_stop(scene_nats());
    nats_server_configure(scene_nats(), "authorization { user: tarry, password: \"the right one\" }\n");
    nats_server_restart(scene_nats());
    scene_start(scene);
    send_refused(scene);
    send_large(scene, "large");
    send_good(scene);
    scene_flush(scene);
    assert_true(scene_await_all(scene, OUT_MS));
    await_metric(scene, "tarry_reappended_total", "why=\"letter\"", 2);
    await_health(scene, "dead_letters_not_kept");
    await_health(scene, "refuses the login");
    scene_stop(scene);
    assert_int_equal(tarry_process_log_count(scene->process, "not the right one"), 0);
    free(write_secret(scene, "the right one\n"));
    scene->nats_user = "tarry";
    scene->nats_password = "the right one";
    scene_start(scene);
    struct scene_letters waiting = scene_letters_await(scene, LETTER_WAITING, 1, OUT_MS);
    struct scene_letters parked = scene_letters_await(scene, LETTER_PARKED, 1, OUT_MS);
    scene_letters_free(&waiting);
    scene_letters_free(&parked);
    free(path);
    end(scene);
}

static int forget_the_password(void **state)
{
    int done = scene_teardown(state);
    nats_server_stop(scene_nats());
    nats_server_configure(scene_nats(), NULL);
    nats_server_restart(scene_nats());
    return done;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(become_letters_at_least_once, scene_teardown),
        cmocka_unit_test_teardown(become_letters_exactly_once, scene_teardown),
        cmocka_unit_test_teardown(occurrences_fail_at_least_once, scene_teardown),
        cmocka_unit_test_teardown(occurrences_fail_exactly_once, scene_teardown),
        cmocka_unit_test_teardown(is_not_decided_at_least_once, scene_teardown),
        cmocka_unit_test_teardown(is_not_decided_exactly_once, scene_teardown),
        cmocka_unit_test_teardown(without_nats_at_least_once, scene_teardown),
        cmocka_unit_test_teardown(without_nats_exactly_once, scene_teardown),
        cmocka_unit_test_teardown(with_a_full_stream_at_least_once, scene_teardown),
        cmocka_unit_test_teardown(with_a_full_stream_exactly_once, scene_teardown),
        cmocka_unit_test_teardown(many_at_least_once, scene_teardown),
        cmocka_unit_test_teardown(many_exactly_once, scene_teardown),
        cmocka_unit_test_teardown(with_a_silent_server_at_least_once, scene_teardown),
        cmocka_unit_test_teardown(with_a_silent_server_exactly_once, scene_teardown),
        cmocka_unit_test_teardown(with_a_wrong_password, forget_the_password),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
