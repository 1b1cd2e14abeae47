/* R8 over random facts: nothing is skipped, refired or given up unasked, and the rules that records were decoded by are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "ops/identity.h"
#include "scheduler/frontier.h"

/* Three configurations; the greatest number of a configuration is RULES_LAST. */
#define RULES UINT64_C(0xa)
#define RULES_LAST UINT64_C(0xc)

struct scene {
    struct identity_facts facts;
    struct metadata kafka;
    struct metadata stored;
    struct identity_decision decision;
};

static const struct identity_decision *decide(struct scene *scene)
{
    memset(&scene->decision, 0xff, sizeof(scene->decision));
    identity_decide(&scene->facts, &scene->decision);
    assert_non_null(memchr(scene->decision.text, '\0', sizeof(scene->decision.text)));
    return &scene->decision;
}

static void make_metadata(struct random *random, struct metadata *metadata)
{
    memset(metadata, 0, sizeof(*metadata));
    struct metadata_identity *identity = &metadata->identity;
    memcpy(identity->cluster, random_below(random, 8) == 0 ? "away" : "here", sizeof("here"));
    identity->fingerprint = RULES + random_below(random, 3);
    identity->fingerprint_before = random_below(random, 2) == 0 ? 0 : RULES + random_below(random, 3);
    identity->changed_at = identity->fingerprint_before == 0 ? 0 : random_between(random, 0, 30);
    metadata->low_offset = random_between(random, 0, 20);
    metadata->anchor.offset = random_between(random, -1, 20);
    metadata->shared = (struct frontier_pair){{random_between(random, 0, 5), 0},
                                              metadata->low_offset + random_between(random, 0, 10)};
    metadata->lane_count = (uint16_t)random_below(random, 2);
    metadata->lanes[0].name[0] = 'x';
    metadata->lanes[0].frontier = frontier_of(
        (struct frontier_pair){{random_between(random, 0, 5), 0}, metadata->low_offset + random_between(random, 0, 10)});
}

static void make_facts(struct random *random, struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    make_metadata(random, &scene->kafka);
    make_metadata(random, &scene->stored);
    struct identity_facts *facts = &scene->facts;
    facts->accept = random_below(random, 2) == 0;
    facts->cluster = random_below(random, 8) == 0 ? "" : "here";
    facts->fingerprint = RULES + random_below(random, 3);
    facts->low = random_below(random, 2) == 0 ? 0 : random_between(random, 0, 25);
    facts->end = facts->low + random_between(random, 0, 40);
    facts->committed = random_between(random, -1, 35);
    facts->kafka = facts->committed >= 0 && random_below(random, 3) > 0 ? &scene->kafka : NULL;
    facts->committed_foreign = facts->committed >= 0 && facts->kafka == NULL && random_below(random, 4) == 0;
    facts->stored = random_below(random, 3) > 0 ? &scene->stored : NULL;
    facts->stored_position = scene->stored.low_offset + random_between(random, 0, 15);
    facts->kafka_anchor = (enum identity_anchor)random_below(random, 4);
    facts->stored_anchor = (enum identity_anchor)random_below(random, 4);
}

static uint64_t rules_of(const struct metadata_identity *identity, int64_t offset)
{
    return identity->fingerprint_before != 0 && offset < identity->changed_at ? identity->fingerprint_before
                                                                              : identity->fingerprint;
}

static int64_t cut_of(const struct metadata *metadata)
{
    int64_t lane = metadata->lane_count > 0 ? metadata->lanes[0].frontier.live.cut : -1;
    return lane > metadata->shared.cut ? lane : metadata->shared.cut;
}

/* Every offset that the frontier does not vouch for is on disk, or is read. */
static void check_nothing_is_skipped(const struct scene *scene)
{
    const struct identity_decision *decision = &scene->decision;
    int64_t complete = decision->use_store ? scene->facts.stored_position : 0;
    int64_t low = decision->frontier.low_offset;
    assert_true(decision->position >= scene->facts.low);
    if (decision->refire) {
        assert_string_not_equal(decision->text, "");
        return;
    }
    for (int64_t offset = low; offset < decision->position; offset++) {
        assert_true(offset < complete);
    }
    if (scene->facts.kafka != NULL || scene->facts.stored != NULL) {
        assert_true(decision->position >= low); /* below C nothing is needed */
    }
}

/* No record that the frontier may call done is decoded by other rules than it was, unless accepted; what commits say of rules is true. */
static void check_rules(const struct scene *scene)
{
    const struct identity_facts *facts = &scene->facts;
    const struct identity_decision *decision = &scene->decision;
    const struct metadata_identity *next = &decision->frontier.identity;
    for (int64_t offset = decision->position; facts->kafka != NULL && offset < cut_of(facts->kafka); offset++) {
        bool same = rules_of(&scene->kafka.identity, offset) == facts->fingerprint;
        assert_true(same || (facts->accept && decision->refire));
    }
    for (int64_t offset = decision->position; offset < 60; offset++) {
        assert_int_equal(rules_of(next, offset), facts->fingerprint);
    }
    if (facts->kafka == NULL || facts->stored == NULL || !decision->use_store) {
        return;
    }
    int64_t low = scene->kafka.low_offset > scene->stored.low_offset ? scene->kafka.low_offset : scene->stored.low_offset;
    for (int64_t offset = low; offset < facts->stored_position && offset < cut_of(facts->kafka); offset++) {
        assert_int_equal(rules_of(&scene->kafka.identity, offset), rules_of(&scene->stored.identity, offset));
    }
}

