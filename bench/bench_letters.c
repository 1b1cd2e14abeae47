/*
 * Dead letters: how many records a second that cannot be delivered become letters, beside bare publishing of the same letters; and how many parked
 * letters a second are replayed, beside a bare loop from NATS to Kafka.
 *
 * The records take the way of any record that is at fault when it is delivered: due, sent to Kafka, whose answer is that the target topic does not exist,
 * and then a letter that waits for its redelivery.
 */
#include <inttypes.h>
#include <stdio.h>

#include "bench/bench_child.h"
#include "bench/bench_feed.h"
#include "bench/bench_kafka.h"
#include "bench/bench_letters_bare.h"
#include "bench/bench_nats.h"
#include "bench/bench_sections.h"
#include "bench/bench_tarry.h"

#define TIMEOUT_MS 600000
#define LOOK_MS 10

static const char section[] = "letters";

/* A tarry whose target topic is not there, and its streams. */
struct scene {
    const struct bench_nats *nats;
    struct bench_tarry tarry;
    char prefix[BENCH_RUN_NAME];
    char waiting[BENCH_RUN_NAME + 8]; /* streams */
    char parked[BENCH_RUN_NAME + 8];
    char bare[BENCH_RUN_NAME + 8];
    char bare_subject[BENCH_RUN_NAME + 16];
};

static const char more[] = "unknown_topic_grace: 0ms\n"
                           "targets:\n"
                           "  - {name: missing, match: \"%s\", retry: {backoff: 1h, backoff_max: 1h}}\n"
                           "nats: {url: \"%s\"}\n"
                           "dlq: {stream: %s, parked_stream: %s, subject_prefix: %s, max_bytes: 1GiB}\n";

static void scene_open(struct bench_run *run, const struct bench_nats *nats, struct scene *scene)
{
    char text[1024];
    struct bench_tarry_options options = {.no_output = true};
    scene->nats = nats;
    bench_tarry_open(run, &scene->tarry, &options);
    bench_run_name(run, "letters", scene->prefix);
    snprintf(scene->waiting, sizeof(scene->waiting), "%s-W", scene->prefix);
    snprintf(scene->parked, sizeof(scene->parked), "%s-P", scene->prefix);
    snprintf(scene->bare, sizeof(scene->bare), "%s-B", scene->prefix);
    snprintf(scene->bare_subject, sizeof(scene->bare_subject), "%s.bare", scene->prefix);
    snprintf(text, sizeof(text), more, scene->tarry.output, nats->url, scene->waiting, scene->parked, scene->prefix);
    options.more = text; /* with the name of the output, which is known only now */
    bench_tarry_configure(run, &scene->tarry, &options);
}

static void scene_close(struct bench_run *run, struct scene *scene)
{
    char name[BENCH_RUN_NAME + 16];
    snprintf(name, sizeof(name), "%s_LARGE", scene->waiting);
    bench_nats_stream_delete(scene->nats, name);
    snprintf(name, sizeof(name), "%s_JOBS", scene->waiting);
    bench_nats_stream_delete(scene->nats, name);
    bench_nats_stream_delete(scene->nats, scene->waiting);
    bench_nats_stream_delete(scene->nats, scene->parked);
    bench_tarry_close(run, &scene->tarry);
}

static void load(const struct bench_run *run, const char *topic, int64_t count)
{
    struct bench_feed_options options = {.topic = topic, .least_ms = 0, .most_ms = 1000, .count = count};
    bench_feed_all(run, &options);
}

/* Waits until the stream holds at least `count`; returns how many it holds. */
static int64_t wait_messages(struct scene *scene, const char *stream, int64_t count)
{
    int64_t limit = bench_run_mono_us() + (int64_t)TIMEOUT_MS * 1000;
    int64_t messages = bench_nats_messages(scene->nats, stream);
    while (messages < count) {
        bench_child_check(scene->tarry.pid, scene->tarry.log);
        if (bench_run_mono_us() > limit) {
            bench_run_fail("%" PRId64 " of %" PRId64 " letters in %s after %d ms; see %s", messages, count, stream, TIMEOUT_MS, scene->tarry.log);
        }
        bench_run_sleep_ms(LOOK_MS);
        messages = bench_nats_messages(scene->nats, stream);
    }
    return messages;
}

static void expect_messages(const struct scene *scene, const char *stream, int64_t count)
{
    int64_t messages = bench_nats_messages(scene->nats, stream);
    if (messages != count) {
        bench_run_fail("%s holds %" PRId64 " letters, not %" PRId64, stream, messages, count);
    }
}

/* Letters a second, from the first in the stream to the last, of records that stood in the topic when tarry started. */
static double run_letters(struct bench_run *run, struct scene *scene, int64_t count)
{
    load(run, scene->tarry.input, count);
    bench_tarry_start(run, &scene->tarry);
    int64_t first = wait_messages(scene, scene->waiting, 1);
    int64_t began_us = bench_run_mono_us();
    struct bench_tarry_cost cost = bench_tarry_cost(&scene->tarry);
    (void)wait_messages(scene, scene->waiting, count);
    double took_s = (double)(bench_run_mono_us() - began_us) / 1e6;
    int64_t cpu_ms = bench_tarry_cost(&scene->tarry).cpu_ms - cost.cpu_ms;
    bench_tarry_stop(&scene->tarry);
    expect_messages(scene, scene->waiting, count);
    double rate = (double)(count - first) / took_s;
    bench_run_say("  letters: %.0f/s: %" PRId64 " in %.1f s, CPU %.1f s", rate, count - first, took_s, (double)cpu_ms / 1000);
    bench_figures_add(run->figures, section, "letters_cpu_us_per_letter", "us", (double)cpu_ms * 1000 / (double)(count - first));
    return rate;
}

