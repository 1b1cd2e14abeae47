/* Transactions of the sink against a real broker. The program also runs itself, as the process that dies in the middle of one. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/kafka_broker.h"
#include "support/kafka_client.h"
#include "support/kafka_topics.h"
#include "support/sink_watch.h"

#define SECONDS 1000
#define TIMEOUT_MS (10 * SECONDS)

static const char *self;
static struct kafka_broker *broker;
static const char *bootstrap;

static int start_broker(void **state)
{
    (void)state;
    /* whatever has no rule is open to everybody */
    const char *const settings[] = {"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                                    "allow.everyone.if.no.acl.found=true"};
    broker = kafka_broker_start(settings, 2);
    bootstrap = kafka_broker_bootstrap(broker);
    return 0;
}

static int stop_broker(void **state)
{
    (void)state;
    kafka_broker_free(broker);
    return 0;
}

static void open_ready(struct sink_watch *watch, const char *id)
{
    sink_watch_open_transactions(watch, bootstrap, NULL, id, true, TIMEOUT_MS);
    sink_watch_ready(watch, 60 * SECONDS);
}

static void send_to(struct sink_watch *watch, const char *topic, size_t count)
{
    struct sink_watch_row row = {.target = topic, .partition = 0, .value = span_of_text("v")};
    for (size_t i = 0; i < count; i++) {
        sink_watch_send(watch, &row, OUTPUT_HEADERS_NONE);
    }
}

static struct sink_transaction_result commit(struct sink_watch *watch)
{
    return sink_watch_end(watch, false, NULL, 0, SPAN_ABSENT);
}

static void assert_committed(const struct sink_transaction_result *result)
{
    if (!result->committed) {
        fail_msg("aborted: %s", result->error);
    }
}

/* What a read_committed consumer sees of a topic, to its end. */
static size_t count_committed(const char *topic)
{
    struct kafka_client_records records = kafka_client_read_all(bootstrap, (const char *const[]){topic, NULL});
    size_t count = records.count;
    kafka_client_records_free(&records);
    return count;
}

/* In the group, with a place in it that may commit. */
static void join(struct source_watch *source, const char *group, const char *topic)
{
    source_watch_open(source, bootstrap, group, "i-0", (const char *const[]){topic, NULL}, NULL);
    source->start_at = 0;
    int64_t before = source_watch_clock();
    while (source_members(source->source).data == NULL) {
        assert_true(source_watch_clock() - before < 60 * SECONDS);
        source_watch_for(source, 20);
    }
}

/* ------------------------------------------------------------------------------------------------- all or nothing */

static void test_commits_all_together(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "together-in", 2, NULL);
    kafka_topics_create(bootstrap, "together-a", 1, NULL);
    kafka_topics_create(bootstrap, "together-b", 3, NULL);
    struct source_watch source;
    join(&source, "together", "together-in");
    struct span members = source_members(source.source);
    char metadata[3001];
    memset(metadata, 'm', sizeof metadata - 1);
    metadata[sizeof metadata - 1] = '\0';
    struct sink_watch watch;
    open_ready(&watch, "together");
    for (int i = 0; i < 4; i++) {
        send_to(&watch, "together-a", 5);
        send_to(&watch, "together-b", 2);
        const struct sink_offset offsets[] = {{"together-in", 0, 10 + i, metadata}, {"together-in", 1, 20 + i, "other"}};
        struct sink_transaction_result result = sink_watch_end(&watch, false, offsets, 2, members);
        assert_committed(&result);
        char found[KAFKA_CLIENT_METADATA_MAX];
        assert_int_equal(kafka_client_committed(bootstrap, "together", "together-in", 0, found), 10 + i);
        assert_string_equal(found, metadata);
        assert_int_equal(kafka_client_committed(bootstrap, "together", "together-in", 1, found), 20 + i);
        assert_string_equal(found, "other");
    }
    assert_int_equal(count_committed("together-a"), 20);
    assert_int_equal(count_committed("together-b"), 8);
    sink_watch_close(&watch);
    source_watch_close(&source);
}

