/*
 * Writes by HTTP when not all is here: partitions of another instance, a Kafka that is away, a tarry that stops.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <signal.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/thread.h"
#include "bridge/request_sink.h"
#include "tests/support/await.h"
#include "tests/support/scene.h"
#include "tests/support/scene_instance.h"
#include "tests/support/scene_schedules.h"
#include "tests/support/write_client.h"

#define MESSAGES "/api/v1/messages"
#define PARTITIONS 4
#define MOVED_MS 30000
#define COMMON .partitions = PARTITIONS, .shared_input = true

static const struct scene_options usual = {COMMON, .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}"};
static const struct scene_options patient = {COMMON}; /* with a session that outlasts an outage */

/* ------------------------------------------------------------------------------------------------- two instances */

static char mores[2][64];

static struct scene_instance *add(struct scene *scene, const char *name, int index)
{
    struct scene_instance *instance = scene_instance_add(scene, name, &usual);
    struct scene_options options = usual;
    (void)snprintf(mores[index], sizeof(mores[index]), "advertise: \"127.0.0.1:%d\"", instance->http_port);
    options.more = mores[index];
    scene_instance_configure(instance, &options);
    return instance;
}

/* A key for each partition. */
static void find_keys(char keys[PARTITIONS][16])
{
    int found = 0;
    for (int i = 0; found < PARTITIONS; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "key-%d", i);
        int32_t partition = request_sink_partition_of(span_of_text(key), PARTITIONS);
        if (keys[partition][0] == '\0') {
            memcpy(keys[partition], key, sizeof(key));
            found++;
        }
    }
}

static struct write_client_answer schedule(const struct scene_instance *instance, const char *id, const char *key)
{
    char body[256];
    (void)snprintf(body, sizeof(body), "{\"in\":\"1h\",\"id\":\"%s\",\"key\":\"%s\"}", id, key);
    return write_client_try(instance->http_port, "POST", MESSAGES, NULL, body);
}

/* Each key is answered by one instance, and by the other with who it is. */
static int schedule_by_key(struct scene_instance *const *instances, char keys[PARTITIONS][16])
{
    int foreign = -1;
    for (int32_t p = 0; p < PARTITIONS; p++) {
        struct write_client_answer answers[2];
        char owner[64];
        char id[32];
        (void)snprintf(id, sizeof(id), "by-key-%d", (int)p);
        for (int i = 0; i < 2; i++) {
            answers[i] = schedule(instances[i], id, keys[p]);
        }
        int here = answers[0].status == 201 ? 0 : 1;
        assert_int_equal(answers[here].status, 201);
        assert_int_equal(answers[1 - here].status, 421);
        assert_string_equal(write_client_text(&answers[1 - here], "code"), "not_owner");
        (void)snprintf(owner, sizeof(owner), "127.0.0.1:%d", instances[here]->http_port);
        assert_string_equal(write_client_text(&answers[1 - here], "owner"), owner);
        assert_true((int32_t)write_client_number(&answers[1 - here], "partition") == p);
        assert_true((int32_t)write_client_number(&answers[here], "source.partition") == p);
        foreign = here == 1 ? p : foreign;
        for (int i = 0; i < 2; i++) {
            write_client_free(&answers[i]);
        }
    }
    assert_true(foreign >= 0);
    return foreign; /* a partition of the second */
}

/* By the first, of what the second has. */
static void steer_elsewhere(struct scene_instance *const *instances, const char *id, const char *key)
{
    char path[160];
    (void)snprintf(path, sizeof(path), MESSAGES "/%s/pause?key=%s", id, key);
    write_client_check(instances[0]->http_port, "POST", path, "{}", 421, "not_owner");
    (void)snprintf(path, sizeof(path), MESSAGES "/%s/pause", id);
    struct write_client_answer unknown = write_client_expect(instances[0]->http_port, "POST", path, "{}", 404, "not_found");
    const cJSON *elsewhere = cJSON_GetObjectItemCaseSensitive(unknown.document, "elsewhere");
    assert_int_equal(cJSON_GetArraySize(elsewhere), PARTITIONS / 2);
    assert_non_null(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(elsewhere, 0), "owner")));
    write_client_free(&unknown);
    write_client_check(instances[1]->http_port, "POST", path, "{}", 200, "done");
    (void)snprintf(path, sizeof(path), MESSAGES "/%s/resume", id);
    write_client_check(instances[1]->http_port, "POST", path, "{}", 200, "done");
}

