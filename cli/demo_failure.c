#include "cli/demo_failure.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/demo_place.h"
#include "ops/clock.h"

#define FLUSH_MS 5000
#define BACKOFFS_MS (DEMO_PLACE_BACKOFF_MS + 2 * DEMO_PLACE_BACKOFF_MS) /* of both redeliveries */

struct demo_failure demo_failure_new(void)
{
    struct demo_failure failure = {.parked = 0};
    for (size_t i = 0; i < DEMO_FAILURE_COUNT; i++) {
        struct demo_invoice *invoice = &failure.items[i];
        snprintf(invoice->key, sizeof invoice->key, "invoice-%03zu", i + 1);
        snprintf(invoice->value, sizeof invoice->value, "{\"invoice_id\":\"invoice-%03zu\"}", i + 1);
    }
    return failure;
}

static bool send_one(struct demo_invoice *invoice, const struct demo_broker *broker, struct playground *playground, struct error *error)
{
    char delay[16];
    snprintf(delay, sizeof delay, "%dms", DEMO_FAILURE_DELAY_MS);
    const struct record_header headers[] = {{span_of_text("trace"), span_of_text(invoice->key)},
                                            {span_of_text("tarry-delay"), span_of_text(delay)},
                                            {span_of_text("tarry-topic"), span_of_text(broker->names[DEMO_BROKER_INVOICES])}};
    invoice->sent_ms = clock_wall().ms;
    const struct record record = {.key = span_of_text(invoice->key),
                                  .value = span_of_text(invoice->value),
                                  .headers = headers,
                                  .header_count = sizeof headers / sizeof headers[0],
                                  .timestamp_ms = invoice->sent_ms,
                                  .timestamp = RECORD_TIMESTAMP_CREATE};
    return playground_send(playground, broker->names[DEMO_BROKER_REMINDERS], &record, error);
}

bool demo_failure_send(struct demo_failure *failure, const struct demo_broker *broker, struct playground *playground, struct error *error)
{
    failure->began_ms = clock_wall().ms;
    for (size_t i = 0; i < DEMO_FAILURE_COUNT; i++) {
        if (!send_one(&failure->items[i], broker, playground, error)) {
            return false;
        }
    }
    return playground_flush(playground, FLUSH_MS, error);
}

static struct demo_invoice *find(struct demo_failure *failure, struct span key)
{
    for (size_t i = 0; i < DEMO_FAILURE_COUNT; i++) {
        if (span_equals_text(key, failure->items[i].key)) {
            return &failure->items[i];
        }
    }
    return NULL;
}

static double seconds(int64_t ms)
{
    return (double)ms / 1000;
}

static void park(struct demo_failure *failure, struct demo_invoice *invoice, const struct letter *letter)
{
    failure->parked += !invoice->parked;
    invoice->parked = true;
    invoice->hurried = invoice->hurried || letter->attempt < DEMO_PLACE_REDELIVERIES ||
                       letter->last_failure_ms - letter->first_failure_ms < BACKOFFS_MS;
    invoice->altered = invoice->altered || !span_equals_text(letter->record.value, invoice->value);
}

void demo_failure_take_letter(struct demo_failure *failure, const struct letter *letter, enum letter_state state, FILE *file)
{
    struct demo_invoice *invoice = find(failure, letter->record.key);
    if (invoice == NULL) {
        return;
    }
    fprintf(file, "%+5.1f s  %s  ", seconds(letter->last_failure_ms - failure->began_ms), invoice->key);
    if (state == LETTER_PARKED) {
        park(failure, invoice, letter);
        fprintf(file, "failed again, no redelivery left: parked, for a person\n");
    } else if (letter->attempt == 1) {
        fprintf(file, "failed (%s): redelivery in %.1f s\n", letter_reason_name(letter->reason),
                seconds(letter->not_before_ms - letter->last_failure_ms));
    } else {
        fprintf(file, "failed again: redelivery in %.1f s\n", seconds(letter->not_before_ms - letter->last_failure_ms));
    }
}

static struct span header_of(const struct record *record, const char *name)
{
    for (size_t i = record->header_count; i > 0; i--) {
        if (span_equals_text(record->headers[i - 1].name, name)) {
            return record->headers[i - 1].value;
        }
    }
    return SPAN_ABSENT;
}

void demo_failure_take_arrival(struct demo_failure *failure, const struct record *record, FILE *file)
{
    char message[160];
    char replays[16];
    struct demo_invoice *invoice = find(failure, record->key);
    if (invoice == NULL) {
        return;
    }
    struct span error = header_of(record, "__dlq.errors.message");
    failure->arrived += invoice->arrivals == 0;
    invoice->arrivals++;
    invoice->altered = invoice->altered || !span_equals_text(record->value, invoice->value) ||
                       !span_equals_text(header_of(record, "trace"), invoice->key) ||
                       !span_equals_text(header_of(record, "tarry-replays"), "1") || error.data == NULL;
    text_printable(error, message, sizeof message);
    text_printable(header_of(record, "tarry-replays"), replays, sizeof replays);
    fprintf(file, "arrived  %s  tarry-replays: %s, __dlq.errors.message: %s\n", invoice->key, replays, message);
}

static size_t count_faults(const struct demo_failure *failure, FILE *file)
{
    size_t faults = 0;
    for (size_t i = 0; i < DEMO_FAILURE_COUNT; i++) {
        const struct demo_invoice *invoice = &failure->items[i];
        const char *fault = !invoice->parked          ? "was not parked"
                            : invoice->hurried        ? "was not redelivered as often and after as long as it should"
                            : invoice->altered        ? "is not as it should be (bytes or headers)"
                            : invoice->arrivals != 1  ? "did not arrive once"
                                                      : NULL;
        if (fault != NULL) {
            fprintf(file, "%s %s\n", invoice->key, fault);
            faults++;
        }
    }
    return faults;
}

bool demo_failure_conclude(const struct demo_failure *failure, FILE *file)
{
    size_t faults = count_faults(failure, file);
    fprintf(file, "%zu of %d failed, were redelivered %d times each, parked, and arrived once after the replay\n", DEMO_FAILURE_COUNT - faults,
            DEMO_FAILURE_COUNT, DEMO_PLACE_REDELIVERIES);
    return faults == 0;
}
