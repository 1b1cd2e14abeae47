/*
 * How it ends: in the middle of work, told twice, while it starts, as process 1 of a container; and that it goes on when nobody takes its log lines.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/await.h"
#include "tests/support/operated.h"

#define MANY 2000
#define SOON_MS 30000
#define NOT_ENOUGH_REPLICAS 19

struct metric {
    struct operated *operated;
    const char *name;
    double least;
};

static bool metric_reached(void *context)
{
    const struct metric *metric = context;
    return tarry_process_metric(metric->operated->process, metric->name, NULL) >= metric->least;
}

static void await_metric(struct operated *operated, const char *name, double least)
{
    if (!await_condition(metric_reached, &(struct metric){operated, name, least}, SOON_MS)) {
        fail_msg("%s is %f, not %f", name, tarry_process_metric(operated->process, name, NULL), least);
    }
}

/* The number that the last line of this event has in a field. */
static long log_number(const struct operated *operated, const char *event, const char *field)
{
    char wanted[64];
    char *log = operated_log(operated);
    const char *line = NULL;
    snprintf(wanted, sizeof(wanted), "\"event\":\"%s\"", event);
    for (const char *at = strstr(log, wanted); at != NULL; at = strstr(at + 1, wanted)) {
        line = at;
    }
    assert_non_null(line);
    snprintf(wanted, sizeof(wanted), "\"%s\":", field);
    const char *found = strstr(line, wanted);
    assert_true(found != NULL && found < line + strcspn(line, "\n"));
    long number = strtol(found + strlen(wanted), NULL, 10);
    free(log);
    return number;
}

/* ------------------------------------------------------------------------------------------------- O03: in the middle of work */

static void two_thousand_due_now(void **state)
{
    (void)state;
    struct operated *operated = operated_open();
    operated_configure(operated, &(struct operated_options){0});
    operated_start(operated, NULL);
    operated_send(operated, MANY, 3000);
    await_metric(operated, "tarry_records_read_total", MANY);
    await_metric(operated, "tarry_delivered_total", 1); /* they leave now */
    tarry_process_signal(operated->process, SIGTERM);
    assert_int_equal(tarry_process_wait_exit(operated->process, 8000), 0); /* shutdown_timeout is 5 s */
    assert_true(log_number(operated, "stopping", "pending") >= 0);
    assert_int_equal(log_number(operated, "stopped", "in_flight"), 0);
    operated_start(operated, NULL);
    assert_int_equal(operated_expect_all(operated, SOON_MS), 0); /* none lost, and none twice: all that left was answered and committed */
    assert_int_equal(tarry_process_stop(operated->process, 8000), 0);
    operated_close(operated);
}

/* The target takes nothing: what is under way cannot be answered, and stays pending on disk. */
static void deliveries_that_nobody_answers(void **state)
{
    (void)state;
    struct operated *operated = operated_open();
    operated_configure(operated, &(struct operated_options){.more = "shutdown_timeout: 1s"});
    operated_start(operated, NULL);
    operated_send(operated, MANY, 2000);
    mock_cluster_fail(operated->cluster, MOCK_CLUSTER_PRODUCE, NOT_ENOUGH_REPLICAS, 1000000);
    await_metric(operated, "tarry_records_read_total", MANY);
    await_metric(operated, "tarry_in_flight", 1);
    int64_t began_ms = await_mono_ms();
    tarry_process_signal(operated->process, SIGTERM);
    assert_int_equal(tarry_process_wait_exit(operated->process, 10000), 0);
    print_message("ended %" PRId64 " ms after SIGTERM\n", await_mono_ms() - began_ms);
    long unanswered = log_number(operated, "stop_timeout", "in_flight");
    assert_in_range(unanswered, 1, MANY);
    assert_int_equal(log_number(operated, "stopped", "in_flight"), unanswered);
    operated_configure(operated, &(struct operated_options){.more = "shutdown_timeout: 60s"});
    operated_start(operated, NULL);
    await_metric(operated, "tarry_in_flight", 1);
    tarry_process_signal(operated->process, SIGTERM);
    await_pause_ms(1000); /* the second comes a second later: it is what is tested */
    assert_true(tarry_process_running(operated->process));
    began_ms = await_mono_ms();
    tarry_process_signal(operated->process, SIGTERM);
    assert_int_equal(tarry_process_wait_exit(operated->process, 2000), 128 + SIGTERM); /* at once, and it says so by its code */
    assert_true(tarry_process_log_count(operated->process, "second signal, ending at once") == 1);
    mock_cluster_heal(operated->cluster, MOCK_CLUSTER_PRODUCE);
    operated_start(operated, NULL);
    (void)operated_expect_all(operated, SOON_MS);
    assert_int_equal(tarry_process_stop(operated->process, 8000), 0);
    operated_close(operated);
}

