#include "cli/dlq_replay_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "bridge/decode.h"
#include "dlq/failure_headers.h"

#define HEADERS_BYTES_MAX ((size_t)256 * 1024 * 1024)

struct dlq_replay_record dlq_replay_record_new(const struct config *config, const struct dlq_replay_options *options)
{
    return (struct dlq_replay_record){.config = config, .options = options, .encoded = buffer_new(HEADERS_BYTES_MAX)};
}

void dlq_replay_record_free(struct dlq_replay_record *maker)
{
    buffer_free(&maker->encoded);
    free(maker->headers);
    *maker = (struct dlq_replay_record){0};
}

/* -------------------------------------------------------------------------------------------------------- where to */

/* A delay topic takes any record whose headers say when and where, unless its values must be envelopes. */
static bool takes_all(const struct config_source *source)
{
    return config_source_speaks(source, "tarry") && !source->envelope;
}

static const struct config_source *source_of(const struct config *config, struct span topic)
{
    for (size_t i = 0; i < config->source_count; i++) {
        if (span_equals_text(topic, config->sources[i].topic)) {
            return &config->sources[i];
        }
    }
    return NULL;
}

/* The delay topic that a letter came by, else the first that takes any record. NULL: there is none. */
static const char *delay_topic(const struct config *config, struct span origin)
{
    const struct config_source *own = source_of(config, origin);
    if (own != NULL && takes_all(own)) {
        return own->topic;
    }
    for (size_t i = 0; i < config->source_count; i++) {
        if (takes_all(&config->sources[i])) {
            return config->sources[i].topic;
        }
    }
    return NULL;
}

bool dlq_replay_record_check(const struct dlq_replay_record *maker, struct error *error)
{
    return maker->options->delay_ms == 0 || delay_topic(maker->config, SPAN_ABSENT) != NULL ||
           error_set(error, ERROR_INVALID,
                     "--delay needs a delay topic: an entry of sources with the dialect tarry and without envelope: true. Give one in the configuration, or leave "
                     "--delay out");
}

struct span dlq_replay_record_goes_to(const struct dlq_replay_record *maker, const struct letter *letter)
{
    if (maker->options->to != NULL) {
        return span_of_text(maker->options->to);
    }
    return letter->target.data != NULL ? letter->target : letter->origin.topic;
}

/* Whether it goes by way of a delay topic to somewhere that is known: a refused letter decides that anew where it came from. */
static bool is_sent_on(const struct dlq_replay_record *maker, const struct letter *letter)
{
    return maker->options->delay_ms > 0 && (maker->options->to != NULL || letter->target.data != NULL);
}

static bool choose_topic(struct dlq_replay_record *maker, const struct letter *letter, struct error *error)
{
    struct span topic =
        is_sent_on(maker, letter) ? span_of_text(delay_topic(maker->config, letter->origin.topic)) : dlq_replay_record_goes_to(maker, letter);
    bool legal = topic.data != NULL && topic.length > 0 && topic.length < sizeof maker->topic;
    for (size_t i = 0; legal && i < topic.length; i++) {
        legal = memchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", topic.data[i], 26 + 26 + 10 + 3) != NULL;
    }
    if (!legal) {
        return error_set(error, ERROR_INVALID, "letter %s names no topic to go to: give --to TOPIC", letter->id);
    }
    memcpy(maker->topic, topic.data, topic.length);
    maker->topic[topic.length] = '\0';
    return true;
}

/* --------------------------------------------------------------------------------------------------------- headers */

static bool is_set_anew(const struct dlq_replay_options *options, struct span name)
{
    for (size_t i = 0; i < options->header_count; i++) {
        if (span_equal(options->headers[i].name, name)) {
            return true;
        }
    }
    return false;
}

static bool says_when(struct span name)
{
    return span_equals_text(name, "tarry-delay") || span_equals_text(name, "delay_ms") || span_equals_text(name, "tarry-at");
}

/* A letter of something with an id goes on under the letter's: under its own it would replace what is pending of it, as the schedule that it is of. */
static bool has_new_id(const struct dlq_replay_record *maker, const struct letter *letter)
{
    return is_sent_on(maker, letter) && letter->schedule_id.data != NULL && !is_set_anew(maker->options, span_of_text("tarry-id"));
}

