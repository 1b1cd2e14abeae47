/* R8 as a table: what is known of a partition, and where work on it begins. docs/operating.md, "The topic changed". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/identity.h"
#include "scheduler/frontier.h"

#define RULES UINT64_C(0xa)     /* the configuration that we run with */
#define RULES_OLD UINT64_C(0xb)
#define RULES_OLDER UINT64_C(0xc)

/* Half done: C is 100, read up to 200, the checkpoint complete below 150, the log from 0 to 300. */
#define LOW 100
#define CUT 200
#define STORED 150
#define END 300

struct scene {
    struct identity_facts facts;
    struct metadata kafka;
    struct metadata stored;
    struct identity_decision decision;
};

static void set_metadata(struct metadata *metadata, int64_t low, int64_t cut)
{
    memset(metadata, 0, sizeof(*metadata));
    memcpy(metadata->identity.cluster, "here", sizeof("here"));
    metadata->identity.fingerprint = RULES;
    metadata->low_offset = low;
    metadata->anchor = (struct anchor){cut - 1, 5000, 77};
    metadata->shared = (struct frontier_pair){{1000, 3}, cut};
}

/* Nothing is known, of a topic with records. */
static struct scene *nothing_known(struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    scene->facts = (struct identity_facts){.cluster = "here", .fingerprint = RULES, .end = END, .committed = -1};
    set_metadata(&scene->kafka, LOW, CUT);
    set_metadata(&scene->stored, LOW, CUT);
    return scene;
}

static struct scene *with_group(struct scene *scene)
{
    scene->facts.kafka = &scene->kafka;
    scene->facts.committed = CUT;
    scene->facts.kafka_anchor = IDENTITY_ANCHOR_MATCHES;
    return scene;
}

static struct scene *with_checkpoint(struct scene *scene)
{
    scene->facts.stored = &scene->stored;
    scene->facts.stored_position = STORED;
    scene->facts.stored_anchor = IDENTITY_ANCHOR_MATCHES;
    return scene;
}

static struct scene *group_only(struct scene *scene)
{
    return with_group(nothing_known(scene));
}

static struct scene *checkpoint_only(struct scene *scene)
{
    return with_checkpoint(nothing_known(scene));
}

static struct scene *both(struct scene *scene)
{
    return with_checkpoint(with_group(nothing_known(scene)));
}

static const struct identity_decision *decide(struct scene *scene)
{
    memset(&scene->decision, 0xff, sizeof(scene->decision));
    identity_decide(&scene->facts, &scene->decision);
    assert_non_null(memchr(scene->decision.text, '\0', sizeof(scene->decision.text)));
    return &scene->decision;
}

static const struct identity_decision *accept(struct scene *scene)
{
    scene->facts.accept = true;
    return decide(scene);
}

static void assert_starts(const struct identity_decision *decision, int64_t position, bool use_store, bool refire)
{
    assert_int_equal(decision->verdict, IDENTITY_START);
    assert_int_equal(decision->position, position);
    assert_int_equal(decision->use_store, use_store);
    assert_int_equal(decision->refire, refire);
    assert_string_equal(decision->frontier.identity.cluster, "here");
    assert_int_equal(decision->frontier.identity.fingerprint, RULES);
}

static void assert_plain_start(const struct identity_decision *decision, int64_t position, bool use_store)
{
    assert_starts(decision, position, use_store, false);
    assert_string_equal(decision->text, "");
}

static void assert_says(const struct identity_decision *decision, const char *words)
{
    if (strstr(decision->text, words) == NULL) {
        fail_msg("\"%s\" is not said in: %s", words, decision->text);
    }
}

static void assert_says_not(const struct identity_decision *decision, const char *words)
{
    if (strstr(decision->text, words) != NULL) {
        fail_msg("\"%s\" is said in: %s", words, decision->text);
    }
}

static void assert_rules(const struct identity_decision *decision, uint64_t before, int64_t changed_at)
{
    assert_int_equal(decision->frontier.identity.fingerprint, RULES);
    assert_int_equal(decision->frontier.identity.fingerprint_before, before);
    assert_int_equal(decision->frontier.identity.changed_at, changed_at);
}

static void assert_held(const struct identity_decision *decision)
{
    assert_int_equal(decision->verdict, IDENTITY_HOLD);
    assert_string_not_equal(decision->text, "");
}