static void cancel_elsewhere(struct scene_instance *const *instances, const char *id, const char *key)
{
    char path[160];
    size_t with_owner = 0;
    (void)snprintf(path, sizeof(path), MESSAGES "/%s?key=%s", id, key);
    write_client_check(instances[0]->http_port, "DELETE", path, NULL, 421, "not_owner");
    (void)snprintf(path, sizeof(path), MESSAGES "/%s", id);
    struct write_client_answer sent = write_client_expect(instances[0]->http_port, "DELETE", path, NULL, 202, "sent");
    const cJSON *partitions = cJSON_GetObjectItemCaseSensitive(sent.document, "partitions");
    assert_int_equal(cJSON_GetArraySize(partitions), PARTITIONS);
    const cJSON *item;
    cJSON_ArrayForEach(item, partitions) {
        bool is_sent = strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "result")), "sent") == 0;
        const char *owner = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "owner"));
        with_owner += is_sent && owner != NULL;
    }
    assert_int_equal(with_owner, PARTITIONS / 2);
    write_client_free(&sent);
    scene_schedules_await_metric(instances[1]->process, "tarry_cancelled_total", NULL, 1); /* it was ended there */
    struct write_client_answer again = write_client_expect(instances[1]->http_port, "DELETE", path, NULL, 200, "cancelled");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(again.document, "already")));
    write_client_free(&again);
}

static void test_two_instances(void **state)
{
    (void)state;
    char keys[PARTITIONS][16] = {{0}};
    char id[32];
    struct scene *scene = scene_open("owners", &usual);
    struct scene_instance *instances[2] = {add(scene, "first", 0), add(scene, "second", 1)};
    scene_instance_start(instances[0]);
    scene_instance_launch(instances[1], NULL);
    for (int i = 0; i < 2; i++) {
        scene_instance_await_partitions(instances[i], PARTITIONS / 2, MOVED_MS);
    }
    find_keys(keys);
    int foreign = schedule_by_key(instances, keys);
    (void)snprintf(id, sizeof(id), "by-key-%d", foreign);
    steer_elsewhere(instances, id, keys[foreign]);
    cancel_elsewhere(instances, id, keys[foreign]);
    for (int i = 0; i < 8; i++) { /* an id that is made is for a partition of one's own */
        write_client_check(instances[i % 2]->http_port, "POST", MESSAGES, "{\"in\":\"1h\"}", 201, "scheduled");
    }
    scene_instance_stop(instances[0]);
    scene_instance_stop(instances[1]);
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------------- Kafka is away */

static void test_without_kafka(void **state)
{
    (void)state;
    struct scene *scene = scene_open("away", &patient);
    scene_start(scene);
    write_client_check(scene->http_port, "POST", MESSAGES, "{\"in\":\"1h\",\"id\":\"before\"}", 201, "scheduled");
    kafka_broker_stop(scene_broker());
    scene_schedules_await_metric_is(scene->process, "tarry_connection_up", "system=\"kafka\"", 0);
    struct write_client_answer answer = write_client_expect(scene->http_port, "POST", MESSAGES, "{\"in\":\"1h\"}", 503, "unavailable");
    assert_true(answer.took_ms < 3000); /* it is known to be away */
    write_client_free(&answer);
    answer = write_client_expect(scene->http_port, "DELETE", MESSAGES "/before", NULL, 503, "unavailable");
    assert_true(answer.took_ms < 3000);
    write_client_free(&answer);
    kafka_broker_restart(scene_broker());
    scene_schedules_await_metric_is(scene->process, "tarry_connection_up", "system=\"kafka\"", 1);
    for (int64_t end_ms = await_mono_ms() + MOVED_MS; await_mono_ms() < end_ms;) {
        answer = write_client_try(scene->http_port, "POST", MESSAGES, NULL, "{\"in\":\"1h\",\"id\":\"after\"}");
        int status = answer.status;
        write_client_free(&answer);
        if (status == 201) {
            break;
        }
        assert_true(status == 503 || status == 202 || status == 504);
        await_pause_ms(100);
    }
    write_client_check(scene->http_port, "DELETE", MESSAGES "/before", NULL, 200, "cancelled");
    write_client_check(scene->http_port, "DELETE", MESSAGES "/after", NULL, 200, "cancelled");
    scene_stop(scene);
    scene_close(scene);
}

/* Its line of /proc: "pid (name) state ...". One that has ended counts as well. */
static bool stands_still(const char *stat_path)
{
    char line[512];
    FILE *file = fopen(stat_path, "r");
    const char *name_end = file != NULL && fgets(line, sizeof(line), file) != NULL ? strrchr(line, ')') : NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    return name_end == NULL || (name_end[1] == ' ' && name_end[2] == 'T');
}

/* All threads of the broker do. A signal reaches them one by one. */
static bool is_frozen(void *context)
{
    char path[64];
    bool frozen = true;
    (void)context;
    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)kafka_broker_pid(scene_broker()));
    DIR *tasks = opendir(path);
    assert_non_null(tasks);
    for (const struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
        char stat_path[sizeof(path) + sizeof(entry->d_name) + 8];
        if (entry->d_name[0] != '.') {
            (void)snprintf(stat_path, sizeof(stat_path), "%s/%s/stat", path, entry->d_name);
            frozen = frozen && stands_still(stat_path);
        }
    }
    (void)closedir(tasks);
    return frozen;
}

