/*
 * The whole daemon against librdkafka's mock cluster, which answers each kind of request with the errors that a broker may give, in both delivery modes. Either it
 * goes on and everything comes out, or it ends with 1 and says why, and a new start delivers the rest. Never a hang, a crash or a spin.
 *
 * The mock cluster drops offsets that are committed in transactions and shows aborted records: here nothing is proved about "exactly once", only "at least".
 *
 * Nor does it look at sequence numbers. A broker that has refused a batch refuses those sent behind it (OUT_OF_ORDER_SEQUENCE_NUMBER) until it comes again; this one
 * takes them, and to librdkafka that says that the batch is there, too: it reports as delivered what is nowhere. So one produce request is on its way at a time.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/memory.h"
#include "bridge/mock_cluster.h"
#include "tests/support/await.h"
#include "tests/support/http_get.h"
#include "tests/support/kafka_client.h"
#include "tests/support/tarry_process.h"
#include "tests/support/temp.h"

#define BROKER 1
#define PARTITIONS 2
#define RECORDS 6       /* of each case */
#define DELAY "200"     /* ms: longer than it takes to order the errors */
#define PHASE_MS 40000  /* a member that starts again is let in by the mock cluster when its last session is over, and that is twice 3.5 s */
#define LOOK_MS 100     /* between two looks at the output */
#define STOP_MS 20000
/* Turns of the owner: a few for each fact, and waiting takes none. A spin makes thousands in a second. */
#define TURNS_OF_A_CASE 1500
#define TURNS_OF_A_SECOND 300
#define STAGES_MAX 64

enum {
    LOST = MOCK_CLUSTER_LOST,
    OFFSET_OUT_OF_RANGE = 1,
    CORRUPT = 2,
    UNKNOWN_TOPIC = 3,
    LEADER_AWAY = 5,
    NOT_LEADER = 6,
    TIMED_OUT = 7,
    COORDINATOR_LOADING = 14,
    COORDINATOR_AWAY = 15,
    NOT_COORDINATOR = 16,
    NOT_ENOUGH_REPLICAS = 19,
    ILLEGAL_GENERATION = 22,
    UNKNOWN_MEMBER = 25,
    REBALANCING = 27,
    TOPIC_UNAUTHORIZED = 29,
    GROUP_UNAUTHORIZED = 30,
    OUT_OF_ORDER = 45,
    DUPLICATE = 46,
    INVALID_EPOCH = 47,
    INVALID_STATE = 48,
    INVALID_MAPPING = 49,
    CONCURRENT = 51,
    ID_UNAUTHORIZED = 53,
    STORAGE = 56,
    UNKNOWN_PRODUCER = 59,
    FENCED_LEADER = 74,
    UNSTABLE_OFFSET = 88,
    FENCED_INSTANCE = 82,
    PRODUCER_FENCED = 90,
};

enum { AT_LEAST = 1, EXACTLY = 2, BOTH = 3 };

enum outcome {
    GOES_ON, /* and the process never ends */
    ENDS,    /* with 1 */
    EITHER,
};

struct fault {
    enum mock_cluster_request request;
    const char *name;
    int codes[8]; /* given one after the other, up to 0 */
    unsigned times; /* each */
    unsigned modes;
    enum outcome outcome;
};

#define ROW(request, ...) {MOCK_CLUSTER_##request, #request, __VA_ARGS__}

/* -------------------------------------------------------------------------------------------------------- stage */

enum phase {
    STARTING, /* until it is ready, when the errors are for one that is at work */
    USING,    /* until each error has met a request */
    GOING_ON, /* until all records have come out, and it has ended if it has to */
    SETTLING, /* until it is ready (again) */
    DONE,
};

/* A mock cluster and a tarry of its own. */
struct stage {
    unsigned mode;
    bool opened;
    struct mock_cluster *cluster;
    char *folder;
    char *config_path;
    char *log_path;
    int http_port;
    struct tarry_process *process;
    struct kafka_client_producer *producer;
    struct kafka_client_reader *reader; /* NULL: nobody looks at the output now */
    struct kafka_client_records outputs;
    int sent;
    size_t ends; /* in all */