/* ----------------------------------------------------------------------------------------- nothing unusual */

static void test_fresh(void **state)
{
    (void)state;
    struct scene scene;
    nothing_known(&scene)->facts.low = 40;
    const struct identity_decision *decision = decide(&scene);
    assert_plain_start(decision, 40, false);
    assert_int_equal(decision->frontier.low_offset, 40);
    assert_int_equal(decision->frontier.anchor.offset, -1);
    assert_int_equal(decision->frontier.lane_count, 0);
    assert_int_equal(decision->frontier.shared.cut, 40);
    assert_int_equal(key_compare(decision->frontier.shared.point, KEY_LEAST), 0);
    assert_rules(decision, 0, 0);
    assert_plain_start(accept(&scene), 40, false);
}

static void test_lost_disk_reads_from_c(void **state)
{
    (void)state;
    struct scene scene;
    const struct identity_decision *decision = decide(group_only(&scene));
    assert_plain_start(decision, LOW, false);
    assert_memory_equal(&decision->frontier, &scene.kafka, sizeof(scene.kafka));
    assert_plain_start(accept(&scene), LOW, false);
}

static void test_checkpoint_saves_reading(void **state)
{
    (void)state;
    struct scene scene;
    assert_plain_start(decide(both(&scene)), STORED, true);
    scene.facts.stored_position = 250; /* read and written, not committed yet */
    assert_plain_start(decide(&scene), 250, true);
    scene.facts.stored_position = 20; /* stale: another instance has had the partition meanwhile */
    set_metadata(&scene.stored, 10, 30);
    assert_plain_start(decide(&scene), LOW, true);
    assert_memory_equal(&scene.decision.frontier, &scene.kafka, sizeof(scene.kafka));
    assert_plain_start(accept(&scene), LOW, true);
}

static void test_group_deleted(void **state)
{
    (void)state;
    struct scene scene;
    const struct identity_decision *decision = decide(checkpoint_only(&scene));
    assert_starts(decision, STORED, true, false);
    assert_says(decision, "the checkpoint's copy of the frontier counts");
    assert_memory_equal(&decision->frontier, &scene.stored, sizeof(scene.stored));
}

/* While a former topic is drained only the checkpoint goes on; with the right one back, what left meanwhile is not repeated. */
static void test_checkpoint_that_says_more_counts(void **state)
{
    (void)state;
    struct scene scene;
    both(&scene)->stored.lane_count = 1;
    scene.kafka.lane_count = 1;
    memcpy(scene.stored.lanes[0].name, "slow", sizeof("slow"));
    memcpy(scene.kafka.lanes[0].name, "slow", sizeof("slow"));
    scene.kafka.lanes[0].frontier = frontier_of((struct frontier_pair){{500, 1}, CUT});
    scene.stored.lanes[0].frontier = frontier_of((struct frontier_pair){{700, 1}, CUT}); /* the shared pair stands still */
    assert_plain_start(decide(&scene), STORED, true);
    assert_memory_equal(&scene.decision.frontier, &scene.stored, sizeof(scene.stored));
    scene.stored.lanes[0].frontier.live.point.due_ms = 400; /* behind: the group's */
    decide(&scene);
    assert_memory_equal(&scene.decision.frontier, &scene.kafka, sizeof(scene.kafka));
    scene.stored.lanes[0].frontier.live.point.due_ms = 700; /* ahead in one, behind in another: the group's */
    scene.stored.shared.point.due_ms = 900;
    decide(&scene);
    assert_memory_equal(&scene.decision.frontier, &scene.kafka, sizeof(scene.kafka));
    both(&scene)->stored.low_offset = LOW - 1; /* C is part of it */
    decide(&scene);
    assert_memory_equal(&scene.decision.frontier, &scene.kafka, sizeof(scene.kafka));
}

static void test_unknown_cluster_is_kept(void **state)
{
    (void)state;
    struct scene scene;
    both(&scene)->facts.cluster = "";
    assert_plain_start(decide(&scene), STORED, true);
    both(&scene);
    scene.kafka.identity.cluster[0] = '\0';
    scene.stored.identity.cluster[0] = '\0';
    assert_plain_start(decide(&scene), STORED, true); /* and learned */
}

