/* See daemon_opening.h. */
#include "ops/daemon_opening.h"

#include <inttypes.h>
#include <stdlib.h>

#define LOOK_UP_MS 1000 /* how long the owner may be held up by one look-up; the broker answers in a few */

static bool look_up(struct daemon *daemon, struct partition *partition, struct opening *opening, struct error *error)
{
    if (!daemon_cluster_know(daemon, LOOK_UP_MS, error) ||
        !source_look_up(daemon->source, partition->topic, partition->number, LOOK_UP_MS, &opening->lookup, error)) {
        return false;
    }
    daemon->connected = true; /* a broker has answered */
    daemon->was_connected = true;
    daemon->trouble[0] = '\0';
    partition->low = opening->lookup.low;
    if (!store_bind_slot(daemon->store, partition->slot, partition->topic, partition->number, &opening->stored, error)) {
        daemon_fail(daemon, error);
        return false;
    }
    return true;
}

/* NULL when there is no such metadata, or it cannot be read: then *code says why. */
static const struct metadata *decode(const char *text, struct metadata *metadata, enum error_code *code)
{
    struct error error = {0};
    bool ours = text[0] != '\0' && metadata_decode(span_of_text(text), metadata, &error);
    *code = error.code;
    return ours ? metadata : NULL;
}

static bool same_anchor(const struct metadata *a, const struct metadata *b)
{
    return a != NULL && b != NULL && a->anchor.offset == b->anchor.offset && a->anchor.timestamp_ms == b->anchor.timestamp_ms &&
           a->anchor.crc == b->anchor.crc;
}

/* Reads the record again that the metadata knew as the last one. */
static bool verify(struct daemon *daemon,
                   const struct partition *partition,
                   struct opening *opening,
                   const struct metadata *metadata,
                   enum identity_anchor *verdict,
                   struct error *error)
{
    struct source_lookup *lookup = &opening->lookup;
    struct anchor anchor;
    if (!identity_wants_anchor(&opening->facts, metadata, &anchor)) {
        *verdict = metadata == NULL ? IDENTITY_ANCHOR_NONE : IDENTITY_ANCHOR_UNVERIFIABLE;
        return true;
    }
    if (!source_read_anchor(daemon->source, partition->topic, partition->number, anchor.offset, LOOK_UP_MS, lookup, error)) {
        return false;
    }
    bool same =
        lookup->anchor_found && lookup->anchor_timestamp_ms == anchor.timestamp_ms && lookup->anchor_crc == anchor.crc;
    *verdict = same ? IDENTITY_ANCHOR_MATCHES : IDENTITY_ANCHOR_DIFFERS;
    return true;
}

/* What the brokers, the checkpoint and the configuration say. */
static void collect(struct daemon *daemon, const struct partition *partition, struct opening *opening)
{
    struct identity_facts *facts = &opening->facts;
    enum error_code unread;
    facts->accept = daemon->options.accept_change || partition->start_over;
    facts->cluster = daemon->cluster;
    facts->fingerprint = daemon->sources[partition->source_index].fingerprint;
    facts->low = opening->lookup.low;
    facts->end = opening->lookup.end;
    facts->committed = opening->lookup.committed;
    facts->kafka = decode(opening->lookup.metadata, &opening->kafka, &unread);
    facts->committed_foreign = unread != ERROR_NONE;
    facts->committed_newer = unread == ERROR_TOO_NEW;
    facts->stored = opening->stored.found ? decode(opening->stored.metadata, &opening->checkpoint, &unread) : NULL;
    facts->stored_position = opening->stored.position;
}

static bool gather(struct daemon *daemon, struct partition *partition, struct opening *opening, struct error *error)
{
    struct identity_facts *facts = &opening->facts;
    collect(daemon, partition, opening);
    if (partition->start_over) { /* by order, and nothing that the checkpoint held is pending any more */
        facts->stored = NULL;
        facts->committed = facts->kafka != NULL ? facts->committed : -1;
        facts->committed_foreign = false;
    }
    if (!verify(daemon, partition, opening, facts->kafka, &facts->kafka_anchor, error)) {
        return false;
    }
    if (same_anchor(facts->kafka, facts->stored)) {
        facts->stored_anchor = facts->kafka_anchor;
        return true;
    }
    return verify(daemon, partition, opening, facts->stored, &facts->stored_anchor, error);
}

bool daemon_opening_find_out(struct daemon *daemon, struct partition *partition, struct opening *opening, struct error *error)
{
    return look_up(daemon, partition, opening, error) && gather(daemon, partition, opening, error);
}

/* ------------------------------------------------------------------------------------------------- what counts */

static void free_stored(struct store_partition *stored)
{
    free(stored->buckets);
    free(stored->marks);
    free(stored->skips);
    *stored = (struct store_partition){0};
}

/* Its rows are not what counts: they are read again. */
static bool drop_checkpoint(struct daemon *daemon, const struct partition *partition, struct opening *opening, struct error *error)
{
    if (!partition->start_over) {
        log_write(LOG_LEVEL_WARNING, "checkpoint_dropped",
                  LOG_FIELDS(LOG_TEXT("topic", partition->topic), LOG_NUMBER("partition", partition->number)),
                  "the checkpoint does not fit the progress that is committed in Kafka: what is pending is read again from the topic, nothing is lost");
    }
    free_stored(&opening->stored);
    return store_forget_slot(daemon->store, partition->slot, error) &&
           store_bind_slot(daemon->store, partition->slot, partition->topic, partition->number, &opening->stored, error);
}

/* A checkpoint of an earlier version does not know events by their ids, so that cancels would miss them: it is made anew from the topic, unless the topic has not
 * got all of it any more. */
static bool is_without_ids(const struct partition *partition, struct opening *opening)
{
    const struct identity_decision *decision = &opening->decision;
    bool missing = opening->stored.found && opening->stored.ids_missing && decision->use_store && decision->verdict == IDENTITY_START;
    bool whole = decision->frontier.low_offset >= opening->lookup.low && !decision->refire;
    if (missing) {
        log_write(whole ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "checkpoint_without_ids",
                  LOG_FIELDS(LOG_TEXT("topic", partition->topic), LOG_NUMBER("partition", partition->number)),
                  whole ? "the checkpoint was written by a version that did not keep ids: what is pending is read again from the topic"
                        : "the checkpoint was written by a version that did not keep ids, and the topic does not hold all of it any more: cancels and "
                          "replacements of what was read before now find nothing");
    }
    return missing && whole;
}

bool daemon_opening_choose(struct daemon *daemon, const struct partition *partition, struct opening *opening, struct error *error)
{
    struct identity_decision *decision = &opening->decision;
    bool dedupes = daemon->config->sources[partition->source_index].dedupe_ms > 0;
    if (is_without_ids(partition, opening)) {
        decision->use_store = false;
        decision->position = decision->frontier.low_offset;
    }
    if (opening->stored.found && !decision->use_store && !drop_checkpoint(daemon, partition, opening, error)) {
        return false;
    }
    /* What came due lately is known from the log alone (dedupe): the records from C on are read again, though the checkpoint has them. An order by hand stands. */
    int64_t low = decision->frontier.low_offset > opening->lookup.low ? decision->frontier.low_offset : opening->lookup.low;
    if (dedupes && decision->verdict == IDENTITY_START && !decision->refire && low < decision->position) {
        decision->position = low;
    }
    return true;
}

void daemon_opening_free(struct opening *opening)
{
    free_stored(&opening->stored);
}
