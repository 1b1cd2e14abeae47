#include "tests/support/scene_schedules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/shifted_clock.h"

#define HEADERS_MAX 16
#define METRIC_MS 30000
#define ON_ITS_WAY_MS 300 /* between tarry's look at its clock and the broker's timestamp, at most, when a test steps the clock */
#define TEXTS 16
#define SHOWN 2000

const char *const scene_schedules_any_timestamp[] = {"message.timestamp.after.max.ms=9223372036854775807", NULL};

/* --------------------------------------------------------------------------------------------------- sending */

void scene_schedules_send(struct scene *scene, int32_t partition, const char *value, const char *const *headers)
{
    struct record_header made[HEADERS_MAX];
    size_t count = 0;
    for (; headers[2 * count] != NULL; count++) {
        assert_true(count < HEADERS_MAX);
        made[count] = (struct record_header){span_of_text(headers[2 * count]), span_of_text(headers[2 * count + 1])};
    }
    struct kafka_client_output output = {.partition = partition,
                                         .timestamp_ms = shifted_clock_ms(scene->clock),
                                         .key = span_of_text("k"),
                                         .value = span_of_text(value),
                                         .headers = made,
                                         .header_count = count};
    kafka_client_produce(scene->producer, scene->in, &output);
}

const char *scene_schedules_text(int64_t number)
{
    static char texts[TEXTS][32];
    static size_t next;
    char *text = texts[next++ % TEXTS];
    snprintf(text, sizeof(texts[0]), "%" PRId64, number);
    return text;
}

/* --------------------------------------------------------------------------------------------------- reading */

void scene_schedules_read(struct scene *scene)
{
    kafka_client_flush(scene->producer);
    assert_true(kafka_client_read_to_end(scene->reader, &scene->outputs, SCENE_SCHEDULES_OUT_MS));
}

static bool is_output(const struct scene *scene, const struct kafka_client_record *item)
{
    return strcmp(item->topic, scene->out) == 0;
}

size_t scene_schedules_count(const struct scene *scene, const char *value)
{
    size_t count = 0;
    for (size_t i = 0; i < scene->outputs.count; i++) {
        const struct kafka_client_record *item = &scene->outputs.items[i];
        count += is_output(scene, item) && span_equals_text(item->record.value, value);
    }
    return count;
}

/* What is waited for among the outputs. */
struct wanted {
    struct scene *scene;
    const char *value; /* of an output; NULL: of the history */
    const char *id;
    const char *outcome;
    size_t count;
};

static size_t count_wanted(const struct wanted *wanted)
{
    return wanted->value != NULL ? scene_schedules_count(wanted->scene, wanted->value)
                                 : scene_schedules_told(wanted->scene, wanted->id, wanted->outcome);
}

static bool has_come(void *context)
{
    const struct wanted *wanted = context;
    scene_schedules_read(wanted->scene);
    return count_wanted(wanted) >= wanted->count;
}

const struct kafka_client_record *scene_schedules_find(const struct scene *scene, const char *value)
{
    for (size_t i = 0; i < scene->outputs.count; i++) {
        if (span_equals_text(scene->outputs.items[i].record.value, value)) {
            return &scene->outputs.items[i];
        }
    }
    fail_msg("\"%s\" did not come out", value);
    return NULL;
}

void scene_schedules_await(struct scene *scene, const char *value, size_t count)
{
    struct wanted wanted = {.scene = scene, .value = value, .count = count};
    if (!await_condition(has_come, &wanted, SCENE_SCHEDULES_OUT_MS)) {
        fail_msg("%zu of \"%s\" came out, not %zu", count_wanted(&wanted), value, count);
    }
}

static int64_t due_of(const struct kafka_client_record *item)
{
    const char *due = kafka_client_header_text(item, "tarry-due");
    assert_non_null(due);
    return strtoll(due, NULL, 10);
}