/* Rows on disk are given up only when they can be read again, or by order. */
static void check_rows_survive(const struct scene *scene)
{
    const struct identity_facts *facts = &scene->facts;
    const struct identity_decision *decision = &scene->decision;
    if (facts->stored == NULL || decision->use_store || decision->verdict == IDENTITY_HOLD || facts->accept) {
        return;
    }
    assert_int_equal(decision->verdict, IDENTITY_START);
    assert_true(decision->position <= scene->kafka.low_offset || facts->stored_position <= scene->kafka.low_offset);
}

static void test_random_facts(void **state)
{
    (void)state;
    struct random random = random_new(8);
    unsigned verdicts[3] = {0};
    unsigned plain = 0;
    for (int i = 0; i < 300000; i++) {
        struct scene scene;
        make_facts(&random, &scene);
        const struct identity_decision *decision = decide(&scene);
        verdicts[decision->verdict]++;
        if (decision->verdict == IDENTITY_START) {
            check_nothing_is_skipped(&scene);
            check_rules(&scene);
            plain += !decision->refire;
        } else {
            assert_string_not_equal(decision->text, "");
            assert_true(decision->verdict == IDENTITY_HOLD || decision->use_store);
            assert_true(scene.facts.accept || strstr(decision->text, "--accept-change") != NULL);
        }
        assert_true(decision->verdict != IDENTITY_HOLD || !scene.facts.accept); /* who accepts gets on */
        check_rows_survive(&scene);
    }
    assert_true(verdicts[0] > 10000 && verdicts[1] > 10000 && verdicts[2] > 10000 && plain > 10000);
}

/* One life of a partition with changes of configuration, lost disks and starts. */
#define OFFSETS 200

struct life {
    struct scene scene;
    struct metadata frontier;   /* as committed, and as in the checkpoint */
    uint64_t read_by[OFFSETS];  /* by offset: the rules of its last decoding */
    int64_t position;
    unsigned lost_disks;
};

static void set_facts(struct random *random, struct life *life, bool first)
{
    struct scene *scene = &life->scene;
    bool lost = random_below(random, 4) == 0;
    life->lost_disks += lost;
    scene->stored = life->frontier;
    scene->kafka = life->frontier;
    scene->facts = (struct identity_facts){
        .accept = random_below(random, 4) == 0,
        .cluster = "here",
        .fingerprint = RULES + random_below(random, 3),
        .end = OFFSETS,
        .committed = first ? -1 : life->position,
        .kafka = first ? NULL : &scene->kafka,
        .stored = first || lost ? NULL : &scene->stored,
        .stored_position = life->position,
    };
}

/* Reads on for a while and commits. */
static void read_on(struct random *random, struct life *life)
{
    const struct identity_decision *decision = &life->scene.decision;
    int64_t end = life->position + random_between(random, 0, 20);
    for (int64_t offset = decision->position; offset < end; offset++) {
        life->read_by[offset] = life->scene.facts.fingerprint;
    }
    life->position = end;
    life->frontier = decision->frontier;
    life->frontier.low_offset = random_between(random, decision->frontier.low_offset, end);
    life->frontier.shared = (struct frontier_pair){{end, 0}, end};
}

/* What F's identity says of a record's rules is what it was decoded by, and a record is not decoded by others unasked. */
static void test_rules_are_remembered(void **state)
{
    (void)state;
    struct random random = random_new(80);
    static struct life life;
    unsigned lost_disks = 0;
    for (int n = 0; n < 3000; n++) {
        memset(&life, 0, sizeof(life));
        for (int start = 0; start < 8; start++) {
            set_facts(&random, &life, start == 0);
            const struct identity_decision *decision = decide(&life.scene);
            if (decision->verdict != IDENTITY_START) {
                assert_int_equal(decision->verdict, IDENTITY_HOLD);
                continue;
            }
            for (int64_t offset = decision->position; offset < life.position && !decision->refire; offset++) {
                assert_int_equal(life.read_by[offset], life.scene.facts.fingerprint);
            }
            read_on(&random, &life);
            for (int64_t offset = life.frontier.low_offset; offset < life.position; offset++) {
                uint64_t said = rules_of(&life.frontier.identity, offset);
                assert_true(said == life.read_by[offset] || said > RULES_LAST); /* greater: of several changes */
            }
        }
        lost_disks += life.lost_disks;
    }
    assert_true(lost_disks > 1000);
}