static void test_abort_leaves_nothing(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "abort-in", 1, NULL);
    kafka_topics_create(bootstrap, "abort", 1, NULL);
    struct source_watch source;
    join(&source, "abort", "abort-in");
    struct sink_watch watch;
    open_ready(&watch, "abort");
    for (size_t i = 0; i < 4; i++) {
        send_to(&watch, "abort", 3);
        sink_watch_until(&watch, 3 * (i + 1), 60 * SECONDS);
        assert_true(watch.reports[watch.count - 1].delivered);
        const struct sink_offset offset = {"abort-in", 0, 5, "m"};
        struct sink_transaction_result result = sink_watch_end(&watch, true, &offset, 1, source_members(source.source));
        assert_false(result.committed);
        assert_string_equal(result.error, "");
    }
    assert_int_equal(count_committed("abort"), 0);
    assert_int_equal(kafka_client_committed(bootstrap, "abort", "abort-in", 0, NULL), -1);
    send_to(&watch, "abort", 3);
    struct sink_transaction_result result = commit(&watch);
    assert_committed(&result);
    assert_int_equal(count_committed("abort"), 3);
    sink_watch_close(&watch);
    source_watch_close(&source);
}

/* ------------------------------------------------------------------------------------------------- what cannot be delivered */

static void test_unknown_topic_among_good_ones(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "good", 1, NULL);
    struct sink_watch watch;
    open_ready(&watch, "unknown");
    send_to(&watch, "good", 3);
    send_to(&watch, "not-there", 1);
    send_to(&watch, "good", 3);
    struct sink_transaction_result result = commit(&watch);
    assert_false(result.committed);
    assert_int_equal(watch.count, 7);
    for (uintptr_t token = 1; token <= 7; token++) {
        const struct sink_report *report = sink_watch_report(&watch, token);
        assert_true(token != 4 || (!report->delivered && report->failure == DELIVERY_UNKNOWN_TOPIC));
        assert_true(token == 4 || report->delivered || report->failure == DELIVERY_UNDONE);
    }
    send_to(&watch, "good", 6);
    result = commit(&watch);
    assert_committed(&result);
    assert_int_equal(count_committed("good"), 6);
    sink_watch_close(&watch);
}

/* As the core does it: what is at fault is set aside, all else goes again, until a transaction commits. Returns how many it took. */
static size_t deliver(struct sink_watch *watch, const char *topic, const size_t *lengths, bool *faults, size_t count)
{
    static const char value[5000];
    for (size_t tries = 1; tries < 20; tries++) {
        uintptr_t base = watch->next_token;
        size_t sent[64];
        size_t sent_count = 0;
        for (size_t i = 0; i < count; i++) {
            if (!faults[i]) {
                struct sink_watch_row row = {.target = topic, .partition = 0, .value = {(const uint8_t *)value, lengths[i]}};
                sink_watch_send(watch, &row, OUTPUT_HEADERS_NONE);
                sent[sent_count++] = i;
            }
        }
        struct sink_transaction_result result = commit(watch);
        for (size_t i = 0; i < sent_count; i++) {
            const struct sink_report *report = sink_watch_report(watch, base + i + 1);
            assert_true(!result.committed || report->delivered);
            faults[sent[i]] = !report->delivered && report->failure == DELIVERY_FAULT;
        }
        if (result.committed) {
            return tries;
        }
        print_message("try %zu: %s\n", tries, result.error);
    }
    fail_msg("no transaction committed");
    return 0;
}

static void test_too_large_harms_no_neighbour(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    kafka_topics_create(bootstrap, "small", 1, (const char *const[]){"max.message.bytes=2000", NULL});
    struct sink_watch watch;
    sink_watch_open_transactions(&watch, bootstrap, (const char *const[]){"linger.ms=50", NULL}, "small", true, TIMEOUT_MS);
    sink_watch_ready(&watch, 60 * SECONDS);
    size_t lengths[COUNT];
    bool faults[COUNT] = {false};
    const size_t places[] = {7, 0, COUNT - 1};
    for (size_t place = 0; place < 3; place++) {
        for (size_t i = 0; i < COUNT; i++) {
            lengths[i] = i == places[place] ? 4000 : 20;
            faults[i] = false;
        }
        size_t tries = deliver(&watch, "small", lengths, faults, COUNT);
        print_message("too large among good ones: %zu transactions\n", tries);
        for (size_t i = 0; i < COUNT; i++) {
            assert_int_equal(faults[i], i == places[place]);
        }
        assert_int_equal(count_committed("small"), (place + 1) * (COUNT - 1));
    }

    /* together too large for the topic, each of them not: all go out */
    for (size_t i = 0; i < COUNT; i++) {
        lengths[i] = 500;
        faults[i] = false;
    }
    deliver(&watch, "small", lengths, faults, COUNT);
    assert_int_equal(count_committed("small"), 3 * (COUNT - 1) + COUNT);
    sink_watch_close(&watch);
}

