#include "support/sample_record.h"

#include <stdlib.h>

void sample_begin(struct sample *sample, const char *key, const char *value)
{
    memset(sample, 0, sizeof(*sample));
    sample->record.key = span_of_text(key);
    sample->record.value = span_of_text(value);
    sample->record.headers = sample->headers;
    sample->record.offset = 7;
    sample->record.timestamp_ms = SAMPLE_TIMESTAMP_MS;
    sample->record.timestamp = RECORD_TIMESTAMP_CREATE;
}

void sample_add_bytes(struct sample *sample, const char *name, struct span value)
{
    if (sample->record.header_count == SAMPLE_HEADERS_MAX) {
        abort();
    }
    sample->headers[sample->record.header_count++] = (struct record_header){span_of_text(name), value};
}

void sample_add(struct sample *sample, const char *name, const char *value)
{
    sample_add_bytes(sample, name, span_of_text(value));
}

struct decode_rules sample_rules(void)
{
    static const struct target_pattern patterns[] = {{"orders.*", 1}, {"late-*", 2}};
    static const char *const known[] = {"events", "payments"};
    static const struct target_list targets = {patterns, 2, known, 2, 0};
    static const struct decode_route routes[] = {{"PAYMENT_TIMEOUT", "payments"}};
    return (struct decode_rules){
        .dialects = dialect_tarry_alone,
        .dialect_count = 1,
        .routes = routes,
        .route_count = 1,
        .default_target = "events",
        .max_delay_ms = SAMPLE_MAX_DELAY_MS,
        .default_delay_ms = -1,
        .targets = &targets,
    };
}
