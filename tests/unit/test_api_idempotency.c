/* Answers that are kept for their Idempotency-Key. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/thread.h"
#include "ops/api_idempotency.h"
#include "ops/clock.h"

static struct buffer body;

static enum api_idempotency_state begin(struct api_idempotency *table, const char *nonce, const char *request, struct mono_ms *until)
{
    unsigned status = 0;
    struct mono_ms unused;
    buffer_free(&body);
    body = buffer_new(1 << 16);
    enum api_idempotency_state state = api_idempotency_begin(table, nonce, span_of_text(request), &status, &body, until == NULL ? &unused : until);
    if (state == API_IDEMPOTENCY_ANSWERED) {
        assert_int_equal(status, 201);
    }
    return state;
}

static void keep(struct api_idempotency *table, const char *nonce, const char *answer)
{
    api_idempotency_keep(table, nonce, 201, span_of_text(answer));
}

static void one_answer_for_all(void **state)
{
    struct api_idempotency *table = api_idempotency_new(10);
    (void)state;
    assert_int_equal(begin(table, "a", "{}", NULL), API_IDEMPOTENCY_NEW);
    assert_int_equal(begin(table, "a", "{}", NULL), API_IDEMPOTENCY_RUNNING);
    assert_int_equal(begin(table, "a", "{ }", NULL), API_IDEMPOTENCY_REUSED);
    keep(table, "a", "first");
    assert_int_equal(begin(table, "a", "{}", NULL), API_IDEMPOTENCY_ANSWERED);
    assert_true(span_equals_text(buffer_span(&body), "first"));
    assert_int_equal(begin(table, "a", "{ }", NULL), API_IDEMPOTENCY_REUSED);
    keep(table, "a", "second"); /* it is not under way: nobody changes an answer */
    assert_int_equal(begin(table, "a", "{}", NULL), API_IDEMPOTENCY_ANSWERED);
    assert_true(span_equals_text(buffer_span(&body), "first"));
    assert_int_equal(begin(table, "b", "{}", NULL), API_IDEMPOTENCY_NEW);
    api_idempotency_forget(table, "b");
    assert_int_equal(begin(table, "b", "other", NULL), API_IDEMPOTENCY_NEW);
    api_idempotency_forget(table, "nobody");
    api_idempotency_free(table);
}

static void what_is_not_known_stays_so(void **state)
{
    struct api_idempotency *table = api_idempotency_new(10);
    struct mono_ms until = {0};
    (void)state;
    assert_int_equal(begin(table, "a", "{}", NULL), API_IDEMPOTENCY_NEW);
    api_idempotency_unknown(table, "a", (struct mono_ms){77});
    assert_int_equal(begin(table, "a", "x", NULL), API_IDEMPOTENCY_REUSED);
    assert_int_equal(begin(table, "a", "{}", &until), API_IDEMPOTENCY_UNKNOWN);
    assert_int_equal(until.ms, 77);
    assert_int_equal(begin(table, "a", "{}", NULL), API_IDEMPOTENCY_RUNNING);
    api_idempotency_unknown(table, "a", until);
    assert_int_equal(begin(table, "a", "{}", &until), API_IDEMPOTENCY_UNKNOWN);
    keep(table, "a", "found");
    assert_int_equal(begin(table, "a", "{}", NULL), API_IDEMPOTENCY_ANSWERED);
    api_idempotency_free(table);
}