/* ------------------------------------------------------------------------------------------ offsets by hand */

static void test_reset_without_checkpoint(void **state)
{
    (void)state;
    struct scene scene;
    nothing_known(&scene)->facts.committed = 120;
    const struct identity_decision *decision = decide(&scene);
    assert_starts(decision, 120, false, true);
    assert_says(decision, "offset 120 was not set by tarry");
    assert_says(decision, "every record from 120 on is scheduled");
    assert_int_equal(decision->frontier.low_offset, 120);
    scene.facts.low = 130;
    assert_starts(decide(&scene), 130, false, true);
    assert_says(&scene.decision, "every record from 130 on is scheduled");
    assert_starts(accept(&scene), 130, false, true);
}

static void test_reset_back_with_checkpoint(void **state)
{
    (void)state;
    struct scene scene;
    checkpoint_only(&scene)->facts.committed = 0;
    const struct identity_decision *decision = decide(&scene);
    assert_starts(decision, STORED, true, true); /* all below is done or on disk: it need not be read again */
    assert_says(decision, "set to 0 by hand");
    assert_says(decision, "done is not repeated");
    assert_says(decision, "move store.path away");
    scene.facts.low = 50; /* what is asked for has gone, but none of it is needed */
    assert_starts(decide(&scene), STORED, true, true);
    assert_says_not(&scene.decision, "lost");
    scene.facts.fingerprint = RULES_OLD; /* what must be decoded again is beyond the checkpoint, not beyond the order */
    scene.facts.stored_position = CUT;
    assert_int_equal(decide(&scene)->verdict, IDENTITY_START);
}

static void test_reset_forward_with_checkpoint(void **state)
{
    (void)state;
    struct scene scene;
    checkpoint_only(&scene)->facts.committed = 280;
    const struct identity_decision *decision = decide(&scene);
    assert_starts(decision, 280, true, true);
    assert_says(decision, "records 150 to 279 are passed over");
    assert_int_equal(decision->frontier.low_offset, LOW); /* what is pending on disk still is */
    scene.facts.committed = STORED;
    assert_starts(decide(&scene), STORED, true, false);
    assert_says(&scene.decision, "set to 150 by hand");
}

/* ------------------------------------------------------------------------------------------ foreign metadata */

static void test_foreign_metadata(void **state)
{
    (void)state;
    struct scene scene;
    nothing_known(&scene)->facts.committed = 60;
    scene.facts.committed_foreign = true;
    assert_held(decide(&scene));
    assert_says(&scene.decision, "--accept-change");
    assert_starts(accept(&scene), 60, false, true);
    checkpoint_only(&scene)->facts.committed = 60;
    scene.facts.committed_foreign = true;
    assert_held(decide(&scene));
    assert_starts(accept(&scene), STORED, true, true);
}

static void test_metadata_of_a_later_version(void **state)
{
    (void)state;
    struct scene scene;
    checkpoint_only(&scene)->facts.committed = CUT;
    scene.facts.committed_foreign = true;
    scene.facts.committed_newer = true;
    assert_held(decide(&scene));
    assert_says(&scene.decision, "later version of tarry: run that version");
    assert_held(accept(&scene)); /* its offset alone would pass over what is pending below */
}

/* -------------------------------------------------------------------------------------------- another topic */

static void change_cluster(struct scene *scene)
{
    scene->facts.cluster = "there";
}

static void end_before_cut(struct scene *scene)
{
    scene->facts.end = CUT - 1;
}

static void put_another_record(struct scene *scene)
{
    scene->facts.kafka_anchor = IDENTITY_ANCHOR_DIFFERS;
    scene->facts.stored_anchor = IDENTITY_ANCHOR_DIFFERS;
}

struct other_topic {
    void (*make)(struct scene *scene);
    const char *words;
};

static const struct other_topic other_topics[] = {
    {change_cluster, "another cluster"},
    {end_before_cut, "the log ends before"},
    {put_another_record, "another record stands at"},
};

#define OTHER_TOPICS (sizeof(other_topics) / sizeof(other_topics[0]))