/* A topic that may be looked at and not written to: the coordinator refuses the whole transaction for it. */
static void test_topic_without_rights_among_good_ones(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "allowed", 1, NULL);
    kafka_topics_create(bootstrap, "denied", 1, NULL);
    const char *const arguments[] = {"--bootstrap-server", bootstrap, "--add", "--allow-principal", "User:ANONYMOUS", "--operation", "Describe",
                                     "--topic", "denied", NULL};
    assert_int_equal(kafka_broker_run_tool("org.apache.kafka.tools.AclCommand", arguments, NULL, NULL), 0);
    struct sink_watch watch;
    open_ready(&watch, "denied");
    size_t tries = 0;
    bool found = false;
    bool committed = false;
    while (!committed && tries++ < 6) {
        uintptr_t base = watch.next_token;
        send_to(&watch, "allowed", 3);
        if (!found) {
            send_to(&watch, "denied", 2);
        }
        struct sink_transaction_result result = commit(&watch);
        committed = result.committed;
        for (uintptr_t i = 1; i <= (found ? 3 : 5); i++) {
            const struct sink_report *report = sink_watch_report(&watch, base + i);
            assert_true(i > 3 || report->delivered || report->failure == DELIVERY_UNDONE);
        }
        if (!committed) {
            print_message("try %zu: %s\n", tries, result.error);
        }
        found = found || sink_watch_report(&watch, base + 4)->failure == DELIVERY_FAULT;
    }
    assert_true(found && committed);
    assert_int_equal(count_committed("allowed"), 3);
    sink_watch_close(&watch);
}

/* ------------------------------------------------------------------------------------------------- one name, two processes */

static void test_second_of_the_name_fences_the_first(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "fence", 1, NULL);
    struct sink_watch first;
    struct sink_watch second;
    open_ready(&first, "fence");
    send_to(&first, "fence", 3);
    sink_watch_until(&first, 3, 60 * SECONDS);
    open_ready(&second, "fence");
    sink_transaction_end(first.sink, false, NULL, 0, SPAN_ABSENT);
    const char *text = sink_watch_fatal(&first, 60 * SECONDS);
    assert_non_null(strstr(text, "took over"));
    assert_non_null(strstr(text, "transaction_timeout"));
    send_to(&second, "fence", 2);
    struct sink_transaction_result result = commit(&second);
    assert_committed(&result);
    assert_int_equal(count_committed("fence"), 2);
    sink_watch_close(&first);
    sink_watch_close(&second);
}

/* The other process: sends, says that all is acknowledged, and waits for its death. */
static int hold_a_transaction(void)
{
    struct sink_watch watch;
    open_ready(&watch, "killed");
    send_to(&watch, "killed", 3);
    sink_watch_until(&watch, 3, 60 * SECONDS);
    bool delivered = watch.reports[2].delivered;
    if (write(STDOUT_FILENO, delivered ? "y" : "n", 1) != 1) {
        return 1;
    }
    for (;;) {
        pause();
    }
}

static pid_t start_holder(int *said)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl(self, self, "hold", bootstrap, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *said = ends[0];
    return pid;
}

static void test_killed_in_the_middle(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "killed", 1, NULL);
    int said = -1;
    pid_t pid = start_holder(&said);
    assert_true(pid > 0);
    char word = 0;
    assert_int_equal(read(said, &word, 1), 1);
    assert_int_equal(word, 'y');
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(said);
    int64_t before = source_watch_clock();
    struct sink_watch watch;
    open_ready(&watch, "killed");
    print_message("ready %lld ms after a death in the middle of a transaction\n", (long long)(source_watch_clock() - before));
    assert_int_equal(count_committed("killed"), 0); /* reads to the end: nothing is open any more */
    send_to(&watch, "killed", 2);
    struct sink_transaction_result result = commit(&watch);
    assert_committed(&result);
    assert_int_equal(count_committed("killed"), 2);
    sink_watch_close(&watch);
}

