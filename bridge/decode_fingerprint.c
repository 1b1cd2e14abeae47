/* What decides due time, lane and target, as one number (R8). A setting that cannot matter is left out: the routes
 * of a source without envelopes, a known topic that a pattern matches anyway. */
#include "bridge/decode.h"

#include <xxhash.h>

#include "bridge/envelope.h"

/* Each part is hashed with the sum so far as its seed. Little-endian bytes, so that every machine gets the same
 * number. */
static void add_number(uint64_t *sum, uint64_t number)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(number >> (8 * i));
    }
    *sum = XXH64(bytes, sizeof(bytes), *sum);
}

/* With its length first (NULL has a length of its own), so that neighbours cannot run into each other. */
static void add_text(uint64_t *sum, const char *text)
{
    add_number(sum, text == NULL ? UINT64_MAX : strlen(text));
    if (text != NULL) {
        *sum = XXH64(text, strlen(text), *sum);
    }
}

static uint64_t hash_route(const struct decode_route *route)
{
    uint64_t sum = 0;
    add_text(&sum, route->type);
    add_text(&sum, route->target);
    return sum;
}

/* A second route of the same type is never taken. */
static bool route_counts(const struct decode_rules *rules, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(rules->routes[i].type, rules->routes[index].type) == 0) {
            return false;
        }
    }
    return true;
}

/* Added up, so that their order does not matter. */
static uint64_t sum_routes(const struct decode_rules *rules)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < rules->route_count; i++) {
        if (route_counts(rules, i)) {
            sum += hash_route(&rules->routes[i]);
        }
    }
    return sum;
}

/* Lanes by the first pattern that uses them: the numbers themselves may differ from run to run. */
static uint64_t lane_rank(const struct target_list *list, lane_index lane)
{
    size_t i = 0;
    while (i < list->pattern_count && list->patterns[i].lane != lane) {
        i++;
    }
    return i;
}

static bool known_counts(const struct target_list *list, size_t index)
{
    for (size_t i = 0; i < list->pattern_count; i++) {
        if (target_glob_match(list->patterns[i].match, span_of_text(list->known[index]))) {
            return false;
        }
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(list->known[i], list->known[index]) == 0) {
            return false;
        }
    }
    return true;
}

static void add_targets(uint64_t *sum, const struct target_list *list)
{
    uint64_t known = 0;
    uint64_t known_sum = 0;
    for (size_t i = 0; i < list->pattern_count; i++) {
        add_text(sum, list->patterns[i].match);
        add_number(sum, lane_rank(list, list->patterns[i].lane));
    }
    for (size_t i = 0; i < list->known_count; i++) {
        if (known_counts(list, i)) {
            known++;
            known_sum += XXH64(list->known[i], strlen(list->known[i]), 0);
        }
    }
    add_number(sum, known);
    add_number(sum, known_sum);
    add_number(sum, known == 0 ? 0 : lane_rank(list, list->default_lane));
}

/* Field names and routes matter only where there is an envelope. The payload's name decides nothing when the
 * envelope goes out whole. */
static void add_envelope(uint64_t *sum, const struct decode_rules *rules)
{
    add_number(sum, rules->envelope);
    if (!rules->envelope) {
        return;
    }
    add_number(sum, rules->envelope_whole);
    for (int field = 0; field < ENVELOPE_FIELDS; field++) {
        if (field != ENVELOPE_PAYLOAD || !rules->envelope_whole) {
            add_text(sum, envelope_field_name(rules, (enum envelope_field)field));
        }
    }
    add_number(sum, sum_routes(rules));
}

static uint64_t hash_entry(const struct dialect_entry *entry)
{
    uint64_t sum = 0;
    add_text(&sum, entry->header);
    add_number(&sum, (uint64_t)entry->field);
    add_number(&sum, (uint64_t)entry->form);
    return sum;
}

/* What it is called and the order of its entries decide nothing; nor does a remedy. */
static uint64_t hash_dialect(const struct dialect *dialect)
{
    uint64_t entries = 0;
    uint64_t sum = 0;
    for (size_t i = 0; i < dialect->count; i++) {
        entries += hash_entry(&dialect->entries[i]);
    }
    add_number(&sum, entries);
    add_text(&sum, dialect->prefix);
    add_number(&sum, dialect->id_from_key);
    add_number(&sum, dialect->null_is_cancel);
    return sum;
}

/* Added up, so that their order does not matter. */
static uint64_t sum_dialects(const struct decode_rules *rules)
{
    uint64_t sum = rules->dialect_count;
    for (size_t i = 0; i < rules->dialect_count; i++) {
        sum += hash_dialect(rules->dialects[i]);
    }
    return sum;
}

uint64_t decode_fingerprint(const struct decode_rules *rules)
{
    uint64_t sum = 0;
    add_number(&sum, DECODE_VERSION);
    add_number(&sum, sum_dialects(rules));
    add_number(&sum, (uint64_t)rules->spread_ms);
    add_envelope(&sum, rules);
    add_text(&sum, rules->default_target);
    add_number(&sum, (uint64_t)rules->max_delay_ms);
    add_number(&sum, rules->default_delay_ms < 0 ? UINT64_MAX : (uint64_t)rules->default_delay_ms);
    add_targets(&sum, rules->targets);
    return sum;
}