/* What is on disk leaves; nothing is read and no row is given up, accepted or not. */
static void check_drains(struct scene *scene, const struct other_topic *other, const struct metadata *frontier)
{
    other->make(scene);
    for (int accepted = 0; accepted < 2; accepted++) {
        scene->facts.accept = accepted == 1;
        const struct identity_decision *decision = decide(scene);
        assert_int_equal(decision->verdict, IDENTITY_DRAIN);
        assert_true(decision->use_store);
        assert_int_equal(decision->restart, accepted);
        assert_says(decision, other->words);
        assert_says(decision, accepted ? "read from its beginning once nothing of the former one is pending"
                                       : "start with --accept-change");
        assert_memory_equal(&decision->frontier, frontier, sizeof(*frontier));
    }
}

static void test_other_topic_with_checkpoint(void **state)
{
    (void)state;
    struct scene scene;
    for (size_t i = 0; i < OTHER_TOPICS; i++) {
        check_drains(both(&scene), &other_topics[i], &scene.kafka);
        both(&scene)->stored.shared.point.due_ms = 9000; /* a drain that was interrupted: it alone knows what left */
        check_drains(&scene, &other_topics[i], &scene.stored);
        check_drains(checkpoint_only(&scene), &other_topics[i], &scene.stored);
        checkpoint_only(&scene)->facts.committed = 5; /* set by hand, which does not make it the same topic */
        check_drains(&scene, &other_topics[i], &scene.stored);
    }
}

static void test_other_topic_without_checkpoint(void **state)
{
    (void)state;
    struct scene scene;
    for (size_t i = 0; i < OTHER_TOPICS; i++) {
        group_only(&scene)->facts.low = 7;
        other_topics[i].make(&scene);
        assert_held(decide(&scene));
        assert_says(&scene.decision, other_topics[i].words);
        assert_says(&scene.decision, "nothing leaves");
        assert_says(&scene.decision, "--accept-change");
        const struct identity_decision *decision = accept(&scene);
        assert_int_equal(decision->verdict, IDENTITY_START);
        assert_int_equal(decision->position, 7);
        assert_true(decision->refire);
        assert_false(decision->use_store);
        assert_says(decision, "it is read from its beginning");
        assert_says_not(decision, "once nothing");
        assert_int_equal(decision->frontier.shared.cut, 7); /* nothing of the former one is taken for done */
        assert_int_equal(decision->frontier.low_offset, 7);
        assert_string_equal(decision->frontier.identity.cluster, scene.facts.cluster);
    }
}

/* Another instance has gone on with the new topic: our rows are of the former one, and our position says nothing of this one. */
static void test_checkpoint_of_a_former_topic(void **state)
{
    (void)state;
    struct scene scene;
    both(&scene)->facts.stored_anchor = IDENTITY_ANCHOR_DIFFERS;
    for (int way = 0; way < 2; way++) {
        const struct identity_decision *decision = decide(&scene);
        assert_int_equal(decision->verdict, IDENTITY_DRAIN);
        assert_true(decision->use_store);
        assert_false(decision->restart);
        assert_says(decision, "of a former topic");
        assert_says(decision, "start with --accept-change");
        assert_memory_equal(&decision->frontier, &scene.stored, sizeof(scene.stored));
        assert_true(accept(&scene)->restart);
        assert_int_equal(scene.decision.verdict, IDENTITY_DRAIN);
        assert_says(&scene.decision, "where the group is once nothing of the former topic is pending");
        both(&scene)->facts.stored_position = END + 1; /* it had been read further than this one goes */
    }
    scene.facts.stored = NULL; /* drained: the daemon forgets it and asks again */
    assert_plain_start(accept(&scene), LOW, false);
}

static void test_end_at_the_cut_is_the_same_topic(void **state)
{
    (void)state;
    struct scene scene;
    both(&scene)->facts.end = CUT;
    assert_plain_start(decide(&scene), STORED, true);
    scene.kafka.lane_count = 1; /* the greatest cut may be a lane's */
    scene.kafka.lanes[0].frontier = frontier_of((struct frontier_pair){KEY_LEAST, CUT + 1});
    assert_int_equal(decide(&scene)->verdict, IDENTITY_DRAIN);
}