/* On a delay topic ours would be taken at their word, and one given twice or unknown is refused. The first tarry-id stays, if there is no new one, and the count
 * of replays. */
static bool is_dropped(const struct dlq_replay_record *maker, const struct letter *letter, struct span name, bool *id_seen)
{
    if (is_set_anew(maker->options, name)) {
        return true;
    }
    if (maker->options->delay_ms == 0) {
        return false;
    }
    if (!is_sent_on(maker, letter)) {
        return says_when(name);
    }
    if (span_equals_text(name, "tarry-id")) {
        bool dropped = *id_seen || has_new_id(maker, letter);
        *id_seen = true;
        return dropped;
    }
    return decode_is_control_header(name) && !span_equals_text(name, FAILURE_HEADERS_REPLAYS);
}

static void add_header(struct dlq_replay_record *maker, size_t *count, struct span name, struct span value)
{
    if (*count == maker->header_room) {
        maker->header_room = maker->header_room == 0 ? 32 : 2 * maker->header_room;
        maker->headers = memory_resize(maker->headers, maker->header_room, sizeof *maker->headers);
    }
    maker->headers[*count] = (struct record_header){name, value};
    *count += 1;
}

static void add_number(struct buffer *headers, const char *name, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    letter_add_header(headers, span_of_text(name), span_of_text(text));
}

/* When and where, behind what is kept. */
static void add_controls(struct dlq_replay_record *maker, const struct letter *letter, struct buffer *headers)
{
    if (maker->options->delay_ms > 0) {
        add_number(headers, "tarry-delay", maker->options->delay_ms);
    }
    if (has_new_id(maker, letter)) {
        letter_add_header(headers, span_of_text("tarry-id"), span_of_text(letter->id));
    }
    if (is_sent_on(maker, letter)) {
        letter_add_header(headers, span_of_text("tarry-topic"), dlq_replay_record_goes_to(maker, letter));
        if (maker->options->to == NULL && letter->target_partition >= 0) {
            add_number(headers, "tarry-partition", letter->target_partition);
        }
    }
}

static bool make_headers(struct dlq_replay_record *maker, const struct letter *letter, size_t *count, struct error *error)
{
    struct letter next = *letter;
    next.replays += next.replays < UINT32_MAX;
    struct buffer *encoded = &maker->encoded;
    buffer_clear(encoded);
    failure_headers_add(encoded, &next, FAILURE_HEADERS_REPLAYED);
    size_t own = encoded->length;
    add_controls(maker, letter, encoded);
    if (encoded->full) {
        return error_set(error, ERROR_INVALID, "the headers of letter %s take more than %zu bytes", letter->id, HEADERS_BYTES_MAX);
    }
    bool id_seen = false;
    struct span rest = {encoded->data, own};
    struct span name;
    struct span value;
    while (letter_next_header(&rest, &name, &value)) {
        if (!is_dropped(maker, letter, name, &id_seen)) {
            add_header(maker, count, name, value);
        }
    }
    rest = own == encoded->length ? SPAN_ABSENT : (struct span){encoded->data + own, encoded->length - own};
    while (letter_next_header(&rest, &name, &value)) {
        add_header(maker, count, name, value);
    }
    for (size_t i = 0; i < maker->options->header_count; i++) {
        add_header(maker, count, maker->options->headers[i].name, maker->options->headers[i].value);
    }
    return true;
}

bool dlq_replay_record_make(struct dlq_replay_record *maker, const struct letter *letter, struct letter_sink_record *record, struct error *error)
{
    size_t count = 0;
    if (!choose_topic(maker, letter, error) || !make_headers(maker, letter, &count, error)) {
        return false;
    }
    bool as_meant = maker->options->to == NULL && maker->options->delay_ms == 0 && letter->target.data != NULL;
    *record = (struct letter_sink_record){
        .topic = maker->topic,
        .partition = as_meant ? letter->target_partition : -1,
        .key = letter->record.key,
        .value = letter->record.value,
        .headers = maker->headers,
        .header_count = count,
    };
    return true;
}