    const struct fault *faults; /* cases, one after the other; those of other modes are left out */
    size_t fault_count;
    const struct fault *fault; /* the running one */
    enum phase phase;
    int64_t phase_ms; /* since when */
    int64_t looked_ms;
    bool ended;
    double turns;     /* made before the case */
    int64_t since_ms; /* by when they were counted */
};

static struct stage *stages[STAGES_MAX];
static size_t stage_count;
static struct stage *shown; /* whose log is to be shown when the test fails */

static const char *mode_name(const struct stage *stage)
{
    return stage->mode == EXACTLY ? "exactly_once" : "at_least_once";
}

#define FAIL(stage, ...)                                                                                                                           \
    do {                                                                                                                                           \
        print_message("%s, %s %d: ", mode_name(stage), (stage)->fault->name, (stage)->fault->codes[0]);                                            \
        fail_msg(__VA_ARGS__);                                                                                                                     \
    } while (0)

static void configure(const struct stage *stage)
{
    char *store_path = temp_path(stage->folder, "store");
    FILE *file = fopen(stage->config_path, "w");
    assert_non_null(file);
    fprintf(file,
            "instance: faulty\ngroup: faults\ndelivery: %s\ntransaction_timeout: 3s\n"
            "kafka: {bootstrap.servers: \"%s\", consumer: {heartbeat.interval.ms: 100, session.timeout.ms: 3500, fetch.wait.max.ms: 50},\n"
            "        producer: {max.in.flight.requests.per.connection: 1}}\n"
            "store: {path: \"%s\", max_size: 64MiB, checkpoint: 100ms}\n"
            "sources:\n  - {topic: in, dialects: [tarry], default_target: out}\n"
            "nats: {url: \"nats://127.0.0.1:1\"}\n" /* nobody listens there */
            "http: {listen: \"127.0.0.1:%d\"}\nlog: {level: info, format: json}\nshutdown_timeout: 5s\n",
            mode_name(stage), mock_cluster_bootstrap(stage->cluster), store_path, stage->http_port);
    assert_int_equal(fclose(file), 0);
    free(store_path);
}

/* Of a thread of its own: librdkafka looks at what is ordered of a mock cluster only now and then. */
static void *open_cluster(void *opaque)
{
    static const char *const single[] = {"out", "unread"};
    struct stage *stage = opaque;
    struct error error;
    stage->opened = mock_cluster_open(1, &stage->cluster, &error) && mock_cluster_create_topic(stage->cluster, "in", PARTITIONS, &error);
    for (size_t i = 0; stage->opened && i < sizeof(single) / sizeof(single[0]); i++) {
        stage->opened = mock_cluster_create_topic(stage->cluster, single[i], 1, &error);
    }
    return NULL;
}

static struct stage *add_stage(unsigned mode)
{
    assert_true(stage_count < STAGES_MAX);
    struct stage *stage = memory_new(1, sizeof(*stage));
    stages[stage_count++] = stage;
    stage->mode = mode;
    return stage;
}

/* No process has bound the others' yet, so a free one may be one of theirs. */
static int port_of_its_own(size_t index)
{
    int port = http_free_port();
    for (size_t i = 0; i < index; i++) {
        if (stages[i]->http_port == port) {
            port = http_free_port();
            i = SIZE_MAX; /* from the first again */
        }
    }
    return port;
}

static void open_all(void)
{
    pthread_t threads[STAGES_MAX];
    for (size_t i = 0; i < stage_count; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, open_cluster, stages[i]), 0);
    }
    for (size_t i = 0; i < stage_count; i++) {
        pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < stage_count; i++) {
        struct stage *stage = stages[i];
        assert_true(stage->opened);
        stage->folder = temp_directory("tarry-faults");
        stage->config_path = temp_path(stage->folder, "tarry.yaml");
        stage->log_path = temp_path(stage->folder, "tarry.log");
        stage->http_port = port_of_its_own(i);
        configure(stage);
        stage->producer = kafka_client_producer_open(mock_cluster_bootstrap(stage->cluster), NULL);
        /* the first record waits a second for its place and the producer's id: all stages' at the same time */
        kafka_client_produce(stage->producer, "unread", &(struct kafka_client_output){.value = span_of_text("first")});
    }
}