static void test_unverifiable_is_not_another(void **state)
{
    (void)state;
    struct scene scene;
    both(&scene)->facts.kafka_anchor = IDENTITY_ANCHOR_UNVERIFIABLE;
    scene.facts.stored_anchor = IDENTITY_ANCHOR_UNVERIFIABLE;
    assert_plain_start(decide(&scene), STORED, true);
    scene.facts.low = 250; /* the log starts above the anchor */
    assert_starts(decide(&scene), 250, true, true);
    assert_says(&scene.decision, "records 150 to 249 have left the topic");
}

/* A checkpoint that knows no record of a topic whose group offset is gone: deleting a topic takes that along. */
static void test_nothing_to_know_the_topic_by(void **state)
{
    (void)state;
    struct scene scene;
    checkpoint_only(&scene)->stored.anchor.offset = -1;
    scene.facts.stored_anchor = IDENTITY_ANCHOR_UNVERIFIABLE;
    assert_int_equal(decide(&scene)->verdict, IDENTITY_DRAIN);
    assert_says(&scene.decision, "--accept-change");
    set_metadata(&scene.stored, 0, 0); /* nothing was ever read: nothing can be mistaken. Its anchor is -1 */
    scene.facts.stored_position = 0;
    assert_int_equal(decide(&scene)->verdict, IDENTITY_START);
}

static void test_wants_anchor(void **state)
{
    (void)state;
    struct scene scene;
    struct anchor anchor = {0};
    both(&scene);
    assert_false(identity_wants_anchor(&scene.facts, NULL, &anchor));
    assert_true(identity_wants_anchor(&scene.facts, &scene.kafka, &anchor));
    assert_int_equal(anchor.offset, CUT - 1);
    assert_int_equal(anchor.timestamp_ms, 5000);
    assert_int_equal(anchor.crc, 77);
    scene.facts.low = CUT - 1;
    assert_true(identity_wants_anchor(&scene.facts, &scene.kafka, &anchor));
    scene.facts.low = CUT;
    assert_false(identity_wants_anchor(&scene.facts, &scene.kafka, &anchor));
    scene.facts.low = 0;
    scene.facts.end = CUT - 1;
    assert_false(identity_wants_anchor(&scene.facts, &scene.kafka, &anchor));
    scene.kafka.anchor.offset = -1;
    assert_false(identity_wants_anchor(&scene.facts, &scene.kafka, &anchor));
}

/* ------------------------------------------------------------------------------------------------ retention */

static void test_retention_passed(void **state)
{
    (void)state;
    struct scene scene;
    group_only(&scene)->facts.low = 130;
    for (int accepted = 0; accepted < 2; accepted++) {
        scene.facts.accept = accepted == 1;
        assert_starts(decide(&scene), 130, false, true);
        assert_says(&scene.decision, "records 100 to 129 have left the topic");
        assert_says(&scene.decision, "raise retention.ms");
    }
    assert_plain_start(decide(with_checkpoint(&scene)), STORED, true); /* the checkpoint has them */
    scene.facts.low = STORED;
    assert_plain_start(decide(&scene), STORED, true);
    scene.facts.low = STORED + 1;
    assert_starts(decide(&scene), STORED + 1, true, true);
    assert_says(&scene.decision, "records 150 to 150 have left the topic");
}

/* --------------------------------------------------------------------------------------- changed configuration */

static struct scene *read_with(struct scene *scene, uint64_t rules)
{
    scene->kafka.identity.fingerprint = rules;
    scene->stored.identity.fingerprint = rules;
    return scene;
}

static void test_change_with_nothing_to_decode_again(void **state)
{
    (void)state;
    struct scene scene;
    read_with(group_only(&scene), RULES_OLD)->kafka.low_offset = CUT; /* all is done */
    assert_plain_start(decide(&scene), CUT, false);
    assert_rules(&scene.decision, 0, 0);
    assert_plain_start(accept(&scene), CUT, false);

    read_with(both(&scene), RULES_OLD)->facts.stored_position = CUT; /* what is pending is on disk */
    assert_plain_start(decide(&scene), CUT, true);
    assert_rules(&scene.decision, RULES_OLD, CUT);
    assert_plain_start(accept(&scene), CUT, true);

    scene.facts.stored_position = 260; /* beyond the cut: those rows were decoded by the old rules too */
    assert_plain_start(decide(&scene), 260, true);
    assert_rules(&scene.decision, RULES_OLD, 260);
}

