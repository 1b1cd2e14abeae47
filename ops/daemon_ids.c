/* Ids: what a person wrote becomes 128 bits, by which the core and the store know the event. */
#include <inttypes.h>
#include <string.h>

#include <xxhash.h>

#include "ops/daemon_state.h"

/* Of this cluster and group: nobody makes ids of another one's that meet. Known before the first record is read (daemon_cluster.c); who asks before that must not settle it. */
static uint64_t seed_of(struct daemon *daemon)
{
    if (!daemon->id_seed_known) {
        uint64_t of_cluster = XXH3_64bits(daemon->cluster, strlen(daemon->cluster));
        daemon->id_seed = XXH3_64bits_withSeed(daemon->config->group, strlen(daemon->config->group), of_cluster);
        daemon->id_seed_known = daemon->cluster[0] != '\0';
    }
    return daemon->id_seed;
}

struct record_id daemon_ids_hash(struct daemon *daemon, struct span id)
{
    if (id.data == NULL) {
        return RECORD_ID_NONE;
    }
    XXH128_hash_t hash = XXH3_128bits_withSeed(id.data, id.length, seed_of(daemon));
    struct record_id made = {hash.high64, hash.low64};
    return record_id_is_none(made) ? (struct record_id){0, 1} : made;
}

uint64_t daemon_ids_place(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

bool daemon_ids_look(struct daemon *daemon, const struct partition *partition, struct record_id id, struct stored_event *event, struct error *error)
{
    *event = (struct stored_event){.offset = -1, .root = -1};
    bool done = !partition->has_ids || record_id_is_none(id) || store_find_id(daemon->store, partition->slot, id, event, error);
    if (!done) {
        event->offset = -1;
        error_prefix(error, "partition %" PRId32 " of %s", partition->number, partition->topic);
    }
    return done;
}

struct stored_event daemon_ids_find(struct daemon *daemon, const struct partition *partition, struct record_id id)
{
    struct stored_event event;
    struct error error;
    if (!daemon_ids_look(daemon, partition, id, &event, &error)) {
        daemon_fail(daemon, &error);
    }
    return event;
}