/* A transaction that is open longer than it may: the coordinator ends it, and whoever had it must start over. Nothing of it is there. */
static void test_open_too_long(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "long", 1, NULL);
    struct sink_watch watch;
    sink_watch_open_transactions(&watch, bootstrap, NULL, "long", true, 2 * SECONDS);
    sink_watch_ready(&watch, 60 * SECONDS);
    send_to(&watch, "long", 3);
    sink_watch_until(&watch, 3, 60 * SECONDS);
    kafka_topics_create(bootstrap, "long-probe", 1, NULL);
    struct kafka_client_producer *probe = kafka_client_producer_open(bootstrap, NULL);
    const struct kafka_client_output output = {.value = span_of_text("later")};
    kafka_client_produce(probe, "long", &output);
    kafka_client_flush(probe);
    kafka_client_producer_close(probe);
    /* readable only when the transaction before it is at its end; the coordinator looks every 10 s */
    struct kafka_client_reader *reader = kafka_client_reader_open(bootstrap, (const char *const[]){"long", NULL});
    struct kafka_client_records records = {0};
    assert_int_equal(kafka_client_read(reader, &records, 1, 60 * SECONDS), 1);
    assert_true(span_equals_text(records.items[0].record.value, "later"));
    kafka_client_reader_close(reader);
    kafka_client_records_free(&records);
    sink_transaction_end(watch.sink, false, NULL, 0, SPAN_ABSENT);
    assert_non_null(strstr(sink_watch_fatal(&watch, 60 * SECONDS), "open longer"));
    sink_watch_close(&watch);
    open_ready(&watch, "long");
    send_to(&watch, "long", 1);
    struct sink_transaction_result result = commit(&watch);
    assert_committed(&result);
    assert_int_equal(count_committed("long"), 2);
    sink_watch_close(&watch);
}

/* The broker dies while a transaction ends: its result is asked for until it is known, and is what a consumer sees. */
static void test_result_is_found_out_after_an_outage(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "outage", 1, NULL);
    struct sink_watch watch;
    sink_watch_open_transactions(&watch, bootstrap, NULL, "outage", true, 60 * SECONDS);
    sink_watch_ready(&watch, 60 * SECONDS);
    size_t committed = 0;
    for (int round = 0; round < 3; round++) {
        send_to(&watch, "outage", 5);
        if (round == 2) { /* acknowledged before, or on their way */
            sink_watch_until(&watch, watch.count + 5, 60 * SECONDS);
        }
        sink_transaction_end(watch.sink, false, NULL, 0, SPAN_ABSENT);
        for (int turn = 0; turn < round * 2; turn++) { /* a little further each time */
            struct sink_report report;
            (void)sink_poll(watch.sink, &report, 1);
            poll(NULL, 0, 1);
        }
        kafka_broker_kill(broker);
        kafka_broker_restart_soon(broker);
        struct sink_transaction_result result;
        int64_t before = source_watch_clock();
        while (!sink_transaction_poll(watch.sink, &result)) {
            struct sink_report report;
            char text[700];
            assert_false(sink_fatal(watch.sink, text, sizeof text));
            assert_true(source_watch_clock() - before < 60 * SECONDS);
            if (sink_poll(watch.sink, &report, 1) == 0) {
                poll(NULL, 0, 2);
            }
        }
        print_message("round %d: %s after %lld ms\n", round, result.committed ? "committed" : result.error,
                      (long long)(source_watch_clock() - before));
        committed += result.committed ? 5 : 0;
        kafka_broker_wait_ready(broker);
        assert_int_equal(count_committed("outage"), committed);
    }
    assert_true(committed > 0);
    sink_watch_close(&watch);
}

/* ------------------------------------------------------------------------------------------------- copies */

