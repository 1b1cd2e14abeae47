/* The mailbox between foreign threads and the owner. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "ops/mailbox.h"

#define LONG_MS 20000

static atomic_int freed;

struct question {
    int number;
    int answer;
};

static struct question *question_new(int number)
{
    struct question *question = memory_new(1, sizeof(*question));
    question->number = number;
    return question;
}

static void question_free(void *payload)
{
    free(payload);
    atomic_fetch_add(&freed, 1);
}

static bool readable(int fd, int timeout_ms)
{
    struct pollfd poll_fd = {fd, POLLIN, 0};
    return poll(&poll_fd, 1, timeout_ms) == 1;
}

static struct mailbox *new_mailbox(size_t capacity)
{
    struct error error;
    struct mailbox *mailbox = mailbox_new(capacity, &error);
    assert_non_null(mailbox);
    atomic_store(&freed, 0);
    return mailbox;
}

static struct mailbox_ticket *post(struct mailbox *mailbox, int number, bool ring)
{
    struct error error;
    struct mailbox_ticket *ticket = mailbox_post(mailbox, question_new(number), question_free, ring, &error);
    assert_non_null(ticket);
    return ticket;
}

static void test_one_question(void **state)
{
    (void)state;
    struct mailbox *mailbox = new_mailbox(4);
    assert_null(mailbox_take(mailbox));
    assert_false(readable(mailbox_fd(mailbox), 0));
    struct mailbox_ticket *ticket = post(mailbox, 20, true);
    assert_true(readable(mailbox_fd(mailbox), 0));
    assert_int_equal(mailbox_state(ticket), MAILBOX_WAITING);
    assert_int_equal(mailbox_wait(ticket, 0), MAILBOX_WAITING);

    struct mailbox_ticket *taken = mailbox_take(mailbox);
    assert_ptr_equal(taken, ticket);
    assert_false(readable(mailbox_fd(mailbox), 0));
    struct question *question = mailbox_payload(taken);
    question->answer = question->number + 1;
    assert_false(readable(mailbox_answers_fd(mailbox), 0));
    mailbox_answer(taken);
    assert_true(readable(mailbox_answers_fd(mailbox), 0));
    mailbox_answers_clear(mailbox);
    assert_false(readable(mailbox_answers_fd(mailbox), 0));

    assert_int_equal(mailbox_wait(ticket, 0), MAILBOX_ANSWERED);
    assert_int_equal(((struct question *)mailbox_payload(ticket))->answer, 21);
    assert_int_equal(atomic_load(&freed), 0);
    mailbox_drop(ticket);
    assert_int_equal(atomic_load(&freed), 1);
    mailbox_free(mailbox);
}

static void test_bounded_and_in_order(void **state)
{
    (void)state;
    struct mailbox *mailbox = new_mailbox(3);
    struct mailbox_ticket *tickets[3];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 3; i++) {
            tickets[i] = post(mailbox, i, false);
        }
        struct error error;
        struct question *more = question_new(9);
        assert_null(mailbox_post(mailbox, more, question_free, false, &error));
        assert_int_equal(error.code, ERROR_FULL);
        question_free(more);
        for (int i = 0; i < 3; i++) {
            struct mailbox_ticket *taken = mailbox_take(mailbox);
            assert_ptr_equal(taken, tickets[i]);
            mailbox_answer(taken);
            mailbox_drop(tickets[i]);
        }
    }
    mailbox_free(mailbox);
}

static void test_late_answers_touch_nothing(void **state)
{
    (void)state;
    struct mailbox *mailbox = new_mailbox(4);
    /* Dropped before it is taken: the owner never sees it. */
    mailbox_drop(post(mailbox, 1, false));
    struct mailbox_ticket *second = post(mailbox, 2, false);
    struct mailbox_ticket *taken = mailbox_take(mailbox);
    assert_ptr_equal(taken, second);
    assert_int_equal(atomic_load(&freed), 1);
    /* Dropped while the owner has it: the owner's answer frees it. */
    mailbox_drop(second);
    ((struct question *)mailbox_payload(taken))->answer = 3;
    assert_int_equal(atomic_load(&freed), 1);
    mailbox_answer(taken);
    assert_int_equal(atomic_load(&freed), 2);
    /* Dropped and never taken. */
    mailbox_drop(post(mailbox, 3, true));
    mailbox_free(mailbox);
    assert_int_equal(atomic_load(&freed), 3);
}