static void close_reader(struct stage *stage)
{
    if (stage->reader != NULL) {
        kafka_client_reader_close(stage->reader);
        kafka_client_records_free(&stage->outputs);
        stage->reader = NULL;
    }
}

/* Of a thread of its own: a client takes up to a second to end. */
static void *close_stage(void *opaque)
{
    struct stage *stage = opaque;
    close_reader(stage);
    kafka_client_producer_close(stage->producer);
    mock_cluster_close(stage->cluster);
    temp_remove(stage->folder);
    free(stage->config_path);
    free(stage->log_path);
    free(stage);
    return NULL;
}

static int close_all(void **state)
{
    (void)state;
    pthread_t threads[STAGES_MAX];
    for (size_t i = 0; i < stage_count; i++) {
        if (stages[i] == shown && stages[i]->process != NULL) {
            tarry_process_show_log(stages[i]->process);
        }
        tarry_process_free(stages[i]->process);
        if (pthread_create(&threads[i], NULL, close_stage, stages[i]) != 0) {
            return 1;
        }
    }
    for (size_t i = 0; i < stage_count; i++) {
        pthread_join(threads[i], NULL);
    }
    stage_count = 0;
    shown = NULL;
    return 0;
}

static void launch(struct stage *stage)
{
    tarry_process_free(stage->process);
    stage->process = tarry_process_start(stage->config_path, stage->log_path, stage->http_port, NULL);
    stage->turns = 0;
    stage->since_ms = await_mono_ms();
}

/* ------------------------------------------------------------------------------------------------------ records */

static void send_some(struct stage *stage)
{
    for (int i = 0; i < RECORDS; i++) {
        char value[32];
        const struct record_header delay = {span_of_text("tarry-delay"), span_of_text(DELAY)};
        snprintf(value, sizeof(value), "%d", stage->sent++);
        const struct kafka_client_output output = {.partition = i % PARTITIONS,
                                                   .timestamp_ms = await_wall_ms(),
                                                   .value = span_of_text(value),
                                                   .headers = &delay,
                                                   .header_count = 1};
        kafka_client_produce(stage->producer, "in", &output);
    }
    kafka_client_flush(stage->producer);
}

/* Whether all that was ever sent is there. Reads on from the last look of the case. */
static bool all_out(struct stage *stage)
{
    bool *seen = memory_new((size_t)stage->sent, sizeof(*seen));
    int count = 0;
    if (stage->reader == NULL) {
        stage->reader = kafka_client_reader_open(mock_cluster_bootstrap(stage->cluster), (const char *const[]){"out", NULL});
    }
    kafka_client_read(stage->reader, &stage->outputs, SIZE_MAX, 20); /* aborted ones are there, too: no count says that it is all */
    for (size_t i = 0; i < stage->outputs.count; i++) {
        long number = kafka_client_value_number(&stage->outputs.items[i]);
        assert_true(number >= 0 && number < stage->sent);
        count += !seen[number];
        seen[number] = true;
    }
    free(seen);
    return count == stage->sent;
}

/* ------------------------------------------------------------------------------------------------------- a case */

static void enter(struct stage *stage, enum phase phase)
{
    stage->phase = phase;
    stage->phase_ms = await_mono_ms();
}

static void order(struct stage *stage)
{
    const struct fault *fault = stage->fault;
    for (size_t i = 0; fault->codes[i] != 0; i++) {
        mock_cluster_fail_at(stage->cluster, BROKER, fault->request, fault->codes[i], fault->times);
    }
}