void scene_schedules_assert_never_early(const struct scene *scene)
{
    for (size_t i = 0; i < scene->outputs.count; i++) {
        const struct kafka_client_record *item = &scene->outputs.items[i];
        int64_t at_ms = item->record.timestamp_ms;
        if (is_output(scene, item) && shifted_clock_greatest_ms(scene->clock, at_ms - ON_ITS_WAY_MS, at_ms) < due_of(item)) {
            fail_msg("\"%.*s\", due at %" PRId64 ", went out at %" PRId64 ", when tarry's clock showed %" PRId64, (int)item->record.value.length,
                     (const char *)item->record.value.data, due_of(item), at_ms,
                     shifted_clock_greatest_ms(scene->clock, at_ms - ON_ITS_WAY_MS, at_ms));
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- chains */

struct scene_schedules_chain scene_schedules_chain(const struct scene *scene, const char *id)
{
    struct scene_schedules_chain chain = {.count = 0};
    for (size_t i = 0; i < scene->outputs.count; i++) {
        const struct kafka_client_record *item = &scene->outputs.items[i];
        if (!is_output(scene, item) || strcmp(kafka_client_header_text(item, "tarry-id"), id) != 0) {
            continue;
        }
        chain.due_ms = memory_resize(chain.due_ms, chain.count + 1, sizeof(*chain.due_ms));
        chain.at_ms = memory_resize(chain.at_ms, chain.count + 1, sizeof(*chain.at_ms));
        chain.due_ms[chain.count] = due_of(item);
        chain.at_ms[chain.count++] = item->record.timestamp_ms;
    }
    return chain;
}

void scene_schedules_chain_free(struct scene_schedules_chain *chain)
{
    free(chain->due_ms);
    free(chain->at_ms);
    *chain = (struct scene_schedules_chain){.count = 0};
}

void scene_schedules_assert_chain(const struct scene *scene, const char *id, int64_t step_ms, bool gapless, bool repeats)
{
    struct scene_schedules_chain chain = scene_schedules_chain(scene, id);
    for (size_t i = 1; i < chain.count; i++) {
        int64_t passed_ms = chain.due_ms[i] - chain.due_ms[i - 1];
        bool fine = passed_ms == 0 ? repeats : passed_ms > 0 && passed_ms % step_ms == 0 && (!gapless || passed_ms == step_ms);
        if (!fine) {
            fail_msg("%s: occurrence %zu of %zu is due %" PRId64 " ms after the one before (%" PRId64 ", out at %" PRId64 " after %" PRId64 ")", id, i,
                     chain.count, passed_ms, chain.due_ms[i], chain.at_ms[i], chain.at_ms[i - 1]);
        }
    }
    scene_schedules_chain_free(&chain);
}

/* --------------------------------------------------------------------------------------------------- metrics */

struct metric {
    struct tarry_process *process;
    const char *name;
    const char *label;
    double value;
    bool just;
};

static bool has_reached(void *context)
{
    const struct metric *metric = context;
    double value = tarry_process_metric(metric->process, metric->name, metric->label);
    return metric->just ? value == metric->value : value >= metric->value; /* whole numbers */
}

static void await_value(struct metric metric)
{
    if (!await_condition(has_reached, &metric, METRIC_MS)) {
        fail_msg("%s{%s} is %f, not %f", metric.name, metric.label == NULL ? "" : metric.label,
                 tarry_process_metric(metric.process, metric.name, metric.label), metric.value);
    }
}

void scene_schedules_await_metric(struct tarry_process *process, const char *name, const char *label, double least)
{
    await_value((struct metric){process, name, label, least, false});
}

void scene_schedules_await_metric_is(struct tarry_process *process, const char *name, const char *label, double value)
{
    await_value((struct metric){process, name, label, value, true});
}

/* --------------------------------------------------------------------------------------------------- history */

static int64_t number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? (int64_t)item->valuedouble : -1;
}

static struct scene_schedules_outcome parse_outcome(struct span text)
{
    struct scene_schedules_outcome outcome = {.id = NULL};
    cJSON *told = cJSON_ParseWithLength((const char *)text.data, text.length);
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(told, "source");
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(told, "id"));
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(told, "outcome"));
    if (name == NULL || source == NULL) {
        fail_msg("no outcome: %.*s", (int)text.length, (const char *)text.data);
    }
    snprintf(outcome.outcome, sizeof(outcome.outcome), "%s", name);
    outcome.id = id == NULL ? NULL : memory_text(id, strlen(id));
    outcome.base64 = cJSON_HasObjectItem(told, "id_encoding");
    outcome.partition = (int32_t)number_of(source, "partition");
    outcome.offset = number_of(source, "offset");
    cJSON_Delete(told);
    return outcome;
}