static void test_close(void **state)
{
    (void)state;
    struct mailbox *mailbox = new_mailbox(4);
    struct mailbox_ticket *ticket = post(mailbox, 1, true);
    mailbox_close(mailbox);
    assert_true(readable(mailbox_answers_fd(mailbox), 0));
    assert_int_equal(mailbox_wait(ticket, LONG_MS), MAILBOX_REFUSED);
    mailbox_drop(ticket);
    struct error error;
    struct question *question = question_new(2);
    assert_null(mailbox_post(mailbox, question, question_free, false, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    question_free(question);
    mailbox_free(mailbox);
}

static void test_beat(void **state)
{
    (void)state;
    struct mailbox *mailbox = new_mailbox(1);
    assert_int_equal(mailbox_last_beat(mailbox).ms, 0);
    mailbox_beat(mailbox, (struct mono_ms){1234});
    assert_int_equal(mailbox_last_beat(mailbox).ms, 1234);
    mailbox_free(mailbox);
}

#define ASKERS 4
#define QUESTIONS 3000

struct asker {
    struct mailbox *mailbox;
    unsigned seed;
    int answered;
    int given_up;
    int refused;
    int wrong;
};

static void *ask_all(void *context)
{
    struct asker *asker = context;
    for (int i = 0; i < QUESTIONS; i++) {
        struct error error;
        struct question *question = question_new(i);
        struct mailbox_ticket *ticket = mailbox_post(asker->mailbox, question, question_free, i % 2 == 0, &error);
        if (ticket == NULL) {
            question_free(question);
            asker->refused++;
            continue;
        }
        asker->seed = asker->seed * 1103515245U + 12345U;
        bool patient = (asker->seed >> 16) % 4 != 0;
        if (mailbox_wait(ticket, patient ? LONG_MS : 0) == MAILBOX_ANSWERED) {
            asker->answered++;
            asker->wrong += ((struct question *)mailbox_payload(ticket))->answer == i * 2 ? 0 : 1;
        } else {
            asker->given_up++;
            asker->wrong += patient ? 1 : 0;
        }
        mailbox_drop(ticket);
    }
    return NULL;
}

struct owner {
    struct mailbox *mailbox;
    atomic_bool stop;
};

static void *own(void *context)
{
    struct owner *owner = context;
    while (!atomic_load(&owner->stop)) {
        if (!readable(mailbox_fd(owner->mailbox), 100)) {
            continue;
        }
        for (struct mailbox_ticket *ticket = mailbox_take(owner->mailbox); ticket != NULL;
             ticket = mailbox_take(owner->mailbox)) {
            struct question *question = mailbox_payload(ticket);
            question->answer = question->number * 2;
            mailbox_answer(ticket);
        }
        mailbox_beat(owner->mailbox, (struct mono_ms){1});
    }
    return NULL;
}

static void test_many_threads(void **state)
{
    (void)state;
    struct owner owner = {.mailbox = new_mailbox(3)};
    pthread_t owner_thread;
    assert_int_equal(pthread_create(&owner_thread, NULL, own, &owner), 0);
    struct asker askers[ASKERS];
    pthread_t threads[ASKERS];
    for (unsigned i = 0; i < ASKERS; i++) {
        askers[i] = (struct asker){.mailbox = owner.mailbox, .seed = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_all, &askers[i]), 0);
    }
    int answered = 0;
    for (int i = 0; i < ASKERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(askers[i].answered + askers[i].given_up + askers[i].refused, QUESTIONS);
        assert_int_equal(askers[i].wrong, 0);
        answered += askers[i].answered;
    }
    assert_true(answered > 0);
    atomic_store(&owner.stop, true);
    assert_int_equal(pthread_join(owner_thread, NULL), 0);
    mailbox_free(owner.mailbox);
    assert_int_equal(atomic_load(&freed), ASKERS * QUESTIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_question),
        cmocka_unit_test(test_bounded_and_in_order),
        cmocka_unit_test(test_late_answers_touch_nothing),
        cmocka_unit_test(test_close),
        cmocka_unit_test(test_beat),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