/* Ended by itself: is that allowed, and did it say why? Then it is started again. */
static void take_end(struct stage *stage)
{
    int code = tarry_process_wait_exit(stage->process, STOP_MS);
    size_t said = tarry_process_log_count(stage->process, "\"event\":\"failed\"");
    if (code != 1 || stage->fault->outcome == GOES_ON || stage->phase == DONE) {
        FAIL(stage, "tarry ended with %d", code);
    }
    if (said != ++stage->ends) {
        FAIL(stage, "tarry ended without a word");
    }
    stage->ended = true;
    launch(stage);
}

static double turns(struct stage *stage)
{
    return tarry_process_metric(stage->process, "tarry_turns_total", NULL);
}

static void assert_no_spin(struct stage *stage)
{
    int64_t passed_ms = await_mono_ms() - stage->since_ms;
    double made = turns(stage) - stage->turns;
    if (made > TURNS_OF_A_CASE + (double)passed_ms * TURNS_OF_A_SECOND / 1000) {
        FAIL(stage, "%.0f turns in %" PRId64 " ms", made, passed_ms);
    }
}

static bool is_ready(struct stage *stage)
{
    return tarry_process_get(stage->process, "/readyz", NULL, 0) == 200;
}

static bool is_out(struct stage *stage)
{
    if (await_mono_ms() - stage->looked_ms < LOOK_MS) {
        return false;
    }
    stage->looked_ms = await_mono_ms();
    return all_out(stage);
}

/* For one that is at work. */
static void begin(struct stage *stage)
{
    stage->turns = turns(stage);
    stage->since_ms = await_mono_ms();
    assert_true(stage->turns >= 0);
    send_some(stage);
    order(stage);
    enter(stage, USING);
}

static void advance(struct stage *stage)
{
    if (stage->phase == STARTING && is_ready(stage)) {
        begin(stage);
    } else if (stage->phase == USING && mock_cluster_failures_left(stage->cluster, BROKER, stage->fault->request) == 0) {
        enter(stage, GOING_ON);
    } else if (stage->phase == GOING_ON && (stage->ended || stage->fault->outcome != ENDS) && is_out(stage)) {
        enter(stage, SETTLING);
    } else if (stage->phase == SETTLING && is_ready(stage)) {
        assert_no_spin(stage);
        if (stage->fault_count > 1) {
            close_reader(stage); /* it would meet the errors of the next case */
        }
        enter(stage, DONE);
    }
}

/* The next case of its mode from there on, if there is one. */
static void find_from(struct stage *stage, const struct fault *next)
{
    const struct fault *end = stage->faults + stage->fault_count;
    while (next < end && (next->modes & stage->mode) == 0) {
        next++;
    }
    if (next < end) {
        stage->fault = next;
        enter(stage, STARTING);
    }
}

static void assert_in_time(struct stage *stage)
{
    static const char *const late[] = {"not ready", "not all of the errors met a request", "not everything came out, or it has not ended",
                                       "not ready again"};
    if (stage->phase != DONE && await_mono_ms() - stage->phase_ms > PHASE_MS) {
        FAIL(stage, "%s", late[stage->phase]);
    }
}

static void run_all(void)
{
    struct stage *const *some = stages;
    size_t count = stage_count;
    for (size_t done = 0; done < count;) {
        done = 0;
        for (size_t i = 0; i < count; i++) {
            shown = some[i];
            if (!tarry_process_running(some[i]->process)) {
                take_end(some[i]);
            }
            advance(some[i]);
            assert_in_time(some[i]);
            if (some[i]->phase == DONE) {
                find_from(some[i], some[i]->fault + 1);
            }
            done += some[i]->phase == DONE;
        }
        await_pause_ms(5);
    }
}

static void assert_clean(struct stage *stage)
{
    shown = stage;
    assert_int_equal(tarry_process_wait_exit(stage->process, STOP_MS), 0);
    assert_int_equal(tarry_process_log_count(stage->process, "Sanitizer"), 0);
    assert_int_equal(tarry_process_log_count(stage->process, "runtime error"), 0);
    shown = NULL;
}

static void stop_all(void)
{
    for (size_t i = 0; i < stage_count; i++) {
        shown = stages[i];
        tarry_process_signal(stages[i]->process, SIGTERM);
    }
    for (size_t i = 0; i < stage_count; i++) {
        assert_clean(stages[i]);
    }
}