/* True when the kernel's word on the process is that it catches SIGTERM. */
static bool catches_sigterm(void *context)
{
    struct operated *operated = context;
    char path[64];
    char line[256];
    unsigned long long caught = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)tarry_process_pid(operated->process));
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "SigCgt:", 7) == 0) {
            caught = strtoull(line + 7, NULL, 16);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return (caught >> (SIGTERM - 1) & 1) != 0;
}

static void told_to_end_while_it_starts(void **state)
{
    (void)state;
    static const char *const bootstraps[] = {NULL, "127.0.0.1:1"}; /* a Kafka that is there, and one that is not */
    struct operated *operated = operated_open();
    for (size_t i = 0; i < 2; i++) {
        for (int later_ms = 0; later_ms <= 400; later_ms += 200) {
            operated_configure(operated, &(struct operated_options){.bootstrap = bootstraps[i]});
            operated_launch(operated, &(struct tarry_process_options){.as_init = true});
            assert_true(await_condition(catches_sigterm, operated, SOON_MS));
            await_pause_ms(later_ms);
            tarry_process_signal(operated->process, SIGTERM);
            assert_int_equal(tarry_process_wait_exit(operated->process, 8000), 0);
        }
    }
    operated_close(operated);
}

/* ------------------------------------------------------------------------------------------------- O04: process 1 */

static int children_of(pid_t parent, char wanted)
{
    char command[128];
    char line[64];
    int count = 0;
    snprintf(command, sizeof(command), "cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' | grep -c '^%c %d '", wanted, (int)parent);
    FILE *pipe = popen(command, "r"); /* NOLINT(cert-env33-c): a test, with nothing from outside */
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof(line), pipe));
    count = (int)strtol(line, NULL, 10);
    (void)pclose(pipe);
    return count;
}

static bool joined(const char *path, int kind)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool done = file >= 0 && setns(file, kind) == 0;
    if (file >= 0) {
        close(file);
    }
    return done;
}

/* In a process of its own: a grandchild in the namespace of `init`, left to it by the death of its parent. 0: done. */
static int leave_orphan(pid_t init)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)init);
    (void)joined(path, CLONE_NEWUSER); /* our own: refused, and not needed */
    snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)init);
    if (!joined(path, CLONE_NEWPID)) {
        return 1;
    }
    int ready[2];
    if (pipe(ready) != 0) {
        return 2;
    }
    pid_t parent = fork();
    if (parent == 0) {
        if (fork() == 0) {
            char byte;
            close(ready[1]);
            _exit(read(ready[0], &byte, 1) == 0 ? 0 : 3); /* lives until its parent is gone, then ends */
        }
        _exit(0);
    }
    int status = 0;
    bool waited = waitpid(parent, &status, 0) == parent && status == 0;
    return waited ? 0 : 4; /* our end of the pipe is closed as we end */
}

static bool no_child(void *context)
{
    return children_of(*(pid_t *)context, 'S') + children_of(*(pid_t *)context, 'R') == 0;
}

static void process_one(void **state)
{
    (void)state;
    struct operated *operated = operated_open();
    operated_configure(operated, &(struct operated_options){0});
    operated_start(operated, &(struct tarry_process_options){.as_init = true});
    pid_t pid = tarry_process_pid(operated->process);
    if (tarry_process_is_init(operated->process)) {
        pid_t leaver = fork();
        if (leaver == 0) {
            _exit(leave_orphan(pid));
        }
        int status = 0;
        assert_int_equal(waitpid(leaver, &status, 0), leaver);
        assert_int_equal(status, 0);
        assert_true(await_condition(no_child, &pid, SOON_MS));
        assert_int_equal(children_of(pid, 'Z'), 0);
    } else {
        print_message("PID namespaces are not allowed here: it runs as any process\n");
    }
    operated_send(operated, 10, 500);
    (void)operated_expect_all(operated, SOON_MS);
    int64_t began_ms = await_mono_ms();
    assert_int_equal(tarry_process_stop(operated->process, 10000), 0);
    print_message("ended %" PRId64 " ms after SIGTERM\n", await_mono_ms() - began_ms);
    operated_close(operated);
}

/* ------------------------------------------------------------------------------------------------- O05: nobody takes its lines */

