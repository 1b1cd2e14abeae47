/*
 * The input topics' own settings: what in them endangers events is said at start, and records that come near their retention are copied forward (R6).
 *
 * Each call blocks the owner for up to twice ASK_MS when a broker is slow, some milliseconds else; they are rare, one in a turn, and none is made while
 * there is trouble with the connection.
 */
#include <inttypes.h>

#include "ops/daemon_state.h"

#define ASK_MS 200
#define FACTS_AGAIN_MS 600000  /* settings are changed by hand, seldom */
#define RETRY_MS 30000
#define AGES_LEAST_MS 1000     /* between two looks at one partition's age: a hundredth of the retention, within these */
#define AGES_MOST_MS 3600000

static void warn(struct daemon *daemon, size_t index)
{
    const struct config_source *source = &daemon->config->sources[index];
    char warnings[TOPIC_FACTS_WARNINGS_MAX][320];
    size_t count = topic_facts_warnings(&daemon->sources[index].facts, source->topic, source->max_delay_ms, daemon->config->copy_forward, warnings);
    for (size_t i = 0; i < count; i++) {
        log_write(LOG_LEVEL_WARNING, "topic_settings", LOG_FIELDS(LOG_TEXT("topic", source->topic)), "%s", warnings[i]);
    }
    const struct topic_facts *facts = &daemon->sources[index].facts;
    if (facts->deletes && facts->retention_ms > 0 && source->dedupe_ms > facts->retention_ms) {
        log_write(LOG_LEVEL_WARNING, "topic_settings", LOG_FIELDS(LOG_TEXT("topic", source->topic)),
                  "sources[%zu].dedupe is longer than the topic's retention.ms (%" PRId64 " ms): what the topic holds no more is not known after a start, and its "
                  "duplicates pass; raise retention.ms, or lower dedupe",
                  index, facts->retention_ms);
    }
}

static bool same_facts(const struct topic_facts *a, const struct topic_facts *b)
{
    return a->retention_ms == b->retention_ms && a->retention_bytes == b->retention_bytes && a->max_message_bytes == b->max_message_bytes &&
           a->deletes == b->deletes && a->compacts == b->compacts && a->log_append_time == b->log_append_time;
}

static void read_facts(struct daemon *daemon, size_t index)
{
    struct daemon_source *source = &daemon->sources[index];
    struct topic_facts facts;
    struct error error = {0};
    bool read = topic_facts_read(daemon->source, daemon->config->sources[index].topic, ASK_MS, &facts, &error);
    source->facts_at_ms = daemon->now.mono.ms + (read ? FACTS_AGAIN_MS : RETRY_MS);
    if (!read) {
        if (error.code == ERROR_INVALID && !source->facts_refused) { /* once */
            source->facts_refused = true;
            log_write(LOG_LEVEL_WARNING, "topic_settings_unknown", LOG_FIELDS(LOG_TEXT("topic", daemon->config->sources[index].topic)),
                      "%s: its retention is not watched, and nothing is copied forward before it expires; allow DescribeConfigs on the topic",
                      error.text);
        }
        return;
    }
    bool news = !source->facts_known || !same_facts(&source->facts, &facts);
    source->facts = facts;
    source->facts_known = true;
    if (news) {
        warn(daemon, index);
    }
}

static int64_t copy_age_ms(const struct daemon *daemon, const struct daemon_source *source)
{
    int64_t retention_ms = source->facts.retention_ms;
    return retention_ms / 100 * daemon->config->copy_forward_retention_percent;
}

static int64_t between(int64_t least, int64_t value, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static bool watches_age(const struct daemon *daemon, const struct partition *partition)
{
    const struct daemon_source *source = &daemon->sources[partition->source_index];
    return daemon->config->copy_forward && partition->state == PARTITIONS_OPEN && source->facts_known && source->facts.deletes &&
           source->facts.retention_ms > 0;
}

static void look_at_age(struct daemon *daemon, struct partition *partition)
{
    const struct daemon_source *source = &daemon->sources[partition->source_index];
    struct error error;
    int64_t offset;
    bool known = source_offset_at(daemon->source, partition->topic, partition->number, daemon->now.wall.ms - copy_age_ms(daemon, source), ASK_MS,
                                  &offset, &error);
    int64_t pause_ms = between(AGES_LEAST_MS, source->facts.retention_ms / 100, AGES_MOST_MS);
    partition->aged_at_ms = daemon->now.mono.ms + (known || pause_ms < RETRY_MS ? pause_ms : RETRY_MS);
    if (known) {
        daemon_input(daemon, INPUT_RETENTION, partition)->as.retention.offset = offset;
    }
}

/* One question in a turn. */
void daemon_topics_watch(struct daemon *daemon)
{
    if (daemon->stopping || !daemon->connected || daemon->trouble[0] != '\0') {
        return;
    }
    for (size_t i = 0; i < daemon->config->source_count; i++) {
        if (daemon->now.mono.ms >= daemon->sources[i].facts_at_ms) {
            read_facts(daemon, i);
            return;
        }
    }
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition != NULL && watches_age(daemon, partition) && daemon->now.mono.ms >= partition->aged_at_ms) {
            look_at_age(daemon, partition);
            return;
        }
    }
    struct partition *partition = daemon_retention_next(daemon);
    if (partition != NULL) {
        daemon_retention_look(daemon, partition);
    }
}

int64_t daemon_topics_deadline(const struct daemon *daemon)
{
    int64_t least = TIME_NEVER;
    if (daemon->stopping || !daemon->connected || daemon->trouble[0] != '\0') {
        return TIME_NEVER;
    }
    for (size_t i = 0; i < daemon->config->source_count; i++) {
        least = daemon->sources[i].facts_at_ms < least ? daemon->sources[i].facts_at_ms : least;
    }
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition != NULL && watches_age(daemon, partition) && partition->aged_at_ms < least) {
            least = partition->aged_at_ms;
        }
        if (partition != NULL && daemon_retention_watches(daemon, partition) && partition->oldest_at_ms < least) {
            least = partition->oldest_at_ms;
        }
    }
    return least;
}