/* The cases one after the other, with the same tarry. */
static void add_chain(unsigned mode, const struct fault *faults, size_t count)
{
    struct stage *stage = add_stage(mode);
    stage->faults = faults;
    stage->fault_count = count;
    find_from(stage, faults);
}

/* Each case with a tarry of its own: those that cost a start. */
static void add_each(unsigned mode, const struct fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((faults[i].modes & mode) != 0) {
            add_chain(mode, &faults[i], 1);
        }
    }
}

/* at_start: the errors are there before tarry is. */
static void launch_all(bool at_start)
{
    for (size_t i = 0; i < stage_count; i++) {
        kafka_client_flush(stages[i]->producer);
        if (at_start) {
            send_some(stages[i]);
            order(stages[i]);
            enter(stages[i], USING);
        }
        launch(stages[i]);
    }
}

static void run(bool at_start)
{
    int64_t start_ms = await_mono_ms();
    open_all();
    launch_all(at_start);
    run_all();
    for (size_t i = 0; i < stage_count; i++) {
        if (stages[i]->fault_count == 1) {
            print_message("  %s, %s %d: %s\n", mode_name(stages[i]), stages[i]->fault->name, stages[i]->fault->codes[0],
                          stages[i]->ended ? "ended, and went on" : "went on");
        }
    }
    print_message("  %zu at the same time: %" PRId64 " ms\n", stage_count, await_mono_ms() - start_ms);
    stop_all();
}

/* ------------------------------------------------------------------------------------------------------- tables */