struct scene_schedules_outcomes scene_schedules_outcomes(const struct scene *scene)
{
    struct scene_schedules_outcomes outcomes = {.items = memory_new(scene->outputs.count + 1, sizeof(*outcomes.items))};
    char topic[SCENE_NAME_MAX + 16];
    snprintf(topic, sizeof(topic), "%s-history", scene->prefix);
    for (size_t i = 0; i < scene->outputs.count; i++) {
        const struct kafka_client_record *item = &scene->outputs.items[i];
        if (strcmp(item->topic, topic) == 0) {
            outcomes.items[outcomes.count++] = parse_outcome(item->record.value);
        }
    }
    return outcomes;
}

void scene_schedules_outcomes_free(struct scene_schedules_outcomes *outcomes)
{
    for (size_t i = 0; i < outcomes->count; i++) {
        free(outcomes->items[i].id);
    }
    free(outcomes->items);
}

size_t scene_schedules_told(const struct scene *scene, const char *id, const char *outcome)
{
    struct scene_schedules_outcomes outcomes = scene_schedules_outcomes(scene);
    size_t count = 0;
    for (size_t i = 0; i < outcomes.count; i++) {
        const struct scene_schedules_outcome *item = &outcomes.items[i];
        bool same_id = id == NULL || (item->id != NULL && strcmp(item->id, id) == 0);
        count += same_id && (outcome == NULL || strcmp(item->outcome, outcome) == 0);
    }
    scene_schedules_outcomes_free(&outcomes);
    return count;
}

/* The last outcomes of that id, and of none, for a failing test. */
static void show_told(const struct scene *scene, const char *id)
{
    struct scene_schedules_outcomes outcomes = scene_schedules_outcomes(scene);
    fprintf(stderr, "%zu outcomes of %zu outputs\n", outcomes.count, scene->outputs.count);
    for (size_t i = outcomes.count > SHOWN ? outcomes.count - SHOWN : 0; i < outcomes.count; i++) {
        const struct scene_schedules_outcome *item = &outcomes.items[i];
        bool usual = strcmp(item->outcome, "delivered") == 0 || strcmp(item->outcome, "next") == 0; /* too many to show */
        if (!usual && (id == NULL || item->id == NULL || strcmp(item->id, id) == 0)) {
            fprintf(stderr, "told: %s %s of %d/%" PRId64 "\n", item->id == NULL ? "(no id)" : item->id, item->outcome, item->partition, item->offset);
        }
    }
    scene_schedules_outcomes_free(&outcomes);
}

void scene_schedules_await_told(struct scene *scene, const char *id, const char *outcome, size_t count)
{
    struct wanted wanted = {.scene = scene, .id = id, .outcome = outcome, .count = count};
    if (!await_condition(has_come, &wanted, SCENE_SCHEDULES_OUT_MS)) {
        show_told(scene, id);
        fail_msg("%zu outcomes \"%s\" of %s are told, not %zu", count_wanted(&wanted), outcome == NULL ? "(any)" : outcome, id == NULL ? "any" : id, count);
    }
}
