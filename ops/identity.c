/* See identity.h. */
#include "ops/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What is known to be done: the group's metadata, else the checkpoint's own copy (offsets expire after 7 days without members). */
static const struct metadata *known(const struct identity_facts *facts)
{
    return facts->kafka != NULL ? facts->kafka : facts->stored;
}

/* Of two true statements about the former topic the one that says more: while it is drained only the checkpoint goes on. */
static const struct metadata *furthest(const struct identity_facts *facts)
{
    bool both = facts->kafka != NULL && facts->stored != NULL;
    bool stored = both && key_compare(facts->stored->shared.point, facts->kafka->shared.point) > 0;
    return stored ? facts->stored : known(facts);
}

static int64_t greatest_cut(const struct metadata *metadata)
{
    int64_t cut = metadata->shared.cut;
    for (uint16_t i = 0; i < metadata->lane_count; i++) {
        int64_t mine = metadata->lanes[i].frontier.live.cut;
        cut = mine > cut ? mine : cut;
    }
    return cut;
}

bool identity_wants_anchor(const struct identity_facts *facts, struct anchor *anchor)
{
    const struct metadata *metadata = known(facts);
    if (metadata == NULL || metadata->anchor.offset < facts->low || metadata->anchor.offset >= facts->end) {
        return false;
    }
    *anchor = metadata->anchor;
    return true;
}

/* NULL: it is the same topic as far as can be known. */
static const char *mismatch(const struct identity_facts *facts, const struct metadata *metadata)
{
    const char *then = metadata->identity.cluster;
    if (then[0] != '\0' && facts->cluster[0] != '\0' && strcmp(then, facts->cluster) != 0) {
        return "it was committed on another cluster";
    }
    if (facts->end < greatest_cut(metadata)) {
        return "the log ends before what was already read: the topic was recreated or truncated";
    }
    if (facts->anchor == IDENTITY_ANCHOR_DIFFERS) {
        return "another record stands at the last offset read: the topic was recreated or overwritten";
    }
    return NULL;
}

/* The checkpoint's rows were decoded by the rules that the frontier speaks of (R8). */
static bool store_fits(const struct identity_facts *facts, const struct metadata *metadata)
{
    if (facts->stored == NULL) {
        return false;
    }
    const struct metadata_identity *rows = &facts->stored->identity;
    const struct metadata_identity *frontier = &metadata->identity;
    bool same = rows->fingerprint == frontier->fingerprint;
    bool before = rows->fingerprint == frontier->fingerprint_before && facts->stored_position <= frontier->changed_at;
    return same || before;
}

/* True when records from `position` on would be decoded by other rules than those they were first read with. */
static bool change_touches(const struct identity_facts *facts, const struct metadata *metadata, int64_t position)
{
    const struct metadata_identity *then = &metadata->identity;
    int64_t end = greatest_cut(metadata);
    int64_t changed_at = then->fingerprint_before == 0 ? 0 : then->changed_at;
    bool older = position < changed_at && then->fingerprint_before != facts->fingerprint;
    int64_t from = position > changed_at ? position : changed_at;
    return older || (from < end && then->fingerprint != facts->fingerprint);
}

/* The identity that commits carry on: the fingerprint before stays beside the new one until C has passed the change. */
static struct metadata_identity next_identity(const struct identity_facts *facts, const struct metadata *metadata)
{
    struct metadata_identity next = metadata->identity;
    snprintf(next.cluster, sizeof(next.cluster), "%s", facts->cluster[0] != '\0' ? facts->cluster : metadata->identity.cluster);
    if (next.fingerprint_before != 0 && metadata->low_offset >= next.changed_at) {
        next.fingerprint_before = 0;
        next.changed_at = 0;
    }
    if (next.fingerprint != facts->fingerprint) {
        bool two = next.fingerprint_before != 0;
        next.fingerprint_before = two ? next.fingerprint ^ (next.fingerprint_before * 31) : next.fingerprint;
        next.fingerprint_before += next.fingerprint_before == 0;
        next.fingerprint = facts->fingerprint;
        next.changed_at = greatest_cut(metadata);
    }
    return next;
}