/* Outwaited, and nobody need start again. */
static const struct fault at_work[] = {
    ROW(PRODUCE, {LOST}, 2, BOTH, GOES_ON),
    ROW(PRODUCE, {NOT_LEADER}, 2, BOTH, GOES_ON),
    ROW(PRODUCE, {LEADER_AWAY}, 2, BOTH, GOES_ON),
    ROW(PRODUCE, {TIMED_OUT}, 2, BOTH, GOES_ON),
    ROW(PRODUCE, {UNKNOWN_TOPIC}, 2, BOTH, GOES_ON),
    ROW(PRODUCE, {NOT_ENOUGH_REPLICAS}, 2, BOTH, GOES_ON),
    ROW(PRODUCE, {STORAGE}, 2, BOTH, GOES_ON),
    ROW(PRODUCE, {CORRUPT}, 2, BOTH, GOES_ON),

    ROW(OFFSET_COMMIT, {LOST}, 2, AT_LEAST, GOES_ON),
    ROW(OFFSET_COMMIT, {COORDINATOR_LOADING}, 2, AT_LEAST, GOES_ON),
    ROW(OFFSET_COMMIT, {COORDINATOR_AWAY}, 2, AT_LEAST, GOES_ON),
    ROW(OFFSET_COMMIT, {NOT_COORDINATOR}, 2, AT_LEAST, GOES_ON),
    ROW(OFFSET_COMMIT, {TIMED_OUT}, 2, AT_LEAST, GOES_ON),
    ROW(OFFSET_COMMIT, {UNKNOWN_TOPIC}, 2, AT_LEAST, GOES_ON),
    ROW(OFFSET_COMMIT, {GROUP_UNAUTHORIZED}, 2, AT_LEAST, GOES_ON),
    ROW(OFFSET_COMMIT, {REBALANCING}, 2, AT_LEAST, GOES_ON),

    ROW(ADD_PARTITIONS_TO_TXN, {LOST}, 2, EXACTLY, GOES_ON),
    ROW(ADD_PARTITIONS_TO_TXN, {COORDINATOR_LOADING}, 2, EXACTLY, GOES_ON),
    ROW(ADD_PARTITIONS_TO_TXN, {COORDINATOR_AWAY}, 2, EXACTLY, GOES_ON),
    ROW(ADD_PARTITIONS_TO_TXN, {NOT_COORDINATOR}, 2, EXACTLY, GOES_ON),
    ROW(ADD_PARTITIONS_TO_TXN, {CONCURRENT}, 2, EXACTLY, GOES_ON),
    ROW(ADD_PARTITIONS_TO_TXN, {UNKNOWN_TOPIC}, 2, EXACTLY, GOES_ON),

    ROW(ADD_OFFSETS_TO_TXN, {LOST}, 2, EXACTLY, GOES_ON),
    ROW(ADD_OFFSETS_TO_TXN, {COORDINATOR_LOADING}, 2, EXACTLY, GOES_ON),
    ROW(ADD_OFFSETS_TO_TXN, {COORDINATOR_AWAY}, 2, EXACTLY, GOES_ON),
    ROW(ADD_OFFSETS_TO_TXN, {NOT_COORDINATOR}, 2, EXACTLY, GOES_ON),
    ROW(ADD_OFFSETS_TO_TXN, {CONCURRENT}, 2, EXACTLY, GOES_ON),
    ROW(ADD_OFFSETS_TO_TXN, {GROUP_UNAUTHORIZED}, 2, EXACTLY, GOES_ON),

    ROW(TXN_OFFSET_COMMIT, {LOST}, 2, EXACTLY, GOES_ON),
    ROW(TXN_OFFSET_COMMIT, {COORDINATOR_LOADING}, 2, EXACTLY, GOES_ON),
    ROW(TXN_OFFSET_COMMIT, {COORDINATOR_AWAY}, 2, EXACTLY, GOES_ON),
    ROW(TXN_OFFSET_COMMIT, {NOT_COORDINATOR}, 2, EXACTLY, GOES_ON),
    ROW(TXN_OFFSET_COMMIT, {TIMED_OUT}, 2, EXACTLY, GOES_ON),
    ROW(TXN_OFFSET_COMMIT, {UNKNOWN_TOPIC}, 2, EXACTLY, GOES_ON),
    ROW(TXN_OFFSET_COMMIT, {REBALANCING}, 2, EXACTLY, GOES_ON),
    ROW(TXN_OFFSET_COMMIT, {ILLEGAL_GENERATION}, 2, EXACTLY, GOES_ON),
    ROW(TXN_OFFSET_COMMIT, {UNKNOWN_MEMBER}, 2, EXACTLY, GOES_ON),

    ROW(END_TXN, {LOST}, 2, EXACTLY, GOES_ON),
    ROW(END_TXN, {COORDINATOR_LOADING}, 2, EXACTLY, GOES_ON),
    ROW(END_TXN, {COORDINATOR_AWAY}, 2, EXACTLY, GOES_ON),
    ROW(END_TXN, {NOT_COORDINATOR}, 2, EXACTLY, GOES_ON),
    ROW(END_TXN, {CONCURRENT}, 2, EXACTLY, GOES_ON),

    ROW(FETCH, {LOST}, 3, BOTH, GOES_ON),
    ROW(FETCH, {NOT_LEADER}, 3, BOTH, GOES_ON),
    ROW(FETCH, {LEADER_AWAY}, 3, BOTH, GOES_ON),
    ROW(FETCH, {UNKNOWN_TOPIC}, 3, BOTH, GOES_ON),
    ROW(FETCH, {TIMED_OUT}, 3, BOTH, GOES_ON),
    ROW(FETCH, {STORAGE}, 3, BOTH, GOES_ON),
    ROW(FETCH, {FENCED_LEADER}, 3, BOTH, GOES_ON),
    ROW(FETCH, {CORRUPT}, 3, BOTH, GOES_ON),
    ROW(FETCH, {TOPIC_UNAUTHORIZED}, 3, BOTH, GOES_ON),

    ROW(HEARTBEAT, {LOST}, 2, BOTH, GOES_ON),
    ROW(HEARTBEAT, {COORDINATOR_LOADING}, 2, BOTH, GOES_ON),
};