static void test_change_with_records_to_decode_again(void **state)
{
    (void)state;
    struct scene scene;
    assert_held(decide(read_with(group_only(&scene), RULES_OLD)));
    assert_says(&scene.decision, "pending records from offset 100");
    assert_says(&scene.decision, "put the old configuration back, or start with --accept-change");
    assert_starts(accept(&scene), LOW, false, true);
    assert_says(&scene.decision, "as accepted, records 100 to 199 are decoded again by the new rules");
    assert_rules(&scene.decision, 0, 0);

    assert_held(decide(read_with(both(&scene), RULES_OLD)));
    assert_says(&scene.decision, "pending records from offset 150");
    assert_starts(accept(&scene), STORED, true, true);
    assert_rules(&scene.decision, RULES_OLD, STORED); /* from 150 on it is the new ones that count */

    assert_held(decide(read_with(checkpoint_only(&scene), RULES_OLD)));
    assert_starts(accept(&scene), STORED, true, true);
    assert_says(&scene.decision, "the checkpoint's copy of the frontier counts"); /* both are said */
}

/* Going on after a change: the identity that was carried on, C not past the change yet. */
static struct scene *after_change(struct scene *scene, int64_t changed_at)
{
    struct metadata_identity identity = {"here", RULES, RULES_OLD, changed_at};
    scene->kafka.identity = identity;
    scene->stored.identity = identity;
    return scene;
}

static void test_after_a_change(void **state)
{
    (void)state;
    struct scene scene;
    assert_plain_start(decide(after_change(both(&scene), 140)), STORED, true);
    assert_rules(&scene.decision, RULES_OLD, 140);
    assert_held(decide(after_change(group_only(&scene), 140))); /* disk lost: 100 to 139 were read with the old ones */
    assert_starts(accept(&scene), LOW, false, true);
    assert_rules(&scene.decision, 0, 0);
    scene.kafka.low_offset = 140; /* C has passed it */
    scene.facts.accept = false;
    assert_plain_start(decide(&scene), 140, false);
    assert_rules(&scene.decision, 0, 0);

}

/* A change and back before anything new was read: as if it had not been, whatever has to be read again. */
static void test_change_and_back(void **state)
{
    (void)state;
    struct scene scene;
    after_change(both(&scene), CUT)->facts.stored_position = CUT;
    scene.facts.fingerprint = RULES_OLD;
    for (int lost = 0; lost < 2; lost++) {
        const struct identity_decision *decision = decide(&scene);
        assert_int_equal(decision->verdict, IDENTITY_START);
        assert_int_equal(decision->position, lost ? LOW : CUT);
        assert_string_equal(decision->text, "");
        assert_int_equal(decision->frontier.identity.fingerprint, RULES_OLD);
        assert_int_equal(decision->frontier.identity.fingerprint_before, 0);
        scene.facts.stored = NULL;
    }
    after_change(both(&scene), STORED); /* something new was read: 150 to 199 */
    scene.facts.fingerprint = RULES_OLD;
    assert_held(decide(&scene));
}

static void test_checkpoint_on_either_side_of_a_change(void **state)
{
    (void)state;
    struct scene scene;
    after_change(both(&scene), STORED)->stored.identity = (struct metadata_identity){"here", RULES_OLD, 0, 0};
    assert_plain_start(decide(&scene), STORED, true); /* written before it */
    scene.facts.stored_position = STORED + 1;        /* one row by other rules than the group speaks of */
    assert_held(decide(&scene));
    assert_false(scene.decision.use_store);

    read_with(both(&scene), RULES_OLD); /* the checkpoint after the change was quicker than the commit after it */
    scene.facts.stored_position = 260;
    scene.stored.identity = (struct metadata_identity){"here", RULES, RULES_OLD, CUT};
    assert_plain_start(decide(&scene), 260, true);
    assert_rules(&scene.decision, RULES_OLD, CUT);
    scene.stored.identity.changed_at = CUT - 1; /* but the group says that 199 was read by the old ones */
    assert_held(decide(&scene));

    after_change(both(&scene), LOW)->stored.low_offset = LOW - 50; /* C has passed the change since the checkpoint */
    scene.kafka.identity = (struct metadata_identity){"here", RULES, 0, 0};
    assert_plain_start(decide(&scene), STORED, true);
}

