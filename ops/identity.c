/* See identity.h. */
#include "ops/identity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ops/identity_covers.h"

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t greatest_of(const struct metadata_lane *lanes, uint16_t count, int64_t cut)
{
    for (uint16_t i = 0; i < count; i++) {
        cut = greater(cut, lanes[i].frontier.live.cut);
    }
    return cut;
}

static int64_t greatest_cut(const struct metadata *metadata)
{
    return greatest_of(metadata->behind, metadata->behind_count, greatest_of(metadata->lanes, metadata->lane_count, metadata->shared.cut));
}

/* ------------------------------------------------------------------------------------------ the same topic? */

bool identity_wants_anchor(const struct identity_facts *facts, const struct metadata *metadata, struct anchor *anchor)
{
    if (metadata == NULL || metadata->anchor.offset < facts->low || metadata->anchor.offset >= facts->end) {
        return false;
    }
    *anchor = metadata->anchor;
    return true;
}

/* NULL: it is the same topic as far as can be known, or there is nothing to compare. `read` is how far it was read at least. */
static const char *mismatch(const struct identity_facts *facts,
                            const struct metadata *metadata,
                            int64_t read,
                            enum identity_anchor anchor)
{
    const char *then = metadata == NULL ? "" : metadata->identity.cluster;
    if (metadata == NULL) {
        return NULL;
    }
    if (then[0] != '\0' && facts->cluster[0] != '\0' && strcmp(then, facts->cluster) != 0) {
        return "it was committed on another cluster";
    }
    if (facts->end < greater(read, greatest_cut(metadata))) {
        return "the log ends before what was already read: the topic was recreated or truncated";
    }
    if (anchor == IDENTITY_ANCHOR_DIFFERS) {
        return "another record stands at the last offset read: the topic was recreated or overwritten";
    }
    if (facts->committed < 0 && metadata->anchor.offset < 0 && read > 0) {
        return "the group has no offset here (deleting a topic takes it along) and there is no record to know the topic by";
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------- which says more? */

/* What is known to be done: the group's metadata, else the checkpoint's own copy (offsets expire after 7 days without members). Of two
 * true statements the one that says more: while a former topic is drained only the checkpoint goes on. Of two that say the same the group's: it is the later
 * one in what is not progress, which lanes are paused and what is moving. */
static const struct metadata *furthest(const struct identity_facts *facts, bool use_store)
{
    if (facts->kafka == NULL) {
        return facts->stored;
    }
    bool more = use_store && identity_covers(facts->stored, facts->kafka) && !identity_covers(facts->kafka, facts->stored);
    return more ? facts->stored : facts->kafka;
}

/* ------------------------------------------------------------------------------------------ the same rules? */

/* The fingerprint of the rules that the record at `offset` was decoded by. */
static uint64_t rules_at(const struct metadata_identity *identity, int64_t offset)
{
    bool before = identity->fingerprint_before != 0 && offset < identity->changed_at;
    return before ? identity->fingerprint_before : identity->fingerprint;
}

static bool rules_agree(const struct metadata_identity *a, const struct metadata_identity *b, int64_t from, int64_t end)
{
    const int64_t offsets[] = {from, a->changed_at, b->changed_at}; /* between them nothing changes */
    bool agree = true;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        bool within = offsets[i] >= from && offsets[i] < end;
        agree = agree && (!within || rules_at(a, offsets[i]) == rules_at(b, offsets[i]));
    }
    return agree;
}

/* The checkpoint's rows were decoded by the rules that the frontier speaks of (R8), as far as both speak of the same records. */
static bool store_fits(const struct identity_facts *facts)
{
    if (facts->stored == NULL || facts->kafka == NULL) {
        return facts->stored != NULL;
    }
    int64_t cut = greatest_cut(facts->kafka);
    int64_t from = greater(facts->stored->low_offset, facts->kafka->low_offset);
    int64_t end = facts->stored_position < cut ? facts->stored_position : cut;
    return rules_agree(&facts->stored->identity, &facts->kafka->identity, from, end);
}

/* What was decoded by which rules: of the two that agree the one that knows of later records. */
static const struct metadata_identity *rules_known(const struct identity_facts *facts, bool use_store)
{
    bool stored = use_store && (facts->kafka == NULL || facts->stored_position >= greatest_cut(facts->kafka));
    return stored ? &facts->stored->identity : &facts->kafka->identity;
}

/* What of the records from `position` to `end` would be decoded by other rules than those they were first read with. */
struct touched {
    bool older; /* some below the former change */
    bool newer; /* some beyond it */
};

static struct touched change_touches(const struct identity_facts *facts,
                                     const struct metadata_identity *then,
                                     int64_t position,
                                     int64_t end)
{
    int64_t changed_at = then->fingerprint_before == 0 ? 0 : then->changed_at;
    int64_t older_end = changed_at < end ? changed_at : end;
    return (struct touched){
        .older = position < older_end && then->fingerprint_before != facts->fingerprint,
        .newer = greater(position, changed_at) < end && then->fingerprint != facts->fingerprint,
    };
}

/* The identity that commits carry on: all from `position` on is decoded by the rules of now; the fingerprint before stays beside them until C
 * (`low`) has passed the change. */
static struct metadata_identity next_identity(const struct identity_facts *facts,
                                              const struct metadata_identity *then,
                                              int64_t position,
                                              int64_t low)
{
    struct metadata_identity next = *then;
    bool before = then->fingerprint_before != 0 && low < then->changed_at;
    snprintf(next.cluster, sizeof(next.cluster), "%s", facts->cluster[0] != '\0' ? facts->cluster : then->cluster);
    next.fingerprint = facts->fingerprint;
    if (before && position <= then->changed_at) {
        next.changed_at = position; /* what lies between is read anew */
    } else if (then->fingerprint != facts->fingerprint) {
        /* Three rules in a row: those of two are kept as a number that no configuration has. */
        next.fingerprint_before = before ? then->fingerprint ^ (then->fingerprint_before * 31) : then->fingerprint;
        next.fingerprint_before += next.fingerprint_before == 0;
        next.changed_at = position;
    }
    if (low >= next.changed_at || next.fingerprint_before == 0 || next.fingerprint_before == next.fingerprint) {
        next.fingerprint_before = 0;
        next.changed_at = 0;
    }
    return next;
}

/* ------------------------------------------------------------------------------------------------ decisions */

__attribute__((format(printf, 2, 3))) static void say(struct identity_decision *decision, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(decision->text, sizeof(decision->text), format, arguments);
    va_end(arguments);
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
    int64_t position = greater(facts->committed, facts->low);
    fresh(facts, decision, position);
    if (facts->committed >= 0) {
        decision->refire = true;
        say(decision,
            "the group's offset %" PRId64 " was not set by tarry but by hand, and there is no checkpoint: every record from %" PRId64
            " on is scheduled, also those that were delivered before; what was pending below is passed over",
            facts->committed, position);
    }
}

static void decide_other_topic(const struct identity_facts *facts, const char *what, struct identity_decision *decision)
{
    if (facts->stored != NULL) {
        decision->verdict = IDENTITY_DRAIN;
        decision->use_store = true;
        decision->restart = facts->accept;
        decision->frontier = *furthest(facts, true);
        say(decision, "this is not the topic that was read before: %s. %s", what,
            facts->accept ? "As accepted, it is read from its beginning once nothing of the former one is pending"
                          : "What is pending still leaves; to read the new topic from its beginning start with --accept-change");
    } else if (facts->accept) {
        fresh(facts, decision, facts->low);
        decision->refire = true;
        say(decision, "this is not the topic that was read before: %s. As accepted, it is read from its beginning", what);
    } else {
        decision->verdict = IDENTITY_HOLD;
        say(decision,
            "this is not the topic that was read before: %s. There is no checkpoint here, so nothing leaves; to read the new topic from "
            "its beginning start with --accept-change",
            what);
    }
}

/* The group's frontier fits the topic, but what this instance has on disk is of a former one: another instance has gone on meanwhile. */
static void decide_former_checkpoint(const struct identity_facts *facts, const char *what, struct identity_decision *decision)
{
    decision->verdict = IDENTITY_DRAIN;
    decision->use_store = true;
    decision->restart = facts->accept;
    decision->frontier = *facts->stored;
    say(decision, "the checkpoint here is of a former topic, while the group has gone on with this one: %s. %s", what,
        facts->accept ? "As accepted, reading goes on where the group is once nothing of the former topic is pending"
                      : "What is pending in it still leaves; to go on where the group is start with --accept-change");
}

/* An operator's reset carries no metadata: an order to read on from there; what the checkpoint says is done is not repeated. */
static int64_t order_by_hand(const struct identity_facts *facts, int64_t needed, struct identity_decision *decision)
{
    decision->refire = facts->committed != needed;
    if (facts->committed > needed) {
        say(decision,
            "the group's offset was set to %" PRId64 " by hand: records %" PRId64 " to %" PRId64
            " are passed over; what the checkpoint has pending still leaves",
            facts->committed, needed, facts->committed - 1);
    } else {
        say(decision,
            "the group's offset was set to %" PRId64 " by hand: what the checkpoint says is done is not repeated, and it has all below %" PRId64
            ". To schedule everything again stop, move store.path away, and set the offset anew",
            facts->committed, needed);
    }
    return greater(facts->committed, needed);
}

static void look_at_retention(const struct identity_facts *facts, struct identity_decision *decision)
{
    if (decision->position >= facts->low) {
        return;
    }
    say(decision,
        "records %" PRId64 " to %" PRId64 " have left the topic by its retention before they were read again: if no "
        "checkpoint has them they are lost; raise retention.ms of the topic above the longest delay",
        decision->position, facts->low - 1);
    decision->position = facts->low;
    decision->refire = true;
}

static void look_at_change(const struct identity_facts *facts,
                           const struct metadata_identity *rules,
                           struct identity_decision *decision)
{
    int64_t end = greatest_cut(&decision->frontier);
    struct touched touched = change_touches(facts, rules, decision->position, end);
    if (!touched.older && !touched.newer) {
        return;
    }
    if (!facts->accept) {
        decision->verdict = IDENTITY_HOLD;
        say(decision,
            "dialects, routes, limits or targets changed, and pending records from offset %" PRId64
            " would be decoded again by the new rules: %s start with --accept-change",
            decision->position,
            touched.older && touched.newer ? "they were read with more than one configuration, so no former one would do:"
                                           : "put the old configuration back, or");
        return;
    }
    char before[sizeof(decision->text)];
    memcpy(before, decision->text, sizeof(before));
    decision->refire = true;
    say(decision,
        "as accepted, records %" PRId64 " to %" PRId64 " are decoded again by the new rules: some may be delivered again, or be taken for "
        "done%s%.200s",
        decision->position, end - 1, before[0] != '\0' ? ". " : "", before);
}

/* A checkpoint that does not fit is dropped and its rows are read again. That must not be, unasked, when the topic does not have them any more. */
static bool would_lose_rows(const struct identity_facts *facts, const struct identity_decision *decision)
{
    return facts->stored != NULL && !decision->use_store && facts->kafka->low_offset < facts->low && !facts->accept;
}

static void decide_known(const struct identity_facts *facts, struct identity_decision *decision)
{
    decision->verdict = IDENTITY_START;
    decision->use_store = store_fits(facts);
    decision->frontier = *furthest(facts, decision->use_store);
    if (would_lose_rows(facts, decision)) {
        decision->verdict = IDENTITY_HOLD;
        say(decision,
            "the checkpoint was decoded by other rules than the group's frontier speaks of, and records %" PRId64 " to %" PRId64
            " have left the topic, so that only the checkpoint may have them: to drop it and lose them start with --accept-change",
            facts->kafka->low_offset, facts->low - 1);
        return;
    }
    decision->position = greater(decision->frontier.low_offset, decision->use_store ? facts->stored_position : 0);
    if (facts->kafka == NULL && facts->committed >= 0) {
        decision->position = order_by_hand(facts, decision->position, decision);
    } else if (facts->kafka == NULL) {
        say(decision, "the group has no offset here (never committed, deleted or expired): the checkpoint's copy of the frontier counts");
    }
    look_at_retention(facts, decision);
    const struct metadata_identity *rules = rules_known(facts, decision->use_store);
    look_at_change(facts, rules, decision);
    decision->frontier.identity = next_identity(facts, rules, decision->position, decision->frontier.low_offset);
}

/* The committed metadata is there and cannot be read: true when that is decided with it. */
static bool hold_foreign(const struct identity_facts *facts, struct identity_decision *decision)
{
    if (facts->committed_newer) {
        say(decision,
            "the group's committed offset was written by a later version of tarry: run that version again. To give its progress up, "
            "set the group's offset by hand");
    } else if (facts->committed_foreign && !facts->accept) {
        say(decision,
            "the group's committed offset carries metadata that tarry did not write: give tarry a group of its own, or take the "
            "offset as it is with --accept-change");
    } else {
        return false;
    }
    decision->verdict = IDENTITY_HOLD;
    return true;
}

void identity_decide(const struct identity_facts *facts, struct identity_decision *decision)
{
    memset(decision, 0, sizeof(*decision));
    if (hold_foreign(facts, decision)) {
        return;
    }
    const char *group = mismatch(facts, facts->kafka, 0, facts->kafka_anchor);
    const char *checkpoint = mismatch(facts, facts->stored, facts->stored_position, facts->stored_anchor);
    if (facts->kafka == NULL && facts->stored == NULL) {
        decide_unknown(facts, decision);
    } else if (group != NULL) {
        decide_other_topic(facts, group, decision);
    } else if (checkpoint != NULL && facts->kafka == NULL) {
        decide_other_topic(facts, checkpoint, decision);
    } else if (checkpoint != NULL) {
        decide_former_checkpoint(facts, checkpoint, decision);
    } else {
        decide_known(facts, decision);
    }
}