/* What makes tarry end, or join the group anew. */
static const struct fault at_work_for_good[] = {
    ROW(PRODUCE, {UNKNOWN_PRODUCER}, 1, BOTH, EITHER),
    ROW(PRODUCE, {OUT_OF_ORDER}, 1, BOTH, ENDS),
    ROW(PRODUCE, {INVALID_MAPPING}, 1, BOTH, EITHER),
    ROW(PRODUCE, {INVALID_EPOCH}, 1, BOTH, EITHER),
    ROW(PRODUCE, {PRODUCER_FENCED}, 1, EXACTLY, EITHER),
    ROW(OFFSET_COMMIT, {ILLEGAL_GENERATION}, 1, AT_LEAST, GOES_ON),
    ROW(OFFSET_COMMIT, {UNKNOWN_MEMBER}, 1, AT_LEAST, GOES_ON),
    ROW(OFFSET_COMMIT, {FENCED_INSTANCE}, 1, AT_LEAST, ENDS),
    ROW(ADD_PARTITIONS_TO_TXN, {INVALID_MAPPING}, 1, EXACTLY, EITHER),
    ROW(ADD_PARTITIONS_TO_TXN, {INVALID_STATE}, 1, EXACTLY, ENDS),
    ROW(ADD_PARTITIONS_TO_TXN, {INVALID_EPOCH}, 1, EXACTLY, ENDS),
    ROW(ADD_PARTITIONS_TO_TXN, {PRODUCER_FENCED}, 1, EXACTLY, ENDS),
    ROW(ADD_PARTITIONS_TO_TXN, {ID_UNAUTHORIZED}, 1, EXACTLY, ENDS),
    ROW(ADD_OFFSETS_TO_TXN, {INVALID_MAPPING}, 1, EXACTLY, EITHER),
    ROW(ADD_OFFSETS_TO_TXN, {INVALID_STATE}, 1, EXACTLY, ENDS),
    ROW(ADD_OFFSETS_TO_TXN, {INVALID_EPOCH}, 1, EXACTLY, ENDS),
    ROW(ADD_OFFSETS_TO_TXN, {PRODUCER_FENCED}, 1, EXACTLY, EITHER),
    ROW(TXN_OFFSET_COMMIT, {FENCED_INSTANCE}, 1, EXACTLY, EITHER),
    ROW(TXN_OFFSET_COMMIT, {INVALID_MAPPING}, 1, EXACTLY, EITHER),
    ROW(TXN_OFFSET_COMMIT, {INVALID_EPOCH}, 1, EXACTLY, ENDS),
    ROW(TXN_OFFSET_COMMIT, {PRODUCER_FENCED}, 1, EXACTLY, EITHER),
    ROW(END_TXN, {INVALID_MAPPING}, 1, EXACTLY, EITHER),
    ROW(END_TXN, {INVALID_STATE}, 1, EXACTLY, ENDS),
    ROW(END_TXN, {INVALID_EPOCH}, 1, EXACTLY, ENDS),
    ROW(END_TXN, {PRODUCER_FENCED}, 1, EXACTLY, ENDS),
    ROW(HEARTBEAT, {COORDINATOR_AWAY}, 2, BOTH, GOES_ON),
    ROW(HEARTBEAT, {NOT_COORDINATOR}, 2, BOTH, GOES_ON),
    ROW(HEARTBEAT, {REBALANCING}, 1, BOTH, GOES_ON),
    ROW(HEARTBEAT, {ILLEGAL_GENERATION}, 1, BOTH, GOES_ON),
    ROW(HEARTBEAT, {UNKNOWN_MEMBER}, 1, BOTH, GOES_ON),
    ROW(HEARTBEAT, {GROUP_UNAUTHORIZED}, 1, BOTH, GOES_ON),
    ROW(HEARTBEAT, {FENCED_INSTANCE}, 1, BOTH, ENDS),
};