static void test_copies(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "copies", 3, NULL);
    struct sink_watch watch;
    open_ready(&watch, "copies");
    const struct record_header headers[] = {{span_of_text("tarry-delay"), span_of_text("5s")},
                                            {span_of_text("tarry-root"), span_of_text("3:1600000000000")},
                                            {span_of_text("h"), SPAN_ABSENT}};
    struct sink_watch_row row = {.key = span_of_text("k"), .value = span_of_text("whole"), .headers = headers, .header_count = 3, .offset = 41,
                                 .timestamp_ms = 1700000000000};
    sink_watch_copy(&watch, &row, "copies", 2, -1, -1);
    sink_watch_copy(&watch, &row, "copies", 2, 3, 1600000000000);
    send_to(&watch, "copies", 1);
    struct sink_transaction_result result = commit(&watch);
    assert_committed(&result);
    assert_int_equal(result.copied_count, 1);
    assert_string_equal(result.copied[0].topic, "copies");
    assert_int_equal(result.copied[0].partition, 2);
    assert_int_equal(result.copied[0].end, 2);
    assert_int_equal(watch.count, 1); /* of the one that was sent */
    sink_watch_copy(&watch, &row, "copies", 2, 3, 1600000000000);
    result = commit(&watch);
    assert_committed(&result);
    assert_int_equal(result.copied_count, 1);
    int64_t end = result.copied[0].end; /* the marker of the one before is before it, or behind it */
    send_to(&watch, "copies", 1);
    result = commit(&watch);
    assert_int_equal(result.copied_count, 0);

    struct kafka_client_records records = kafka_client_read_all(bootstrap, (const char *const[]){"copies", NULL});
    assert_int_equal(records.count, 5);
    size_t found = 0;
    int64_t last = -1;
    for (size_t i = 0; i < records.count; i++) {
        const struct kafka_client_record *copy = &records.items[i];
        if (copy->partition != 2) {
            continue;
        }
        const char *root = found++ == 0 ? "41:1700000000000:0:elsewhere" : "3:1600000000000:0:elsewhere";
        assert_true(span_equals_text(copy->record.key, "k"));
        assert_true(span_equals_text(copy->record.value, "whole"));
        assert_int_equal(copy->record.header_count, 3);
        assert_int_equal(kafka_client_header_count(copy, "tarry-root"), 1);
        assert_string_equal(kafka_client_header_text(copy, "tarry-root"), root);
        assert_string_equal(kafka_client_header_text(copy, "tarry-delay"), "5s");
        assert_true(copy->record.timestamp_ms > 1700000000000); /* of its writing */
        last = copy->record.offset;
    }
    assert_int_equal(end, last + 1);
    assert_int_equal(found, 3);
    kafka_client_records_free(&records);
    sink_watch_close(&watch);
}

static void test_copies_into_several_partitions(void **state)
{
    (void)state;
    kafka_topics_create(bootstrap, "several-a", 3, NULL);
    kafka_topics_create(bootstrap, "several-b", 1, NULL);
    struct sink_watch watch;
    open_ready(&watch, "several");
    struct sink_watch_row row = {.value = span_of_text("v"), .offset = 41, .timestamp_ms = 1700000000000};
    for (int round = 0; round < 3; round++) { /* by each of the two, and over markers */
        sink_watch_copy(&watch, &row, "several-a", 2, -1, -1);
        sink_watch_copy(&watch, &row, "several-b", 0, -1, -1);
        sink_watch_copy(&watch, &row, "several-a", 0, -1, -1);
        sink_watch_copy(&watch, &row, "several-a", 2, -1, -1);
        struct sink_transaction_result result = commit(&watch);
        assert_committed(&result);
        assert_int_equal(result.copied_count, 3);
        const struct {
            const char *topic;
            int32_t partition;
        } places[] = {{"several-a", 2}, {"several-b", 0}, {"several-a", 0}};
        struct kafka_client_records records = kafka_client_read_all(bootstrap, (const char *const[]){"several-a", "several-b", NULL});
        for (size_t i = 0; i < 3; i++) {
            int64_t end = 0;
            for (size_t k = 0; k < records.count; k++) {
                const struct kafka_client_record *copy = &records.items[k];
                if (strcmp(copy->topic, places[i].topic) == 0 && copy->partition == places[i].partition && copy->record.offset >= end) {
                    end = copy->record.offset + 1;
                }
            }
            assert_string_equal(result.copied[i].topic, places[i].topic);
            assert_int_equal(result.copied[i].partition, places[i].partition);
            assert_int_equal(result.copied[i].end, end);
        }
        kafka_client_records_free(&records);
    }
    assert_int_equal(watch.count, 0);
    sink_watch_close(&watch);
}