/* The group and the checkpoint say the same progress: the group's is the later one in what is no progress, a pause and a move. */
static void test_of_two_that_say_the_same(void **state)
{
    (void)state;
    struct random random = random_new(45);
    static struct scene scene;
    make_facts(&random, &scene);
    memset(&scene.kafka, 0, sizeof(scene.kafka));
    memcpy(scene.kafka.identity.cluster, "here", sizeof("here"));
    scene.kafka.identity.fingerprint = RULES;
    scene.kafka.low_offset = 5;
    scene.kafka.anchor.offset = 9;
    scene.kafka.shared = (struct frontier_pair){{7, 0}, 10};
    scene.kafka.lane_count = 1;
    scene.kafka.lanes[0].name[0] = 'x';
    scene.kafka.lanes[0].frontier = frontier_of(scene.kafka.shared);
    scene.stored = scene.kafka;
    scene.kafka.lanes[0].paused = true;
    scene.kafka.moving = true;
    scene.facts = (struct identity_facts){.cluster = "here", .fingerprint = RULES, .end = 20, .committed = 10, .kafka = &scene.kafka, .kafka_anchor = IDENTITY_ANCHOR_MATCHES,
                                          .stored = &scene.stored, .stored_position = 10, .stored_anchor = IDENTITY_ANCHOR_MATCHES};
    assert_true(decide(&scene)->use_store);
    assert_true(scene.decision.frontier.moving);
    assert_true(scene.decision.frontier.lanes[0].paused);
}

static struct frontier small_frontier(struct random *random)
{
    return frontier_of((struct frontier_pair){{random_between(random, 0, 5), 0}, random_between(random, 5, 8)});
}

/* Any frontier of lanes "x" and "y", in small numbers, with a catch-up boundary or without. */
static void make_frontier(struct random *random, struct metadata *metadata)
{
    *metadata = (struct metadata){.identity = {.cluster = "here", .fingerprint = RULES}, .low_offset = random_between(random, 0, 1)};
    metadata->anchor.offset = -1;
    metadata->shared = small_frontier(random).live;
    metadata->lane_count = (uint16_t)random_below(random, 3);
    metadata->behind_count = (uint16_t)random_below(random, 3);
    metadata->boundary_ms = metadata->behind_count == 0 ? 0 : random_between(random, 1, 4);
    for (uint16_t i = 0; i < 2; i++) {
        metadata->lanes[i].name[0] = (char)('x' + i);
        metadata->lanes[i].frontier = small_frontier(random);
        metadata->behind[i].name[0] = (char)('y' - i);
        metadata->behind[i].frontier = small_frontier(random);
    }
}

static const struct frontier *named(const struct metadata_lane *lanes, uint16_t count, char name)
{
    const struct frontier *found = NULL;
    for (uint16_t i = 0; i < count; i++) {
        found = lanes[i].name[0] == name ? &lanes[i].frontier : found;
    }
    return found;
}

static bool says_done(const struct metadata *metadata, char lane, int64_t offset, int64_t due_ms)
{
    const struct frontier *behind = due_ms <= metadata->boundary_ms ? named(metadata->behind, metadata->behind_count, lane) : NULL;
    const struct frontier *own = named(metadata->lanes, metadata->lane_count, lane);
    struct frontier shared = frontier_of(metadata->shared);
    return offset < metadata->low_offset || frontier_done(behind != NULL ? behind : own != NULL ? own : &shared, offset, due_ms);
}

/* The checkpoint's frontier counts before the group's only if it says all that that one says, of every lane and on either side of a boundary. */
static void test_the_one_that_says_more(void **state)
{
    (void)state;
    struct random random = random_new(81);
    static struct scene scene;
    unsigned stored = 0;
    for (int i = 0; i < 60000; i++) {
        memset(&scene, 0, sizeof(scene));
        make_frontier(&random, &scene.kafka);
        make_frontier(&random, &scene.stored);
        scene.facts = (struct identity_facts){.cluster = "here", .fingerprint = RULES, .end = 20, .committed = 5, .kafka = &scene.kafka,
                                              .stored = &scene.stored, .stored_position = 9};
        const struct identity_decision *decision = decide(&scene);
        assert_int_equal(decision->verdict, IDENTITY_START);
        bool same = memcmp(&decision->frontier.shared, &scene.kafka.shared, sizeof(scene.kafka.shared)) == 0 &&
                    memcmp(decision->frontier.lanes, scene.kafka.lanes, sizeof(scene.kafka.lanes)) == 0 &&
                    memcmp(decision->frontier.behind, scene.kafka.behind, sizeof(scene.kafka.behind)) == 0;
        stored += !same;
        for (int64_t offset = 0; offset < 9 && !same; offset++) {
            for (int64_t due_ms = 0; due_ms < 7; due_ms++) {
                for (char lane = 'x'; lane <= 'z'; lane++) {
                    assert_true(!says_done(&scene.kafka, lane, offset, due_ms) || says_done(&decision->frontier, lane, offset, due_ms));
                }
            }
        }
    }
    assert_true(stored > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_one_that_says_more),
        cmocka_unit_test(test_random_facts),
        cmocka_unit_test(test_rules_are_remembered),
        cmocka_unit_test(test_of_two_that_say_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
