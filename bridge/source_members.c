/*
 * Our place in the group, for the offsets of a transaction (R9).
 *
 * It is taken only while librdkafka waits for our answer to a rebalance, and when we know all that this one takes from us: just before the call that
 * answers an assignment, and with a revocation. Until the answer librdkafka joins no later generation. At any other time it could be that of a
 * rebalance we have not heard of yet, and with it the broker would take the offsets of partitions that are no longer ours.
 */
#include <stdlib.h>

#include "base/log.h"
#include "bridge/source_state.h"

struct words {
    void *bytes; /* NULL: none. Freed with free_words */
    size_t size;
};

static struct words write_words(const rd_kafka_consumer_group_metadata_t *members)
{
    struct words words = {NULL, 0};
    rd_kafka_error_t *failure = rd_kafka_consumer_group_metadata_write(members, &words.bytes, &words.size);
    if (failure != NULL) {
        log_write(LOG_LEVEL_WARNING, "kafka_assignment", NULL, 0, "the group's members cannot be told to a transaction, which is made again: %s", rd_kafka_error_string(failure));
        rd_kafka_error_destroy(failure);
    }
    return words;
}

static void free_words(const struct source *source, struct words words)
{
    if (words.bytes != NULL) {
        rd_kafka_mem_free(source->handle, words.bytes);
    }
}

static bool equal(struct words a, struct words b)
{
    return a.bytes != NULL && b.bytes != NULL && span_equal((struct span){a.bytes, a.size}, (struct span){b.bytes, b.size});
}

/* Thrown out already: librdkafka then has generation -1 or no member id. With that the broker takes offsets from anybody once the group is empty. */
static bool worthless(const struct source *source, struct words words)
{
    char *member = rd_kafka_memberid(source->handle);
    bool worth = member != NULL && member[0] != '\0';
    if (worth) {
        rd_kafka_consumer_group_metadata_t *members =
            rd_kafka_consumer_group_metadata_new_with_genid(source->group, -1, member, source->instance);
        struct words none = write_words(members);
        worth = !equal(words, none);
        free_words(source, none);
        rd_kafka_consumer_group_metadata_destroy(members);
    }
    free(member);
    return !worth;
}

void source_members_forget(struct source *source)
{
    free_words(source, (struct words){source->members, source->members_size});
    source->members = NULL;
    source->members_size = 0;
}

void source_members_take(struct source *source)
{
    source_members_forget(source);
    rd_kafka_consumer_group_metadata_t *members = rd_kafka_consumer_group_metadata(source->handle);
    if (members == NULL) {
        return;
    }
    struct words words = write_words(members);
    rd_kafka_consumer_group_metadata_destroy(members);
    if (words.bytes == NULL || worthless(source, words)) {
        free_words(source, words);
        return;
    }
    source->members = words.bytes;
    source->members_size = words.size;
}

struct span source_members(struct source *source)
{
    return (struct span){source->members, source->members_size};
}