static void delivers_with_log_to(int fd)
{
    struct operated *operated = operated_open();
    operated_configure(operated, &(struct operated_options){.log_level = "debug"});
    operated_start(operated, &(struct tarry_process_options){.log_fd = fd});
    operated_send(operated, 200, 500);
    (void)operated_expect_all(operated, SOON_MS);
    tarry_process_signal(operated->process, SIGHUP);
    operated_send(operated, 200, 500);
    (void)operated_expect_all(operated, SOON_MS);
    assert_int_equal(tarry_process_get(operated->process, "/livez", NULL, 0), 200);
    assert_int_equal(tarry_process_stop(operated->process, 8000), 0);
    operated_close(operated);
}

static void log_disk_full(void **state)
{
    (void)state;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(full > 0);
    delivers_with_log_to(full);
    close(full);
}

static void log_reader_gone(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    delivers_with_log_to(ends[1]);
    close(ends[1]);
}

/* A reader that is there and does not read: a pipe of a page is full at once. */
static void log_reader_stuck(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 0);
    delivers_with_log_to(ends[1]);
    close(ends[0]);
    close(ends[1]);
}

/* copytruncate: the log goes on at the beginning of the file, and SIGHUP ends nothing. */
static void log_truncated(void **state)
{
    (void)state;
    struct operated *operated = operated_open();
    operated_configure(operated, &(struct operated_options){0});
    operated_start(operated, NULL);
    assert_int_equal(truncate(operated->log_path, 0), 0);
    operated_configure(operated, &(struct operated_options){.log_level = "warning"});
    tarry_process_signal(operated->process, SIGHUP);
    operated_send(operated, 10, 200);
    (void)operated_expect_all(operated, SOON_MS);
    char *log = operated_log(operated);
    assert_int_equal(log[0], '{'); /* no hole */
    assert_non_null(strstr(log, "log.level is in force"));
    assert_null(strstr(log, "\"event\":\"started\""));
    free(log);
    assert_int_equal(tarry_process_stop(operated->process, 8000), 0);
    operated_close(operated);
}

/* ------------------------------------------------------------------------------------------------- what it says of records */

#define HOSTILE 500

static size_t count_of(const char *log, const char *text)
{
    size_t count = 0;
    for (const char *at = strstr(log, text); at != NULL; at = strstr(at + 1, text)) {
        count++;
    }
    return count;
}

/* A producer that sends nonsense: a few lines with what names each record, the count of the rest, and nothing of the record itself. */
static void refused_records_are_told_a_few_times(void **state)
{
    (void)state;
    static const char trace[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const struct record_header headers[] = {{span_of_text("tarry-delay"), span_of_text("soon")},
                                            {span_of_text("traceparent"), span_of_text(trace)},
                                            {span_of_text("tarry-id"), span_of_text("line\nbreak\"quote")},
                                            {span_of_text("other"), span_of_text("header-of-nobody")}};
    struct operated *operated = operated_open();
    operated_configure(operated, &(struct operated_options){.log_level = "debug"});
    operated_start(operated, NULL);
    for (int i = 0; i < HOSTILE; i++) {
        const struct kafka_client_output output = {.timestamp_ms = await_wall_ms(),
                                                   .key = span_of_text("key-of-nobody"),
                                                   .value = span_of_text("value-of-nobody"),
                                                   .headers = headers,
                                                   .header_count = sizeof(headers) / sizeof(headers[0])};
        kafka_client_produce(operated->producer, "in", &output);
    }
    kafka_client_flush(operated->producer);
    await_metric(operated, "tarry_records_refused_total", HOSTILE);
    assert_int_equal(tarry_process_stop(operated->process, 8000), 0); /* what was left out is told at the end */
    char *log = operated_log(operated);
    size_t told = count_of(log, "\"event\":\"record_refused\"");
    assert_in_range(told, 1, 20); /* ten in ten seconds */
    assert_true(count_of(log, "\"offset\":0,\"reason\":\"bad_time\",\"id\":\"line\\\\nbreak\\\"quote\",\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\"") >= 1);
    assert_true(count_of(log, "\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\"") >= told);
    assert_int_equal(count_of(log, "of-nobody"), 0);
    free(log);
    assert_int_equal((size_t)log_number(operated, "suppressed", "count") > 0, true);
    operated_close(operated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(two_thousand_due_now, operated_teardown),
        cmocka_unit_test_teardown(deliveries_that_nobody_answers, operated_teardown),
        cmocka_unit_test_teardown(told_to_end_while_it_starts, operated_teardown),
        cmocka_unit_test_teardown(process_one, operated_teardown),
        cmocka_unit_test_teardown(log_disk_full, operated_teardown),
        cmocka_unit_test_teardown(log_reader_gone, operated_teardown),
        cmocka_unit_test_teardown(log_reader_stuck, operated_teardown),
        cmocka_unit_test_teardown(log_truncated, operated_teardown),
        cmocka_unit_test_teardown(refused_records_are_told_a_few_times, operated_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