static void test_two_changes(void **state)
{
    (void)state;
    struct scene scene;
    both(&scene)->facts.stored_position = CUT;
    scene.kafka.identity = (struct metadata_identity){"here", RULES_OLD, RULES_OLDER, 180};
    scene.stored.identity = scene.kafka.identity;
    const struct identity_decision *decision = decide(&scene);
    assert_plain_start(decision, CUT, true); /* nothing is decoded again */
    uint64_t mixed = decision->frontier.identity.fingerprint_before;
    assert_true(mixed != 0 && mixed != RULES && mixed != RULES_OLD && mixed != RULES_OLDER);
    assert_int_equal(decision->frontier.identity.changed_at, CUT);

    scene.kafka.identity = decision->frontier.identity; /* later, the disk is lost: no configuration decodes those below 200 */
    scene.facts.stored = NULL;
    for (uint64_t rules = RULES; rules <= RULES_OLDER; rules++) {
        scene.facts.fingerprint = rules;
        assert_held(decide(&scene));
    }

    group_only(&scene)->kafka.identity = (struct metadata_identity){"here", RULES_OLD, RULES_OLDER, 180};
    assert_held(decide(&scene));
    assert_says(&scene.decision, "more than one configuration");
    assert_says_not(&scene.decision, "put the old configuration back");
    assert_starts(accept(&scene), LOW, false, true);
    assert_rules(&scene.decision, 0, 0);
}

/* A second change before anything was read by the first one's rules: these never counted. */
static void test_two_changes_without_a_record_between(void **state)
{
    (void)state;
    struct scene scene;
    both(&scene)->facts.stored_position = CUT;
    scene.kafka.identity = (struct metadata_identity){"here", RULES_OLD, RULES_OLDER, CUT};
    scene.stored.identity = scene.kafka.identity;
    assert_plain_start(decide(&scene), CUT, true);
    assert_rules(&scene.decision, RULES_OLDER, CUT);
}

/* Rows that the topic does not have any more are not dropped unasked. */
static void test_checkpoint_that_does_not_fit_after_retention(void **state)
{
    (void)state;
    struct scene scene;
    both(&scene)->stored.identity.fingerprint = RULES_OLD;
    assert_plain_start(decide(&scene), LOW, false); /* dropped: all is read again */
    scene.facts.low = LOW + 1;
    assert_held(decide(&scene));
    assert_says(&scene.decision, "records 100 to 100 have left the topic");
    assert_says(&scene.decision, "--accept-change");
    assert_starts(accept(&scene), LOW + 1, false, true);
    assert_says(&scene.decision, "if no checkpoint has them they are lost");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_lost_disk_reads_from_c),
        cmocka_unit_test(test_checkpoint_saves_reading),
        cmocka_unit_test(test_group_deleted),
        cmocka_unit_test(test_checkpoint_that_says_more_counts),
        cmocka_unit_test(test_unknown_cluster_is_kept),
        cmocka_unit_test(test_reset_without_checkpoint),
        cmocka_unit_test(test_reset_back_with_checkpoint),
        cmocka_unit_test(test_reset_forward_with_checkpoint),
        cmocka_unit_test(test_foreign_metadata),
        cmocka_unit_test(test_metadata_of_a_later_version),
        cmocka_unit_test(test_other_topic_with_checkpoint),
        cmocka_unit_test(test_other_topic_without_checkpoint),
        cmocka_unit_test(test_checkpoint_of_a_former_topic),
        cmocka_unit_test(test_end_at_the_cut_is_the_same_topic),
        cmocka_unit_test(test_unverifiable_is_not_another),
        cmocka_unit_test(test_nothing_to_know_the_topic_by),
        cmocka_unit_test(test_wants_anchor),
        cmocka_unit_test(test_retention_passed),
        cmocka_unit_test(test_change_with_nothing_to_decode_again),
        cmocka_unit_test(test_change_with_records_to_decode_again),
        cmocka_unit_test(test_after_a_change),
        cmocka_unit_test(test_change_and_back),
        cmocka_unit_test(test_checkpoint_on_either_side_of_a_change),
        cmocka_unit_test(test_two_changes),
        cmocka_unit_test(test_two_changes_without_a_record_between),
        cmocka_unit_test(test_checkpoint_that_does_not_fit_after_retention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
