/* The presets, written out once each: as entries, and as the sets of their names' lengths and first bytes. */
#include "bridge/dialect.h"

#define LENGTH_BIT_MAX 63
#define LENGTH_BIT(length) (UINT64_C(1) << ((length) < LENGTH_BIT_MAX ? (length) : LENGTH_BIT_MAX))
#define FIRST_BIT(byte) (UINT64_C(1) << ((byte) & 63))
#define PREFIX "tarry-"

/* X(header, field, form, remedy) */
#define TARRY(X)                                                                                                       \
    X("delay_ms", DIALECT_DELAY, DIALECT_FORM_OWN, NULL)                                                               \
    X("tarry-delay", DIALECT_DELAY, DIALECT_FORM_OWN, NULL)                                                            \
    X("tarry-at", DIALECT_AT, DIALECT_FORM_OWN, NULL)                                                                  \
    X("tarry-topic", DIALECT_TOPIC, DIALECT_FORM_OWN, NULL)                                                            \
    X("tarry-key", DIALECT_KEY, DIALECT_FORM_OWN, NULL)                                                                \
    X("tarry-partition", DIALECT_PARTITION, DIALECT_FORM_OWN, NULL)                                                    \
    X("tarry-id", DIALECT_ID, DIALECT_FORM_OWN, NULL)                                                                  \
    X("tarry-action", DIALECT_ACTION, DIALECT_FORM_OWN, NULL)                                                          \
    X("tarry-if-exists", DIALECT_IF_EXISTS, DIALECT_FORM_OWN, NULL)                                                    \
    X("tarry-expires", DIALECT_EXPIRES, DIALECT_FORM_OWN, NULL)                                                        \
    X("tarry-cron", DIALECT_CRON, DIALECT_FORM_OWN, NULL)                                                              \
    X("tarry-every", DIALECT_EVERY, DIALECT_FORM_OWN, NULL)                                                            \
    X("tarry-tz", DIALECT_TZ, DIALECT_FORM_OWN, NULL)                                                                  \
    X("tarry-until", DIALECT_UNTIL, DIALECT_FORM_OWN, NULL)                                                            \
    X("tarry-count", DIALECT_COUNT, DIALECT_FORM_OWN, NULL)                                                            \
    X("tarry-request", DIALECT_REQUEST, DIALECT_FORM_OWN, NULL)                                                        \
    /* On what comes round again, and on tarry's own copies (decode_root.c): it says nothing here. */                  \
    X("tarry-due", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                                            \
    X("tarry-source", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                                         \
    X("tarry-redelivery", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                                     \
    X("tarry-replays", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                                        \
    X("tarry-root", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                                           \
    X("tarry-not-before", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                                     \
    X("tarry-runs", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)

/* The last three are what it writes on records that go out. */
#define ETF1(X)                                                                                                        \
    X("scheduler-epoch", DIALECT_AT, DIALECT_FORM_S, NULL)                                                             \
    X("scheduler-target-topic", DIALECT_TOPIC, DIALECT_FORM_OWN, NULL)                                                 \
    X("scheduler-target-key", DIALECT_KEY, DIALECT_FORM_OWN, NULL)                                                     \
    X("scheduler-timestamp", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                                  \
    X("scheduler-key", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                                        \
    X("scheduler-topic", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)

#define KARAFKA(X)                                                                                                     \
    X("schedule_target_epoch", DIALECT_AT, DIALECT_FORM_S, NULL)                                                       \
    X("schedule_target_topic", DIALECT_TOPIC, DIALECT_FORM_OWN, NULL)                                                  \
    X("schedule_target_key", DIALECT_KEY, DIALECT_FORM_OWN, NULL)                                                      \
    X("schedule_target_partition", DIALECT_PARTITION, DIALECT_FORM_OWN, NULL)                                          \
    X("schedule_target_partition_key", DIALECT_REFUSED, DIALECT_FORM_OWN,                                              \
      "tarry does not choose a partition by another key than the record's: give schedule_target_key or schedule_target_partition") \
    X("schedule_source_type", DIALECT_ACTION, DIALECT_FORM_TOMBSTONE, NULL)                                            \
    X("schedule_schema_version", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                              \
    X("schedule_source_topic", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                                \
    X("schedule_source_partition", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                            \
    X("schedule_source_offset", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)                                               \
    X("schedule_source_key", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)

#define RABBITMQ(X) X("x-delay", DIALECT_DELAY, DIALECT_FORM_MS, NULL)

#define ROCKETMQ(X)                                                                                                    \
    X("TIMER_DELIVER_MS", DIALECT_AT, DIALECT_FORM_MS, NULL)                                                           \
    X("TIMER_DELAY_MS", DIALECT_DELAY, DIALECT_FORM_MS, NULL)                                                          \
    X("TIMER_DELAY_SEC", DIALECT_DELAY, DIALECT_FORM_S, NULL)                                                          \
    X("DELAY", DIALECT_REFUSED, DIALECT_FORM_OWN, "what a delay level means is in a broker's configuration: give TIMER_DELAY_SEC or TIMER_DELAY_MS") \
    X("TIMER_DEL_UNIQKEY", DIALECT_REFUSED, DIALECT_FORM_OWN,                                                          \
      "tarry knows no broker's message ids: give tarry-id, and cancel with tarry-action: cancel (dialect tarry)")

#define ACTIVEMQ_REMEDY "give tarry-every or tarry-cron, tarry-count and a tarry-id by which it can be cancelled (dialect tarry)"
#define ACTIVEMQ(X)                                                                                                    \
    X("AMQ_SCHEDULED_DELAY", DIALECT_DELAY, DIALECT_FORM_MS, NULL)                                                     \
    X("AMQ_SCHEDULED_PERIOD", DIALECT_REFUSED, DIALECT_FORM_OWN, ACTIVEMQ_REMEDY)                                      \
    X("AMQ_SCHEDULED_REPEAT", DIALECT_REFUSED, DIALECT_FORM_OWN, ACTIVEMQ_REMEDY)                                      \
    X("AMQ_SCHEDULED_CRON", DIALECT_REFUSED, DIALECT_FORM_OWN, ACTIVEMQ_REMEDY)                                        \
    X("scheduledJobId", DIALECT_CARRIED, DIALECT_FORM_OWN, NULL)

#define ENTRY(header, field, form, remedy) {header, field, form, remedy, sizeof(header) - 1},
#define LENGTH(header, field, form, remedy) | LENGTH_BIT(sizeof(header) - 1)
#define ENTRIES(table) .entries = (table), .count = sizeof(table) / sizeof((table)[0])

static const struct dialect_entry tarry[] = {TARRY(ENTRY)};
static const struct dialect_entry etf1[] = {ETF1(ENTRY)};
static const struct dialect_entry karafka[] = {KARAFKA(ENTRY)};
static const struct dialect_entry rabbitmq[] = {RABBITMQ(ENTRY)};
static const struct dialect_entry rocketmq[] = {ROCKETMQ(ENTRY)};
static const struct dialect_entry activemq[] = {ACTIVEMQ(ENTRY)};

static const struct dialect presets[] = {
    {.name = "tarry", ENTRIES(tarry), .lengths = 0 TARRY(LENGTH), .firsts = FIRST_BIT('t') | FIRST_BIT('d'), .prefix = PREFIX, .bare = 1},
    {.name = "etf1", ENTRIES(etf1), .lengths = 0 ETF1(LENGTH), .firsts = FIRST_BIT('s'), .id_from_key = true, .null_is_cancel = true},
    {.name = "karafka", ENTRIES(karafka), .lengths = 0 KARAFKA(LENGTH), .firsts = FIRST_BIT('s'), .id_from_key = true},
    {.name = "rabbitmq", ENTRIES(rabbitmq), .lengths = 0 RABBITMQ(LENGTH), .firsts = FIRST_BIT('x')},
    {.name = "rocketmq", ENTRIES(rocketmq), .lengths = 0 ROCKETMQ(LENGTH), .firsts = FIRST_BIT('T') | FIRST_BIT('D')},
    {.name = "activemq", ENTRIES(activemq), .lengths = 0 ACTIVEMQ(LENGTH), .firsts = FIRST_BIT('A') | FIRST_BIT('s')},
};
#define PRESETS (sizeof(presets) / sizeof(presets[0]))

const struct dialect *const dialect_tarry_alone[1] = {&presets[0]};

struct meaning {
    const char *name;
    enum dialect_field field;
    enum dialect_form form;
};

static const struct meaning meanings[] = {
    {"delay", DIALECT_DELAY, DIALECT_FORM_OWN},      {"delay_ms", DIALECT_DELAY, DIALECT_FORM_MS},     {"delay_s", DIALECT_DELAY, DIALECT_FORM_S},
    {"at", DIALECT_AT, DIALECT_FORM_OWN},            {"at_ms", DIALECT_AT, DIALECT_FORM_MS},           {"at_s", DIALECT_AT, DIALECT_FORM_S},
    {"topic", DIALECT_TOPIC, DIALECT_FORM_OWN},      {"key", DIALECT_KEY, DIALECT_FORM_OWN},           {"partition", DIALECT_PARTITION, DIALECT_FORM_OWN},
    {"id", DIALECT_ID, DIALECT_FORM_OWN},            {"action", DIALECT_ACTION, DIALECT_FORM_OWN},     {"if_exists", DIALECT_IF_EXISTS, DIALECT_FORM_OWN},
    {"expires", DIALECT_EXPIRES, DIALECT_FORM_OWN},  {"expires_ms", DIALECT_EXPIRES, DIALECT_FORM_MS}, {"expires_s", DIALECT_EXPIRES, DIALECT_FORM_S},
    {"expire", DIALECT_EXPIRES, DIALECT_FORM_OWN},   {"cron", DIALECT_CRON, DIALECT_FORM_OWN},         {"every", DIALECT_EVERY, DIALECT_FORM_OWN},
    {"every_ms", DIALECT_EVERY, DIALECT_FORM_MS},    {"every_s", DIALECT_EVERY, DIALECT_FORM_S},       {"tz", DIALECT_TZ, DIALECT_FORM_OWN},
    {"until", DIALECT_UNTIL, DIALECT_FORM_OWN},      {"until_ms", DIALECT_UNTIL, DIALECT_FORM_MS},     {"until_s", DIALECT_UNTIL, DIALECT_FORM_S},
    {"count", DIALECT_COUNT, DIALECT_FORM_OWN},      {"ignore", DIALECT_CARRIED, DIALECT_FORM_OWN},
};
#define MEANINGS (sizeof(meanings) / sizeof(meanings[0]))

const struct dialect *dialect_preset(struct span name)
{
    for (size_t i = 0; i < PRESETS; i++) {
        if (span_equals_text(name, presets[i].name)) {
            return &presets[i];
        }
    }
    return NULL;
}

const char *dialect_preset_name(size_t index)
{
    return index < PRESETS ? presets[index].name : NULL;
}

void dialect_index(struct dialect *dialect)
{
    dialect->lengths = 0;
    dialect->firsts = dialect->prefix == NULL ? 0 : FIRST_BIT(dialect->prefix[0]);
    for (size_t i = 0; i < dialect->count; i++) {
        const char *header = dialect->entries[i].header;
        dialect->lengths |= LENGTH_BIT(strlen(header));
        dialect->firsts |= FIRST_BIT(header[0]);
    }
}

bool dialect_meaning(struct span text, struct dialect_entry *entry)
{
    for (size_t i = 0; i < MEANINGS; i++) {
        if (span_equals_text(text, meanings[i].name)) {
            entry->field = meanings[i].field;
            entry->form = meanings[i].form;
            entry->remedy = NULL;
            return true;
        }
    }
    return false;
}

const char *dialect_meaning_name(size_t index)
{
    return index < MEANINGS ? meanings[index].name : NULL;
}

/* --- looking up --- */

/* A name is the entry's when all of it is, and no NUL in it ends it early. */
static bool is_header(const struct dialect_entry *entry, struct span name)
{
    if (entry->length != 0 && entry->length != name.length) {
        return false;
    }
    return entry->header[0] == (char)name.data[0] && strlen(entry->header) == name.length && memcmp(entry->header, name.data, name.length) == 0;
}

static bool begins_with(struct span name, const char *prefix)
{
    for (size_t i = 0; prefix[i] != '\0'; i++) {
        if (i == name.length || prefix[i] != (char)name.data[i]) {
            return false;
        }
    }
    return true;
}

const struct dialect_entry *dialect_find(const struct dialect *dialect, struct span header)
{
    if (!dialect_may_know(dialect, header) || (dialect->lengths != 0 && (dialect->lengths & LENGTH_BIT(header.length)) == 0)) {
        return NULL;
    }
    size_t count = dialect->prefix == NULL || begins_with(header, dialect->prefix) ? dialect->count : dialect->bare;
    for (size_t i = 0; i < count; i++) {
        if (is_header(&dialect->entries[i], header)) {
            return &dialect->entries[i];
        }
    }
    return NULL;
}

bool dialect_prefixed(const struct dialect *dialect, struct span header)
{
    return dialect->prefix != NULL && begins_with(header, dialect->prefix);
}

bool dialect_owned(const struct dialect *const *dialects, size_t dialect_count, struct span header)
{
    if (dialect_prefixed(&presets[0], header) || dialect_find(&presets[0], header) != NULL) {
        return true;
    }
    for (size_t i = 0; i < dialect_count; i++) {
        if (dialect_prefixed(dialects[i], header) || dialect_find(dialects[i], header) != NULL) {
            return true;
        }
    }
    return false;
}
