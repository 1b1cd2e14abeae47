#include "tests/support/nats_letters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"

#define VALUE_MOST (8u << 20)

struct streams_options nats_letters_options(void)
{
    return (struct streams_options){.stream = "TARRY_DLQ", .parked_stream = "TARRY_PARKED", .prefix = "", .replicas = 1, .max_bytes = 256LL << 20, .owner = "cluster/group"};
}

struct link *nats_letters_link(const char *url)
{
    struct link_options options = {.url = url, .name = "tarry test"};
    struct link *link = NULL;
    struct error error;
    if (!link_open(&options, &link, &error) || !link_wait(link, 20000, &error)) {
        fail_msg("no link to %s: %s", url, error.text);
    }
    return link;
}

void nats_letters_streams(struct link *link, const struct streams_options *options)
{
    struct streams_findings findings;
    struct error error;
    if (!streams_ensure(link, options, 20000, &findings, &error)) {
        fail_msg("no streams: %s", error.text);
    }
}

/* Bytes that differ from letter to letter: each begins elsewhere in one run of random ones. */
static struct span value_of(uint64_t n, size_t length)
{
    static uint8_t *bytes;
    if (bytes == NULL) {
        bytes = memory_new(VALUE_MOST, 1);
        struct random random = random_new(7);
        random_fill(&random, bytes, VALUE_MOST);
    }
    size_t start = (size_t)(n % 4096);
    assert_true(length + start <= VALUE_MOST);
    return (struct span){bytes + start, length};
}

struct letter nats_letters_one(uint64_t n, size_t value_bytes)
{
    struct letter letter = {
        .reason = LETTER_REASON_UNKNOWN_TARGET,
        .error = span_of_text("the topic does not exist"),
        .attempt = 1,
        .first_failure_ms = 1700000000000,
        .last_failure_ms = 1700000000000,
        .not_before_ms = 1700000030000,
        .target = span_of_text("orders"),
        .target_partition = -1,
        .origin = {span_of_text("delays"), 0, (int64_t)n, 1700000000000},
        .group = span_of_text("tarry"),
        .schedule_id = SPAN_ABSENT,
        .due_ms = 1700000000000,
        .record = {.key = span_of_text("key"), .value = value_of(n, value_bytes), .headers = SPAN_ABSENT},
    };
    letter_id(letter.id, span_of_text("cluster"), letter.group, &letter.origin, 0);
    return letter;
}

size_t nats_letters_post(struct mailer *mailer, uint64_t first, size_t count, size_t value_bytes, int64_t timeout_ms, struct mailer_item *items)
{
    struct letter *letters = memory_new(count, sizeof *letters);
    struct mailer_item *own = items != NULL ? items : memory_new(count, sizeof *own);
    for (size_t i = 0; i < count; i++) {
        letters[i] = nats_letters_one(first + i, value_bytes);
        own[i] = (struct mailer_item){.letter = &letters[i], .state = LETTER_WAITING};
    }
    mailer_post(mailer, own, count, timeout_ms);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        kept += own[i].result == MAILER_KEPT;
        own[i].letter = NULL;
    }
    if (items == NULL) {
        free(own);
    }
    free(letters);
    return kept;
}