static const struct fault from_the_start[] = {
    ROW(FIND_COORDINATOR, {LOST, COORDINATOR_AWAY, COORDINATOR_LOADING, NOT_COORDINATOR}, 1, BOTH, GOES_ON),
    ROW(FIND_COORDINATOR, {GROUP_UNAUTHORIZED}, 1, AT_LEAST, GOES_ON),
    ROW(FIND_COORDINATOR, {ID_UNAUTHORIZED}, 1, EXACTLY, EITHER),
    ROW(JOIN_GROUP, {LOST, COORDINATOR_LOADING}, 1, BOTH, GOES_ON),
    ROW(JOIN_GROUP, {COORDINATOR_AWAY, NOT_COORDINATOR}, 1, BOTH, GOES_ON),
    ROW(JOIN_GROUP, {UNKNOWN_MEMBER}, 1, BOTH, GOES_ON),
    ROW(JOIN_GROUP, {GROUP_UNAUTHORIZED}, 1, BOTH, GOES_ON),
    ROW(JOIN_GROUP, {FENCED_INSTANCE}, 1, BOTH, ENDS),
    ROW(SYNC_GROUP, {LOST}, 1, BOTH, GOES_ON),
    ROW(SYNC_GROUP, {COORDINATOR_AWAY}, 1, BOTH, GOES_ON),
    ROW(SYNC_GROUP, {REBALANCING}, 1, BOTH, GOES_ON),
    ROW(SYNC_GROUP, {ILLEGAL_GENERATION}, 1, BOTH, GOES_ON),
    ROW(SYNC_GROUP, {FENCED_INSTANCE}, 1, BOTH, ENDS),
    ROW(OFFSET_FETCH, {LOST, COORDINATOR_LOADING, COORDINATOR_AWAY, NOT_COORDINATOR}, 2, BOTH, GOES_ON),
    ROW(OFFSET_FETCH, {UNSTABLE_OFFSET, TIMED_OUT, GROUP_UNAUTHORIZED}, 2, BOTH, GOES_ON),
    ROW(OFFSET_FETCH, {ILLEGAL_GENERATION, UNKNOWN_MEMBER}, 1, BOTH, GOES_ON),
    ROW(LIST_OFFSETS, {LOST, NOT_LEADER, LEADER_AWAY, UNKNOWN_TOPIC}, 2, BOTH, GOES_ON),
    ROW(LIST_OFFSETS, {TIMED_OUT, STORAGE, FENCED_LEADER, TOPIC_UNAUTHORIZED}, 2, BOTH, GOES_ON),
    ROW(FETCH, {NOT_LEADER, LOST, FENCED_LEADER, UNKNOWN_TOPIC}, 2, BOTH, GOES_ON),
    ROW(INIT_PRODUCER_ID, {LOST, COORDINATOR_LOADING, COORDINATOR_AWAY, NOT_COORDINATOR}, 2, BOTH, GOES_ON),
    ROW(INIT_PRODUCER_ID, {CONCURRENT, TIMED_OUT}, 3, EXACTLY, GOES_ON),
    ROW(INIT_PRODUCER_ID, {ID_UNAUTHORIZED}, 1, EXACTLY, ENDS),
    ROW(INIT_PRODUCER_ID, {INVALID_EPOCH}, 1, EXACTLY, EITHER),
    ROW(INIT_PRODUCER_ID, {PRODUCER_FENCED}, 1, EXACTLY, EITHER),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void errors_at_work(void **state)
{
    (void)state;
    add_chain(AT_LEAST, at_work, COUNT(at_work));
    add_chain(EXACTLY, at_work, COUNT(at_work));
    run(false);
}

static void errors_for_good(void **state)
{
    (void)state;
    add_each(AT_LEAST, at_work_for_good, COUNT(at_work_for_good));
    add_each(EXACTLY, at_work_for_good, COUNT(at_work_for_good));
    run(false);
}

static void errors_from_the_start(void **state)
{
    (void)state;
    add_each(AT_LEAST, from_the_start, COUNT(from_the_start));
    add_each(EXACTLY, from_the_start, COUNT(from_the_start));
    run(true);
}

/* With an argument: only the tests of that name. */
int main(int count, char **arguments)
{
    if (count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(errors_at_work, close_all),
        cmocka_unit_test_teardown(errors_for_good, close_all),
        cmocka_unit_test_teardown(errors_from_the_start, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