/* One copy is too large for its topic: it alone is told of, and all others are there once. */
static void test_copy_too_large_is_found(void **state)
{
    (void)state;
    enum { COUNT = 12, CULPRIT = 5 };
    static const char value[5000];
    kafka_topics_create(bootstrap, "copies-small", 1, (const char *const[]){"max.message.bytes=2000", NULL});
    struct sink_watch watch;
    sink_watch_open_transactions(&watch, bootstrap, (const char *const[]){"linger.ms=50", NULL}, "copies-small", true, TIMEOUT_MS);
    sink_watch_ready(&watch, 60 * SECONDS);
    bool committed = false;
    bool told = false;
    for (size_t tries = 0; !committed; tries++) {
        uintptr_t culprit = 0;
        size_t before = watch.count;
        assert_true(tries < 10);
        for (size_t i = 0; i < COUNT; i++) {
            struct sink_watch_row row = {.value = {(const uint8_t *)value, i == CULPRIT ? 4000 : 20}, .offset = 41, .timestamp_ms = 1700000000000};
            if (i != CULPRIT || !told) {
                uintptr_t token = sink_watch_copy_told(&watch, &row, "copies-small", 0);
                culprit = i == CULPRIT ? token : culprit;
            }
        }
        struct sink_transaction_result result = commit(&watch);
        committed = result.committed;
        if (watch.count > before) {
            assert_false(told || committed);
            assert_int_equal(watch.count, before + 1);
            assert_ptr_equal(watch.reports[before].token, (void *)culprit);
            assert_int_equal(watch.reports[before].failure, DELIVERY_FAULT);
            assert_string_equal(watch.reports[before].reason, "too_large");
            told = true;
        }
        print_message("try %zu: %s\n", tries, committed ? "committed" : result.error);
    }
    assert_true(told);
    assert_int_equal(count_committed("copies-small"), COUNT - 1);
    sink_watch_close(&watch);
}

/* ------------------------------------------------------------------------------------------------- how fast */

/* One after the other as fast as they go, offsets and all; printed, not judged. */
static void test_taking_turns(void **state)
{
    (void)state;
    enum { COUNT = 100, SOME = 20 };
    kafka_topics_create(bootstrap, "turns-in", 1, NULL);
    kafka_topics_create(bootstrap, "turns", 4, NULL);
    struct source_watch source;
    join(&source, "turns", "turns-in");
    struct sink_watch watch;
    open_ready(&watch, "turns");
    int64_t start = source_watch_clock();
    for (int i = 0; i < COUNT; i++) {
        int64_t before = source_watch_clock();
        for (int32_t partition = 0; partition < 4; partition++) {
            struct sink_watch_row row = {.target = "turns", .partition = partition, .value = span_of_text("v")};
            sink_watch_send(&watch, &row, OUTPUT_HEADERS_NONE);
        }
        const struct sink_offset offset = {"turns-in", 0, i, "metadata"};
        struct sink_transaction_result result = sink_watch_end(&watch, false, &offset, 1, source_members(source.source));
        assert_committed(&result);
        if (i < 5) {
            print_message("transaction %d: %lld ms\n", i, (long long)(source_watch_clock() - before));
        }
        if (i == SOME - 1) {
            print_message("the first %d: %.1f ms each\n", SOME, (double)(source_watch_clock() - start) / SOME);
            start = source_watch_clock();
        }
    }
    print_message("%d more: %.1f ms each\n", COUNT - SOME, (double)(source_watch_clock() - start) / (COUNT - SOME));
    assert_int_equal(count_committed("turns"), 4 * COUNT);
    sink_watch_close(&watch);
    source_watch_close(&source);
}

int main(int count, char **arguments)
{
    self = "/proc/self/exe";
    if (count == 3 && strcmp(arguments[1], "hold") == 0) {
        bootstrap = arguments[2];
        return hold_a_transaction();
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commits_all_together),
        cmocka_unit_test(test_abort_leaves_nothing),
        cmocka_unit_test(test_unknown_topic_among_good_ones),
        cmocka_unit_test(test_too_large_harms_no_neighbour),
        cmocka_unit_test(test_topic_without_rights_among_good_ones),
        cmocka_unit_test(test_second_of_the_name_fences_the_first),
        cmocka_unit_test(test_killed_in_the_middle),
        cmocka_unit_test(test_open_too_long),
        cmocka_unit_test(test_result_is_found_out_after_an_outage),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_copies_into_several_partitions),
        cmocka_unit_test(test_copy_too_large_is_found),
        cmocka_unit_test(test_taking_turns),
    };
    return cmocka_run_group_tests(tests, start_broker, stop_broker);
}
