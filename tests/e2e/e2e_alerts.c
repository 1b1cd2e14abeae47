/*
 * The alerts where they are meant to fire: a real Prometheus scrapes a real tarry, each fault is made, and the alert is seen at Prometheus. Then every query of the dashboard
 * is asked there.
 *
 * The rules are the file that is shipped, with minutes made seconds and with some thresholds that would take long to reach made smaller (`thresholds`); when each fires to the
 * minute is proven by tarry.test.yml.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/prometheus.h"
#include "tests/support/scene_dlq.h"
#include "tests/support/shifted_clock.h"
#include "tests/support/write_client.h"

#define INTERVAL_MS 400
#define FIRES_MS 60000
#define ENDS_MS 60000
#define BEAT_MS 250       /* between two records of what grows */
#define FILLERS 45000     /* of a kilobyte: more than the store holds */
#define FILE_MAX (1u << 20)

static struct prometheus *prometheus;
static int64_t began_ms;

/* ------------------------------------------------------------------------------------------------- rules */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("cannot read %s", path);
    }
    char *text = memory_new(FILE_MAX, 1);
    size_t length = fread(text, 1, FILE_MAX - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

/* What would take hours or minutes of a fault, or thousands of records. Each stands in the rules as often as said. */
static const struct {
    const char *shipped;
    const char *shortened;
} thresholds[] = {
    {"tarry_oldest_overdue_seconds > 300", "tarry_oldest_overdue_seconds > 3"},
    {"tarry_overdue > 1000", "tarry_overdue > 20"},
    {"tarry_dead_letters{state=\"waiting\"}) > 100", "tarry_dead_letters{state=\"waiting\"}) > 4"},
    {"tarry_intake_lag > 10000", "tarry_intake_lag > 100"},
    {"for: 4h", "for: 4s"},
};

/* The end of a number of minutes that begins at `at`: where its "m" stands; NULL: there is none. */
static const char *minutes_end(const char *at)
{
    size_t digits = strspn(at, "0123456789");
    return digits > 0 && at[digits] == 'm' && strchr("]\n", at[digits + 1]) != NULL ? at + digits : NULL;
}

/* "for: 5m" becomes "for: 5s", and [5m] becomes [5s]. */
static size_t shorten_durations(char *rules)
{
    size_t count = 0;
    for (char *at = rules; *at != '\0'; at++) {
        size_t skip = strncmp(at, "for: ", 5) == 0 ? 5 : *at == '[' ? 1 : 0;
        const char *end = skip == 0 ? NULL : minutes_end(at + skip);
        if (end != NULL) {
            rules[end - rules] = 's';
            count++;
        }
    }
    return count;
}

static void replace_once(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    assert_true(at != NULL && strstr(at + 1, from) == NULL && strlen(to) <= strlen(from));
    memset(at, ' ', strlen(from));
    memcpy(at, to, strlen(to));
}

static char *shortened_rules(void)
{
    char *rules = read_file(TARRY_RULES);
    assert_true(shorten_durations(rules) > 20);
    for (size_t i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
        replace_once(rules, thresholds[i].shipped, thresholds[i].shortened);
    }
    return rules;
}

/* ------------------------------------------------------------------------------------------------- waiting */

static void await_state(const char *alert, const char *state, int64_t timeout_ms)
{
    int64_t limit = await_mono_ms() + timeout_ms;
    while (strcmp(prometheus_alert(prometheus, alert), state) != 0) {
        if (await_mono_ms() > limit) {
            prometheus_show_log(prometheus);
            fail_msg("%s is %s, not %s", alert, prometheus_alert(prometheus, alert), state);
        }
        await_pause_ms(100);
    }
    fprintf(stderr, "%5.1f s: %s %s\n", (double)(await_mono_ms() - began_ms) / 1000, alert, state);
}

static void await_series(const char *query)
{
    int64_t limit = await_mono_ms() + FIRES_MS;
    while (prometheus_query(prometheus, query, 1) == 0) {
        assert_true(await_mono_ms() < limit);
        await_pause_ms(100);
    }
}

static void await_firing(const char *alert)
{
    await_state(alert, "firing", FIRES_MS);
}

static void await_over(const char *alert)
{
    await_state(alert, "inactive", ENDS_MS);
}

static bool fires(const char *alert)
{
    return strcmp(prometheus_alert(prometheus, alert), "firing") == 0;
}

/* ------------------------------------------------------------------------------------------------- faults */

static void send_to(struct scene *scene, const char *suffix, size_t bytes)
{
    static const uint8_t value[3000] = {1};
    char topic[SCENE_DLQ_TOPIC_SIZE];
    scene_dlq_topic(scene, suffix, topic);
    scene_send_apart(scene, &(struct scene_event){.delay_ms = 1, .target = topic, .value = {value, bytes}});
}

/* Refused when it is read: a letter that is parked at once. */
static void send_bad(struct scene *scene)
{
    const struct record_header header = {.name = span_of_text("tarry-delay"), .value = span_of_text("soon")};
    scene_send_apart(scene, &(struct scene_event){.delay_header = "", .headers = &header, .header_count = 1, .value = span_of_text("x")});
}

static struct scene_options options(const char *store_size, const char *unwritten)
{
    static char more[256];
    static const char *const kept_briefly[] = {"retention.ms=20000", NULL};
    snprintf(more, sizeof(more), "copy_forward: {enabled: false}\nunknown_topic_grace: 10m\nmemory: {unwritten: %s}", unwritten);
    return (struct scene_options){.letters = true,
                                  .own_clock = true,
                                  .store_size = store_size,
                                  .in_settings = kept_briefly,
                                  .dlq = "retry_later: 500ms",
                                  .targets = "[{name: gone, match: \"@-gone\", rate: 10/s}, {name: small, match: \"@-small\", retry: {backoff: 10m, backoff_max: 10m}}]",
                                  .more = more};
}

/* What does not leave, what fails, a clock that is set and that nobody keeps right, and a record that comes to its topic's retention; then all of it is mended. */
static void target_and_clock(struct scene *scene)
{
    static const char *const growing[] = {"TarryOverdue", "TarryOverdueGrowing", "TarryDeliveryFailures", "TarryLettersGrowing", "TarryRetentionHeadroomLow"};
    char topic[SCENE_DLQ_TOPIC_SIZE];
    scene_send_delay(scene, 0, 3600 * 1000, true);
    send_bad(scene);
    scene_flush(scene);
    shifted_clock_unsynchronise(scene->clock, true);
    await_firing("TarryLettersParked");
    assert_true(prometheus_check_texts(prometheus) >= 1);
    size_t fired = 0;
    for (int64_t limit = await_mono_ms() + FIRES_MS; fired < sizeof(growing) / sizeof(growing[0]) && await_mono_ms() < limit;) {
        send_to(scene, "gone", 10);
        send_to(scene, "small", 3000);
        scene_send_delay(scene, 0, 100, true);
        scene_flush(scene);
        await_pause_ms(BEAT_MS);
        for (fired = 0; fired < sizeof(growing) / sizeof(growing[0]) && fires(growing[fired]); fired++) {
        }
    }
    for (size_t i = 0; i < sizeof(growing) / sizeof(growing[0]); i++) {
        await_firing(growing[i]);
    }
    await_firing("TarryClockUnsynchronised");
    shifted_clock_set(scene->clock, 2000);
    await_firing("TarryClockStepped");
    assert_true(prometheus_check_texts(prometheus) >= 7);
    shifted_clock_unsynchronise(scene->clock, false);
    scene_dlq_topic(scene, "gone", topic);
    kafka_topics_create(scene->bootstrap, topic, 1, NULL);
    await_firing("TarryLate");
    await_over("TarryOverdue");
    await_over("TarryOverdueGrowing");
    await_over("TarryClockUnsynchronised");
    await_over("TarryClockStepped");
}

static void target_paused(const struct scene *scene)
{
    write_client_check(scene->http_port, "POST", "/api/v1/targets/default/pause", "{}", 200, "done");
    await_firing("TarryTargetPaused");
    assert_true(prometheus_check_texts(prometheus) >= 1);
    write_client_check(scene->http_port, "POST", "/api/v1/targets/default/resume", "{}", 200, "done");
    await_over("TarryTargetPaused");
}

static void nats_away(struct scene *scene)
{
    nats_server_stop(scene_nats());
    send_bad(scene);
    scene_flush(scene);
    await_firing("TarryNatsDown");
    await_firing("TarryLettersNotKept");
    assert_true(prometheus_check_texts(prometheus) >= 2);
    nats_server_restart(scene_nats());
    await_over("TarryNatsDown");
}

static void kafka_away(void)
{
    kafka_broker_kill(scene_broker());
    await_firing("TarryKafkaDown");
    assert_true(prometheus_check_texts(prometheus) >= 1);
    kafka_broker_restart(scene_broker());
    await_over("TarryKafkaDown");
}

static void store_full(struct scene *scene)
{
    static const uint8_t value[1000] = {1};
    for (int i = 0; i < FILLERS; i++) {
        scene_send(scene, &(struct scene_event){.delay_ms = 3600 * 1000 + i, .value = {value, sizeof(value)}});
    }
    scene_flush(scene);
    await_firing("TarryStoreFull");
    await_firing("TarryStoreNearlyFull");
    await_firing("TarryIntakeLag");
    assert_true(prometheus_check_texts(prometheus) >= 3);
}

static void instance_away(struct scene *scene)
{
    scene_kill(scene);
    await_firing("TarryInstanceDown");
    await_firing("TarryGone");
    assert_true(prometheus_check_texts(prometheus) >= 2);
    struct scene_options larger = options("1GiB", "64MiB");
    scene_configure(scene, &larger);
    scene_start(scene);
    await_over("TarryInstanceDown");
    await_over("TarryGone");
    await_over("TarryStoreFull");
    await_over("TarryStoreNearlyFull");
    await_over("TarryIntakeLag");
}

static void topic_recreated(struct scene *scene)
{
    scene_stop(scene);
    kafka_topics_delete(scene->bootstrap, scene->in);
    kafka_topics_create(scene->bootstrap, scene->in, 1, NULL);
    scene_launch(scene, NULL);
    await_firing("TarryTopicChanged");
    assert_true(prometheus_check_texts(prometheus) >= 1);
}

/* ------------------------------------------------------------------------------------------------- dashboard */

static void replace_all(struct buffer *out, const char *text, const char *from, const char *to)
{
    for (const char *at = text; *at != '\0';) {
        if (strncmp(at, from, strlen(from)) == 0) {
            buffer_add_text(out, to);
            at += strlen(from);
        } else {
            buffer_add(out, at++, 1);
        }
    }
    buffer_add(out, "", 1);
}

static void ask_panel(const char *title, const char *query)
{
    static const char *const variables[][2] = {{"$__rate_interval", "5s"}, {"$job", "tarry.*"}, {"$instance", ".*"}};
    char *now = memory_text(query, strlen(query));
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        struct buffer next = buffer_new(8192);
        replace_all(&next, now, variables[i][0], variables[i][1]);
        free(now);
        now = memory_text((const char *)next.data, next.length);
        buffer_free(&next);
    }
    int seconds = (int)((await_mono_ms() - began_ms) / 1000);
    if (prometheus_query(prometheus, now, seconds) == 0) {
        fail_msg("panel %s: nothing comes of %s", title, now);
    }
    free(now);
}