/* A broker that is there and says nothing: no answer hangs, and what is not known is called so. */
static void test_with_a_frozen_kafka(void **state)
{
    (void)state;
    struct scene *scene = scene_open("frozen", &patient);
    scene_start(scene);
    write_client_check(scene->http_port, "POST", MESSAGES, "{\"in\":\"1h\",\"id\":\"before\"}", 201, "scheduled");
    kafka_broker_freeze(scene_broker());
    assert_true(await_condition(is_frozen, NULL, MOVED_MS));
    struct write_client_answer first = write_client_try(scene->http_port, "POST", MESSAGES, "frozen", "{\"in\":\"1h\"}");
    if (first.status != 503 && first.status != 504) {
        fail_msg("%d after %" PRId64 " ms", first.status, first.took_ms);
    }
    assert_true(first.took_ms < 17000);
    kafka_broker_thaw(scene_broker());
    for (int64_t end_ms = await_mono_ms() + MOVED_MS; first.status != 201 && await_mono_ms() < end_ms;) {
        write_client_free(&first);
        await_pause_ms(200);
        first = write_client_try(scene->http_port, "POST", MESSAGES, "frozen", "{\"in\":\"1h\"}");
    }
    assert_int_equal(first.status, 201);
    write_client_free(&first);
    const char *const topics[] = {scene->in, NULL};
    struct kafka_client_records records = kafka_client_read_all(scene->bootstrap, topics);
    size_t count = 0;
    for (size_t i = 0; i < records.count; i++) {
        const char *id = kafka_client_header_text(&records.items[i], "tarry-id");
        count += id != NULL && strncmp(id, "req-", 4) == 0;
    }
    assert_int_equal(count, 1); /* however often it was asked for */
    kafka_client_records_free(&records);
    scene_stop(scene);
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------------- tarry stops */

#define WRITERS 6

struct writer {
    pthread_t thread;
    int port;
    atomic_bool *over;
    int counts[600]; /* by status; 0: no connection, or cut */
    int64_t longest_ms;
};

static void *keep_writing(void *context)
{
    struct writer *writer = context;
    while (!atomic_load(writer->over)) {
        struct write_client_answer answer = write_client_try(writer->port, "POST", MESSAGES, NULL, "{\"in\":\"1h\"}");
        writer->counts[answer.status < 600 ? answer.status : 599]++;
        writer->longest_ms = answer.took_ms > writer->longest_ms ? answer.took_ms : writer->longest_ms;
        bool gone = answer.status == 0;
        write_client_free(&answer);
        if (gone) {
            await_pause_ms(20);
        }
    }
    return NULL;
}

static void test_stopped_while_writing(void **state)
{
    (void)state;
    struct scene *scene = scene_open("stopping", &patient);
    scene_start(scene);
    struct writer writers[WRITERS];
    atomic_bool over = false;
    int counts[600] = {0};
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.port = scene->http_port, .over = &over};
        assert_true(thread_start(&writers[i].thread, keep_writing, &writers[i]));
    }
    scene_schedules_await_metric(scene->process, "tarry_records_read_total", NULL, 20);
    scene_stop(scene); /* fails unless it ends in time */
    atomic_store(&over, true);
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        assert_true(writers[i].longest_ms < 8000);
        for (int status = 0; status < 600; status++) {
            counts[status] += writers[i].counts[status];
        }
    }
    assert_true(counts[201] >= 20);
    assert_true(counts[503] >= 1);
    int others = 0;
    for (int status = 1; status < 600; status++) {
        others += status != 201 && status != 202 && status != 503 ? counts[status] : 0;
    }
    assert_int_equal(others, 0);
    scene_close(scene);
}

#define TEST(function) cmocka_unit_test_teardown(function, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_two_instances), TEST(test_without_kafka), TEST(test_with_a_frozen_kafka), TEST(test_stopped_while_writing)};
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