/* The oldest answers give way; what is under way, or may come to stand, never does. */
static void room(void **state)
{
    struct api_idempotency *table = api_idempotency_new(4);
    char nonce[16];
    (void)state;
    assert_int_equal(begin(table, "running", "{}", NULL), API_IDEMPOTENCY_NEW);
    assert_int_equal(begin(table, "unknown", "{}", NULL), API_IDEMPOTENCY_NEW);
    api_idempotency_unknown(table, "unknown", (struct mono_ms){clock_mono().ms + 3600000});
    for (int i = 0; i < 100; i++) {
        (void)snprintf(nonce, sizeof(nonce), "n%d", i);
        assert_int_equal(begin(table, nonce, "{}", NULL), API_IDEMPOTENCY_NEW);
        keep(table, nonce, "answer");
    }
    assert_int_equal(begin(table, "running", "{}", NULL), API_IDEMPOTENCY_RUNNING);
    assert_int_equal(begin(table, "n99", "{}", NULL), API_IDEMPOTENCY_ANSWERED);
    assert_int_equal(begin(table, "n98", "{}", NULL), API_IDEMPOTENCY_ANSWERED);
    assert_int_equal(begin(table, "n97", "{}", NULL), API_IDEMPOTENCY_NEW); /* it had gone; the two that were kept make room for it */
    assert_int_equal(begin(table, "more", "{}", NULL), API_IDEMPOTENCY_NEW);
    assert_int_equal(begin(table, "full", "{}", NULL), API_IDEMPOTENCY_FULL);
    api_idempotency_forget(table, "more");
    assert_int_equal(begin(table, "unknown", "{}", NULL), API_IDEMPOTENCY_UNKNOWN);
    api_idempotency_unknown(table, "unknown", (struct mono_ms){clock_mono().ms - 1}); /* by now it cannot come to stand any more */
    assert_int_equal(begin(table, "one", "{}", NULL), API_IDEMPOTENCY_NEW);
    assert_int_equal(begin(table, "two", "{}", NULL), API_IDEMPOTENCY_NEW);
    assert_int_equal(begin(table, "three", "{}", NULL), API_IDEMPOTENCY_FULL);
    api_idempotency_free(table);
}

static void bytes_are_bounded(void **state)
{
    static char large[1 << 16];
    struct api_idempotency *table = api_idempotency_new(10000);
    char nonce[16];
    (void)state;
    memset(large, 'x', sizeof(large) - 1);
    for (int i = 0; i < 600; i++) { /* 37 MiB */
        (void)snprintf(nonce, sizeof(nonce), "n%d", i);
        assert_int_equal(begin(table, nonce, "{}", NULL), API_IDEMPOTENCY_NEW);
        keep(table, nonce, large);
    }
    assert_int_equal(begin(table, "n599", "{}", NULL), API_IDEMPOTENCY_ANSWERED);
    assert_int_equal(begin(table, "n0", "{}", NULL), API_IDEMPOTENCY_NEW);
    api_idempotency_free(table);
}

static void names(void **state)
{
    char a[API_IDEMPOTENCY_NONCE_SIZE];
    char b[API_IDEMPOTENCY_NONCE_SIZE];
    (void)state;
    api_idempotency_nonce("POST", "/m", span_of_text("k"), a);
    assert_int_equal(strlen(a), API_IDEMPOTENCY_NONCE_SIZE - 1);
    assert_int_equal(strspn(a, "0123456789abcdef"), strlen(a));
    api_idempotency_nonce("POST", "/m", span_of_text("k"), b);
    assert_string_equal(a, b);
    api_idempotency_nonce("POST", "/mk", span_of_text(""), b);
    assert_string_not_equal(a, b);
    api_idempotency_nonce("PUT", "/m", span_of_text("k"), b);
    assert_string_not_equal(a, b);
}

/* ------------------------------------------------------------------------------------------------- many at once */

#define THREADS 8
#define ROUNDS 200

struct racer {
    struct api_idempotency *table;
    pthread_t thread;
    size_t won;
};

static void *race(void *context)
{
    struct racer *racer = context;
    char nonce[16];
    for (int i = 0; i < ROUNDS; i++) {
        unsigned status = 0;
        struct mono_ms until;
        struct buffer answer = buffer_new(64);
        (void)snprintf(nonce, sizeof(nonce), "n%d", i);
        if (api_idempotency_begin(racer->table, nonce, span_of_text("{}"), &status, &answer, &until) == API_IDEMPOTENCY_NEW) {
            racer->won++;
            api_idempotency_keep(racer->table, nonce, 201, span_of_text("answer"));
        }
        buffer_free(&answer);
    }
    return NULL;
}

static void one_of_many_wins(void **state)
{
    struct racer racers[THREADS];
    struct api_idempotency *table = api_idempotency_new(1000);
    size_t won = 0;
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){.table = table};
        assert_true(thread_start(&racers[i].thread, race, &racers[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(racers[i].thread, NULL);
        won += racers[i].won;
    }
    assert_int_equal(won, ROUNDS);
    api_idempotency_free(table);
    buffer_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_answer_for_all), cmocka_unit_test(what_is_not_known_stays_so), cmocka_unit_test(room),
        cmocka_unit_test(bytes_are_bounded),  cmocka_unit_test(names),                      cmocka_unit_test(one_of_many_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
