/* A job's record: written and read again to the same, and whatever else is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/dlq_job.h"
#include "cli/dlq_replay_options.h"

static struct dlq_job sample(void)
{
    struct dlq_job job;
    dlq_job_begin(&job, DLQ_JOB_REPLAY, 1796004121000, 0x3f9a);
    dlq_job_add_word(&job.filter, "--target=orders");
    dlq_job_add_word(&job.filter, "--error=\"quoted\" \\ \xc3\xa9");
    dlq_job_add_word(&job.options, "--rate=50/s");
    job.state = DLQ_JOB_STOPPED;
    dlq_job_set_runner(&job, UINT64_C(0x00c0ffee01234567));
    job.bounds.of[LETTER_PARKED] = (struct dlq_scan_bound){true, 1, UINT64_C(9007199254740991), 7, 1796000000000};
    job.counts = (struct dlq_job_counts){1, 2, 3, 4};
    return job;
}

static void assert_words(const struct dlq_job_words *a, const struct dlq_job_words *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->items[i], b->items[i]);
    }
}

static void what_is_written_reads_the_same(void **state)
{
    (void)state;
    struct dlq_job job = sample();
    struct dlq_job again = {0};
    struct error error = {ERROR_NONE, ""};
    struct buffer json = buffer_new(100000);
    dlq_job_write(&job, &json);
    assert_true(dlq_job_read(buffer_span(&json), &again, &error));
    assert_string_equal(again.id, job.id);
    assert_int_equal(again.verb, job.verb);
    assert_int_equal(again.state, DLQ_JOB_STOPPED);
    assert_string_equal(again.runner, "00c0ffee01234567");
    assert_words(&again.filter, &job.filter);
    assert_words(&again.options, &job.options);
    assert_false(again.bounds.of[LETTER_WAITING].looked_at);
    assert_memory_equal(&again.counts, &job.counts, sizeof job.counts);
    assert_true(again.bounds.of[LETTER_PARKED].looked_at);
    assert_true(again.bounds.of[LETTER_PARKED].last == UINT64_C(9007199254740991));
    assert_int_equal(again.bounds.of[LETTER_PARKED].created_ms, 1796000000000);
    assert_int_equal(again.started_ms, job.started_ms);
    dlq_job_free(&job);
    dlq_job_free(&again);
    buffer_free(&json);
}

static bool reads_with_runner(const char *runner)
{
    struct dlq_job job = sample();
    struct dlq_job read = {0};
    char text[2000];
    struct buffer json = buffer_new(100000);
    dlq_job_write(&job, &json);
    const char *start = strstr((const char *)json.data, ",\"runner\":\"");
    const char *end = strstr((const char *)json.data, ",\"filter\"");
    assert_non_null(start);
    assert_non_null(end);
    snprintf(text, sizeof text, "%.*s%s%.*s", (int)(start - (const char *)json.data), (const char *)json.data, runner,
             (int)(json.length - (size_t)(end - (const char *)json.data)), end);
    bool fine = dlq_job_read(span_of_text(text), &read, NULL);
    dlq_job_free(&read);
    dlq_job_free(&job);
    buffer_free(&json);
    return fine;
}

static void a_runner_is_sixteen_digits_or_none(void **state)
{
    (void)state;
    assert_true(reads_with_runner(",\"runner\":\"0123456789abcdef\""));
    assert_true(reads_with_runner(",\"runner\":\"\""));
    assert_false(reads_with_runner(",\"runner\":\"0123456789abcde\""));
    assert_false(reads_with_runner(",\"runner\":\"0123456789abcdef0\""));
    assert_false(reads_with_runner(",\"runner\":\"0123456789abcde\\\"\""));
    assert_false(reads_with_runner(",\"runner\":7"));
    assert_false(reads_with_runner(""));
}

static void an_id_is_fit_for_a_subject(void **state)
{
    (void)state;
    struct dlq_job job;
    dlq_job_begin(&job, DLQ_JOB_PURGE, INT64_MAX, UINT64_MAX);
    assert_true(strlen(job.id) <= JOBS_ID_MAX);
    assert_int_equal(strspn(job.id, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(job.id));
    dlq_job_begin(&job, DLQ_JOB_REPLAY, 1769860805000, 0x3f9a);
    assert_string_equal(job.id, "replay-20260131-120005-3f9a");
}

static void any_other_text_is_refused(void **state)
{
    (void)state;
    struct dlq_job job = sample();
    struct buffer json = buffer_new(100000);
    dlq_job_write(&job, &json);
    /* Cut anywhere, or with one byte changed to a brace: never a crash, and never a job when it is cut. */
    for (size_t length = 0; length < json.length; length++) {
        struct dlq_job read = {0};
        struct error error = {ERROR_NONE, ""};
        assert_false(dlq_job_read((struct span){json.data, length}, &read, &error));
        assert_int_equal(error.code, ERROR_INVALID);
        dlq_job_free(&read);
        uint8_t kept = json.data[length];
        json.data[length] = '{';
        (void)dlq_job_read(buffer_span(&json), &read, NULL);
        dlq_job_free(&read);
        json.data[length] = kept;
    }
    static const char *const wrong[] = {"", "[]", "{}", "null", "{\"id\":1}", "{\"id\":\"\",\"verb\":\"replay\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct dlq_job read = {0};
        assert_false(dlq_job_read(span_of_text(wrong[i]), &read, NULL));
        dlq_job_free(&read);
    }
    dlq_job_free(&job);
    buffer_free(&json);
}