static void dashboard(void)
{
    char *text = read_file(TARRY_DASHBOARD);
    cJSON *whole = cJSON_Parse(text);
    const cJSON *panel;
    const cJSON *target;
    size_t count = 0;
    assert_non_null(whole);
    cJSON_ArrayForEach(panel, cJSON_GetObjectItemCaseSensitive(whole, "panels"))
    {
        cJSON_ArrayForEach(target, cJSON_GetObjectItemCaseSensitive(panel, "targets"))
        {
            ask_panel(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(panel, "title")),
                      cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(target, "expr")));
            count++;
        }
    }
    fprintf(stderr, "%zu queries of the dashboard gave an answer\n", count);
    assert_true(count > 50);
    cJSON_Delete(whole);
    free(text);
}

/* ------------------------------------------------------------------------------------------------- test */

static void each_fault_is_told(void **state)
{
    (void)state;
    struct scene_options small = options("32MiB", "1MiB");
    struct scene *scene = scene_open("alerts", &small);
    static const char *const small_messages[] = {"max.message.bytes=1000", NULL};
    char topic[SCENE_DLQ_TOPIC_SIZE];
    scene_dlq_topic(scene, "small", topic);
    kafka_topics_create(scene->bootstrap, topic, 1, small_messages);
    scene_start(scene);
    char target[64];
    snprintf(target, sizeof(target), "127.0.0.1:%d", scene->http_port);
    char *rules = shortened_rules();
    began_ms = await_mono_ms();
    prometheus = prometheus_start(target, rules, INTERVAL_MS);
    free(rules);
    await_series("tarry_dead_letters == 0"); /* all is known, and well */
    assert_int_equal(prometheus_check_texts(prometheus), 0);
    target_and_clock(scene);
    target_paused(scene);
    nats_away(scene);
    kafka_away();
    store_full(scene);
    dashboard();
    instance_away(scene);
    topic_recreated(scene);
    scene_close(scene);
}

static int teardown(void **state)
{
    prometheus_free(prometheus);
    prometheus = NULL;
    return scene_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_fault_is_told, teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