static void fresh(const struct identity_facts *facts, struct identity_decision *decision, int64_t position)
{
    memset(decision, 0, sizeof(*decision));
    decision->verdict = IDENTITY_START;
    decision->position = position;
    struct metadata *frontier = &decision->frontier;
    snprintf(frontier->identity.cluster, sizeof(frontier->identity.cluster), "%s", facts->cluster);
    frontier->identity.fingerprint = facts->fingerprint;
    frontier->low_offset = position;
    frontier->anchor.offset = -1;
    frontier->shared = (struct frontier_pair){KEY_LEAST, position};
}

static void decide_unknown(const struct identity_facts *facts, struct identity_decision *decision)
{
    int64_t position = facts->committed > facts->low ? facts->committed : facts->low;
    fresh(facts, decision, position);
    if (facts->committed >= 0) {
        decision->refire = true;
        snprintf(decision->text, sizeof(decision->text),
                 "the group's offset %" PRId64 " was set by hand and there is no checkpoint: every record from %" PRId64
                 " on is scheduled, also those that were delivered before",
                 facts->committed, position);
    }
}

static void decide_other_topic(const struct identity_facts *facts, const char *what, struct identity_decision *decision)
{
    decision->verdict = facts->stored != NULL ? IDENTITY_DRAIN : IDENTITY_HOLD;
    decision->use_store = facts->stored != NULL;
    decision->restart = facts->accept;
    decision->frontier = *furthest(facts);
    if (facts->accept && facts->stored == NULL) {
        fresh(facts, decision, facts->low);
        decision->refire = true;
    }
    snprintf(decision->text, sizeof(decision->text),
             "this is not the topic that was read before: %s. %s", what,
             facts->accept ? "As accepted, it is read from its beginning once nothing of the former one is pending"
                           : "What is pending still leaves; to read the new topic from its beginning start with --accept-change");
}

static void decide_known(const struct identity_facts *facts, const struct metadata *metadata, struct identity_decision *decision)
{
    decision->verdict = IDENTITY_START;
    decision->use_store = store_fits(facts, metadata);
    decision->frontier = *metadata;
    int64_t stored = decision->use_store ? facts->stored_position : 0;
    int64_t position = metadata->low_offset > stored ? metadata->low_offset : stored;
    if (facts->kafka == NULL && facts->committed >= 0) {
        decision->refire = facts->committed != position;
        snprintf(decision->text, sizeof(decision->text),
                 "the group's offset was set to %" PRId64 " by hand: read on from there; what the checkpoint says is done is not repeated",
                 facts->committed);
        position = facts->committed;
    }
    if (position < facts->low) {
        snprintf(decision->text, sizeof(decision->text),
                 "records %" PRId64 " to %" PRId64 " have left the topic by its retention before they were read again: if no "
                 "checkpoint has them they are lost; raise retention.ms of the topic above the longest delay",
                 position, facts->low - 1);
        position = facts->low;
        decision->refire = true;
    }
    decision->position = position;
    if (change_touches(facts, metadata, position) && !facts->accept) {
        decision->verdict = IDENTITY_HOLD;
        snprintf(decision->text, sizeof(decision->text),
                 "dialects, routes, limits or targets changed, and pending records from offset %" PRId64
                 " would be decoded again by the new rules: put the old configuration back, or start with --accept-change",
                 position);
    }
    decision->frontier.identity = next_identity(facts, metadata);
}

void identity_decide(const struct identity_facts *facts, struct identity_decision *decision)
{
    memset(decision, 0, sizeof(*decision));
    const struct metadata *metadata = known(facts);
    if (facts->committed_foreign && !facts->accept) {
        decision->verdict = IDENTITY_HOLD;
        snprintf(decision->text, sizeof(decision->text),
                 "the group's committed offset carries metadata that tarry did not write: give tarry a group of its own, or take the "
                 "offset as it is with --accept-change");
        return;
    }
    const char *what = metadata == NULL ? NULL : mismatch(facts, metadata);
    if (metadata == NULL) {
        decide_unknown(facts, decision);
    } else if (what != NULL) {
        decide_other_topic(facts, what, decision);
    } else {
        decide_known(facts, metadata, decision);
    }
}