/* Into a stream of its own, which stays. */
static double run_publish(const struct scene *scene, const struct bench_letters_bodies *bodies, int64_t count, bool ids)
{
    bench_nats_stream_like(scene->nats, bodies->stream, scene->bare, scene->bare_subject);
    double took_s = bench_letters_bare_publish(scene->nats, bodies, scene->bare_subject, count, ids);
    expect_messages(scene, scene->bare, count);
    bench_run_say("  publish%s: %.0f/s: %" PRId64 " in %.1f s", ids ? "" : " without ids", (double)count / took_s, count, took_s);
    return (double)count / took_s;
}

static void run_publish_plain(struct bench_run *run, const struct scene *scene, const struct bench_letters_bodies *bodies, int64_t count)
{
    double rate = run_publish(scene, bodies, count, false);
    bench_figures_add(run->figures, section, "publish_without_ids_per_s", "1/s", rate);
    bench_nats_stream_delete(scene->nats, scene->bare);
}

/* Runs `tarry dlq VERB` over all letters of a state and returns the seconds that it took. */
static double run_verb(const struct bench_run *run, const struct scene *scene, const char *verb, const char *state)
{
    const char *const arguments[] = {run->tarry, "dlq", verb, "-c", scene->tarry.config, "--state", state, "--execute", NULL};
    int64_t began_us = bench_run_mono_us();
    bench_child_wait(bench_child_start(arguments, scene->tarry.log));
    return (double)(bench_run_mono_us() - began_us) / 1e6;
}

static double run_replay(struct bench_run *run, struct scene *scene, int64_t count)
{
    double took_s = run_verb(run, scene, "replay", "parked");
    expect_messages(scene, scene->parked, 0);
    bench_run_say("  replay: %.0f/s: %" PRId64 " in %.1f s", (double)count / took_s, count, took_s);
    return (double)count / took_s;
}

static double run_fetch_produce(struct bench_run *run, struct scene *scene, int64_t count)
{
    double took_s = bench_letters_bare_fetch_produce(run, scene->nats, scene->bare, scene->bare_subject, scene->tarry.output, count);
    bench_run_say("  fetch and produce: %.0f/s: %" PRId64 " in %.1f s", (double)count / took_s, count, took_s);
    return (double)count / took_s;
}

static void note(struct bench_run *run, const char *ours, double rate, const char *theirs, double bare, const char *ratio)
{
    bench_figures_add(run->figures, section, theirs, "1/s", bare);
    bench_figures_add(run->figures, section, ours, "1/s", rate);
    bench_figures_add(run->figures, section, ratio, "", rate / bare);
}

/* Each goes first in every other run, as in throughput. */
static void run_pairs(struct bench_run *run, struct scene *scene, const struct bench_letters_bodies *bodies, int64_t count, bool bare_first)
{
    run_publish_plain(run, scene, bodies, count);
    double publish = bare_first ? run_publish(scene, bodies, count, true) : 0;
    double letters = run_letters(run, scene, count);
    publish = bare_first ? publish : run_publish(scene, bodies, count, true);
    note(run, "letters_per_s", letters, "publish_per_s", publish, "letters_ratio");

    /* not measured: for a replay they must be parked, and the topic be there */
    (void)run_verb(run, scene, "park", "waiting");
    expect_messages(scene, scene->parked, count);
    bench_kafka_topic_create(run, scene->tarry.output);
    double fetch = bare_first ? run_fetch_produce(run, scene, count) : 0;
    double replay = run_replay(run, scene, count);
    fetch = bare_first ? fetch : run_fetch_produce(run, scene, count);
    int64_t arrived = bench_kafka_end(run, scene->tarry.output);
    if (arrived != 2 * count) {
        bench_run_fail("%" PRId64 " records arrived of %" PRId64 " letters replayed, and as many of the bare loop", arrived, count);
    }
    note(run, "replay_per_s", replay, "fetch_produce_per_s", fetch, "replay_ratio");
}

/* Letters as tarry writes them, and their stream, which stays: the model for the bare program's streams. */
static struct bench_letters_bodies write_model(struct bench_run *run, const struct bench_nats *nats, struct scene *scene, int64_t count)
{
    char subject[BENCH_RUN_NAME + 8];
    scene_open(run, nats, scene);
    load(run, scene->tarry.input, count);
    bench_tarry_start(run, &scene->tarry);
    (void)wait_messages(scene, scene->waiting, count);
    bench_tarry_stop(&scene->tarry);
    bench_kafka_topic_create(run, scene->tarry.output); /* for scene_close */
    snprintf(subject, sizeof(subject), "%s.dlq.>", scene->prefix);
    return bench_letters_bare_read(nats, scene->waiting, subject, count);
}

void bench_letters_section(struct bench_run *run)
{
    int64_t runs = bench_run_size(run, run->runs, 1);
    struct bench_nats nats;
    struct scene model;
    bench_nats_start(run, &nats);
    bench_run_say("letters: writing some, to publish them again");
    struct bench_letters_bodies bodies = write_model(run, &nats, &model, bench_run_size(run, 20000, 1000));
    for (int64_t i = 0; i < runs; i++) {
        struct scene scene;
        bench_run_say("letters, run %" PRId64 " of %" PRId64, i + 1, runs);
        scene_open(run, &nats, &scene);
        run_pairs(run, &scene, &bodies, bench_run_size(run, 200000, 5000), i % 2 == 0);
        bench_nats_stream_delete(&nats, scene.bare);
        scene_close(run, &scene);
    }
    bench_letters_bare_free(&bodies);
    scene_close(run, &model);
    bench_nats_stop(&nats);
}