static void options_come_back_from_their_words(void **state)
{
    (void)state;
    char given[][32] = {"--rate", "50/s", "--ramp=1m", "--to=there", "--set-header=a=b=c", "--stop-after=20%", "--max-replays", "7", "--delay=90s"};
    char *arguments[9];
    for (size_t i = 0; i < 9; i++) {
        arguments[i] = given[i];
    }
    struct dlq_replay_options options = dlq_replay_options_new("dlq replay");
    for (int i = 0; i < 9;) {
        assert_int_equal(dlq_replay_options_take(&options, 9, arguments, &i), OPTIONS_TAKEN);
    }
    struct dlq_replay_options again = dlq_replay_options_new("dlq replay");
    for (size_t i = 0; i < options.words.count; i++) {
        int index = 0;
        assert_int_equal(dlq_replay_options_take(&again, 1, &options.words.items[i], &index), OPTIONS_TAKEN);
    }
    assert_string_equal(again.to, "there");
    assert_int_equal(again.delay_ms, 90000);
    assert_int_equal(again.ramp_ms, 60000);
    assert_int_equal(again.stop_percent, 20);
    assert_int_equal(again.max_replays, 7);
    assert_true(again.rate_per_s > 49.9 && again.rate_per_s < 50.1);
    assert_int_equal(again.header_count, 1);
    assert_true(span_equals_text(again.headers[0].name, "a") && span_equals_text(again.headers[0].value, "b=c"));
    assert_words(&again.words, &options.words);
    dlq_replay_options_free(&options);
    dlq_replay_options_free(&again);
}

static void it_stops_when_it_was_told_to(void **state)
{
    (void)state;
    struct dlq_replay_options options = dlq_replay_options_new("dlq replay");
    assert_false(dlq_replay_options_stops(&options, 100, 100));
    options.stop_count = 3;
    assert_false(dlq_replay_options_stops(&options, 2, 2));
    assert_true(dlq_replay_options_stops(&options, 3, 3));
    options.stop_count = -1;
    options.stop_percent = 20;
    assert_false(dlq_replay_options_stops(&options, 19, 19));
    assert_false(dlq_replay_options_stops(&options, 20, 4));
    assert_true(dlq_replay_options_stops(&options, 20, 5));
    dlq_replay_options_free(&options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_the_same),
        cmocka_unit_test(a_runner_is_sixteen_digits_or_none),
        cmocka_unit_test(an_id_is_fit_for_a_subject),
        cmocka_unit_test(any_other_text_is_refused),
        cmocka_unit_test(options_come_back_from_their_words),
        cmocka_unit_test(it_stops_when_it_was_told_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
