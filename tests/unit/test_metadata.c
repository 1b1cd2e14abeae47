/* The metadata string: there and back, strict, bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "scheduler/frontier.h"
#include "scheduler/metadata.h"

static int64_t random_number(struct random *random)
{
    static const int64_t special[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX, 1764425569123};
    if (random_below(random, 3) == 0) {
        return special[random_below(random, 8)];
    }
    return (int64_t)(random_next(random) >> random_below(random, 64));
}

static struct frontier_pair random_pair(struct random *random)
{
    struct key point = {random_number(random), random_number(random)};
    return (struct frontier_pair){random_below(random, 4) == 0 ? KEY_LEAST : point, random_number(random)};
}

static void random_lane(struct random *random, struct metadata_lane *lane, unsigned number)
{
    static const char letters[] = "abcXYZ019_-";
    size_t length = 1 + random_below(random, 8);
    for (size_t i = 0; i < length; i++) {
        lane->name[i] = letters[random_below(random, sizeof(letters) - 1)];
    }
    lane->name[length] = '_'; /* and a number, so that names differ */
    lane->name[length + 1] = (char)('a' + number / 16);
    lane->name[length + 2] = (char)('a' + number % 16);
    lane->paused = random_below(random, 8) == 0;
    lane->frontier.live = random_pair(random);
    lane->frontier.old_count = (uint8_t)random_below(random, FRONTIER_PAIRS_MAX + 1);
    for (size_t i = 0; i < lane->frontier.old_count; i++) {
        lane->frontier.old[i] = random_pair(random);
    }
}

static void fill_random(struct random *random, struct metadata *metadata, unsigned lanes)
{
    memset(metadata, 0, sizeof(*metadata));
    size_t length = random_below(random, METADATA_CLUSTER_MAX);
    for (size_t i = 0; i < length; i++) {
        metadata->identity.cluster[i] =
            (char)(uint8_t)random_between(random, random_below(random, 2) == 0 ? 1 : 'A', 255);
    }
    metadata->identity.fingerprint = random_next(random);
    if (random_below(random, 2) == 0) {
        metadata->identity.fingerprint_before = random_next(random) >> random_below(random, 64);
        metadata->identity.changed_at = random_number(random);
    }
    metadata->low_offset = random_number(random);
    metadata->anchor = (struct anchor){random_number(random), random_number(random), (uint32_t)random_next(random)};
    metadata->moving = random_below(random, 4) == 0;
    metadata->shared = random_pair(random);
    metadata->lane_count = (uint16_t)lanes;
    for (unsigned i = 0; i < lanes; i++) {
        random_lane(random, &metadata->lanes[i], i);
    }
    metadata->behind_count = random_below(random, 3) == 0 ? (uint16_t)random_below(random, CATCH_UP_MAX + 1) : 0;
    metadata->boundary_ms = metadata->behind_count == 0 ? 0 : random_between(random, 1, INT64_MAX);
    for (unsigned i = 0; i < metadata->behind_count; i++) {
        random_lane(random, &metadata->behind[i], i);
        metadata->behind[i].paused = false; /* the lane's own entry says it for both */
    }
}

static size_t worst_of(const struct metadata *metadata)
{
    const char *names[LANES_MAX];
    size_t old_pairs = 0;
    for (size_t i = 0; i < metadata->lane_count; i++) {
        names[i] = metadata->lanes[i].name;
        old_pairs += metadata->lanes[i].frontier.old_count;
    }
    for (size_t i = 0; i < metadata->behind_count; i++) {
        old_pairs += 2U + metadata->behind[i].frontier.old_count;
    }
    old_pairs += metadata->behind_count > 0; /* the boundary */
    return metadata_worst_case(names, metadata->lane_count) + old_pairs * METADATA_PAIR_WORST;
}

/* Heap copies of the exact length let the address sanitizer see a byte too far. */
static bool decode(const char *text, size_t length, struct metadata *metadata, struct error *error)
{
    uint8_t *copy = memory_new(length, 1);
    memcpy(copy, text, length);
    bool decoded = metadata_decode((struct span){copy, length}, metadata, error);
    free(copy);
    return decoded;
}

static void test_there_and_back(void **state)
{
    (void)state;
    struct random random = random_new(41);
    static struct metadata before, after;
    char text[METADATA_MAX + 1], again[METADATA_MAX + 1];
    struct error error;
    unsigned fitted = 0;
    for (unsigned i = 0; i < 20000; i++) {
        fill_random(&random, &before, (unsigned)random_below(&random, 24));
        size_t length = metadata_encode(&before, text, sizeof(text));
        if (length == 0) {
            assert_true(worst_of(&before) > METADATA_MAX);
            continue;
        }
        fitted++;
        assert_int_equal(length, strlen(text));
        assert_true(length <= worst_of(&before));
        memset(&after, 0xee, sizeof(after));
        assert_true(decode(text, length, &after, &error));
        assert_int_equal(metadata_encode(&after, again, sizeof(again)), length);
        assert_string_equal(again, text);
        assert_memory_equal(&after.identity.cluster, &before.identity.cluster, METADATA_CLUSTER_MAX);
        assert_int_equal(after.identity.changed_at, before.identity.changed_at);
        assert_int_equal(after.anchor.timestamp_ms, before.anchor.timestamp_ms);
        assert_int_equal(after.lane_count, before.lane_count);
        assert_int_equal(after.moving, before.moving);
        for (size_t lane = 0; lane < before.lane_count; lane++) {
            assert_memory_equal(&after.lanes[lane].frontier.live, &before.lanes[lane].frontier.live,
                                sizeof(struct frontier_pair));
            assert_int_equal(after.lanes[lane].paused, before.lanes[lane].paused);
        }
        assert_int_equal(after.behind_count, before.behind_count);
        assert_int_equal(after.boundary_ms, before.boundary_ms);
        for (size_t lane = 0; lane < before.behind_count; lane++) {
            assert_string_equal(after.behind[lane].name, before.behind[lane].name);
            assert_true(frontier_equal(&after.behind[lane].frontier, &before.behind[lane].frontier));
        }
    }
    assert_true(fitted > 10000);
}

static void make_sample(struct metadata *metadata)
{
    memset(metadata, 0, sizeof(*metadata));
    memcpy(metadata->identity.cluster, "MkU3OEVBNTcwNTJENDM2Qg", 23);
    metadata->identity.fingerprint = UINT64_C(0x00c0ffee12345678);
    metadata->low_offset = 4700;
    metadata->anchor = (struct anchor){4719, 1764425569123, 0xbadcafe};
    metadata->shared = (struct frontier_pair){{1764425569123, 4711}, 4720};
    metadata->lane_count = 2;
    memcpy(metadata->lanes[0].name, "orders", 7);
    metadata->lanes[0].frontier = (struct frontier){{KEY_LEAST, 4720}, {{{1764425570000, 4600}, 4700}}, 1};
    memcpy(metadata->lanes[1].name, "_refused", 9);
    metadata->lanes[1].frontier = (struct frontier){.live = {{0, 4690}, 4720}};
}

static void test_what_it_looks_like(void **state)
{
    (void)state;
    static struct metadata metadata;
    make_sample(&metadata);
    char text[METADATA_MAX + 1];
    assert_true(metadata_encode(&metadata, text, sizeof(text)) > 0);
    assert_string_equal(text,
                        "tarry1 cluster=MkU3OEVBNTcwNTJENDM2Qg fingerprint=00c0ffee12345678 low=4700 "
                        "anchor=4719:1764425569123:0badcafe "
                        "shared=1764425569123:4711<4720 orders=-<4720|1764425570000:4600<4700 _refused=0:4690<4720");
    metadata.boundary_ms = 1764425564159;
    metadata.behind_count = 1;
    memcpy(metadata.behind[0].name, "orders", 7);
    metadata.behind[0].frontier = (struct frontier){.live = {{1764420000000, 12}, 4720}};
    assert_true(metadata_encode(&metadata, text, sizeof(text)) > 0);
    assert_string_equal(text,
                        "tarry2 cluster=MkU3OEVBNTcwNTJENDM2Qg fingerprint=00c0ffee12345678 low=4700 "
                        "anchor=4719:1764425569123:0badcafe boundary=1764425564159 "
                        "shared=1764425569123:4711<4720 orders=-<4720|1764425570000:4600<4700 _refused=0:4690<4720 ~orders=1764420000000:12<4720");
}

/* What only version 2 can say makes it a text of version 2. */
static void test_what_version_2_looks_like(void **state)
{
    (void)state;
    static struct metadata metadata;
    char text[METADATA_MAX + 1];
    make_sample(&metadata);
    metadata.lanes[0].paused = true;
    assert_true(metadata_encode(&metadata, text, sizeof(text)) > 0);
    assert_memory_equal(text, "tarry2 cluster=", 15);
    assert_non_null(strstr(text, ":0badcafe shared=1764425569123:4711<4720 orders=-<4720|1764425570000:4600<4700! _refused=0:4690<4720"));
    metadata.lanes[0].paused = false;
    metadata.moving = true;
    assert_true(metadata_encode(&metadata, text, sizeof(text)) > 0);
    assert_memory_equal(text, "tarry2 cluster=", 15);
    assert_non_null(strstr(text, ":0badcafe moving=1 shared=1764425569123:4711<4720 orders=-<4720|1764425570000:4600<4700 _refused"));
}

static void test_worst_case_is_reached_and_not_exceeded(void **state)
{
    (void)state;
    static struct metadata metadata;
    memset(&metadata, 0, sizeof(metadata));
    memset(metadata.identity.cluster, ' ', METADATA_CLUSTER_MAX - 1);
    metadata.identity.fingerprint_before = 1;
    metadata.identity.changed_at = INT64_MIN;
    metadata.low_offset = INT64_MIN;
    metadata.anchor = (struct anchor){INT64_MIN, INT64_MIN, UINT32_MAX};
    metadata.shared = (struct frontier_pair){{INT64_MIN, INT64_MIN}, INT64_MIN};
    metadata.moving = true;
    metadata.lane_count = 2;
    metadata.lanes[0].paused = true;
    metadata.lanes[1].paused = true;
    memset(metadata.lanes[0].name, 'x', METADATA_LANE_NAME_MAX);
    memcpy(metadata.lanes[1].name, "y", 2);
    metadata.lanes[0].frontier.live = metadata.shared;
    metadata.lanes[1].frontier.live = metadata.shared;
    const char *names[] = {metadata.lanes[0].name, metadata.lanes[1].name};
    size_t worst = metadata_worst_case(names, 2);
    static char text[METADATA_MAX + 1];
    assert_int_equal(metadata_encode(&metadata, text, sizeof(text)), worst);
    assert_int_equal(metadata_encode(&metadata, text, worst + 1), worst);
    assert_int_equal(metadata_encode(&metadata, text, worst), 0);
    metadata.lanes[0].frontier.old[0] = metadata.shared;
    metadata.lanes[0].frontier.old_count = 1;
    assert_int_equal(metadata_encode(&metadata, text, sizeof(text)), worst + METADATA_PAIR_WORST - 1);
}

static void test_what_encode_refuses(void **state)
{
    (void)state;
    static struct metadata metadata;
    char text[METADATA_MAX + 1];
    make_sample(&metadata);
    assert_int_equal(metadata_encode(&metadata, text, 0), 0);
    for (size_t size = 1; size <= metadata_encode(&metadata, text, sizeof(text)); size++) {
        char *exact = memory_new(size, 1);
        assert_int_equal(metadata_encode(&metadata, exact, size), 0);
        free(exact);
    }
    metadata.lanes[0].name[2] = ' ';
    assert_int_equal(metadata_encode(&metadata, text, sizeof(text)), 0);
    metadata.lanes[0].name[0] = '\0';
    assert_int_equal(metadata_encode(&metadata, text, sizeof(text)), 0);
    make_sample(&metadata);
    memset(metadata.identity.cluster, 'c', METADATA_CLUSTER_MAX);
    assert_int_equal(metadata_encode(&metadata, text, sizeof(text)), 0);
}

#define BOUNDED(boundary, rest) \
    "tarry2 cluster= fingerprint=0000000000000000 low=1 anchor=-1:0:00000000 boundary=" boundary " shared=1:2<3" rest
#define REST " low=1 anchor=-1:0:00000000 shared="
#define HEAD "tarry1 cluster=c fingerprint=0123456789abcdef" REST

static void test_bad_texts(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        " ",
        "x",
        "tarry",
        "tarry1",
        "tarry1 ",
        "tarry0 cluster=c",
        "tarry01 cluster=c",
        "tarry-1",
        "Tarry1 cluster=c",
        HEAD,
        HEAD "1",
        HEAD "1:2",
        HEAD "1:2<",
        HEAD "1:2<3 ",
        HEAD "1:2<3  a=1:2<3",
        HEAD "1:2<3 a",
        HEAD "1:2<3 a=",
        HEAD "1:2<3 =1:2<3",
        HEAD "1:2<3 a=1:2<3|",
        HEAD "1:2<3 a=1:2<3 a=1:2<3",
        HEAD "1:2<3|1:2<3",
        HEAD "1:2<3 a=1:2<3\n",
        HEAD "1:2<+3",
        HEAD "1:2<03",
        HEAD "1:2<-0",
        HEAD "1:2<3 a.b=1:2<3",
        HEAD "1:2<9223372036854775808",
        HEAD "1:2<-9223372036854775809",
        HEAD "-9223372036854775808:-1<3",
        HEAD "-",
        HEAD "-<",
        HEAD "1:2<3 a=-<1|-<1|-<1|-<1|-<1|-<1",
        "tarry1 cluster=c fingerprint=0123456789ABCDEF" REST "1:2<3",
        "tarry1 cluster=c fingerprint=0123456789abcde" REST "1:2<3",
        "tarry1 cluster=c fingerprint=0123456789abcdef before=0000000000000000@0" REST "1:2<3",
        "tarry1 cluster=%63 fingerprint=0123456789abcdef" REST "1:2<3",
        "tarry1 cluster=%00 fingerprint=0123456789abcdef" REST "1:2<3",
        "tarry1 cluster=%2 fingerprint=0123456789abcdef" REST "1:2<3",
        "tarry1 cluster=a\tb fingerprint=0123456789abcdef" REST "1:2<3",
        "tarry2 cluster=c fingerprint=0123456789abcdef" REST "1:2<3 a=1:2<3", /* nothing in it needs version 2 */
        HEAD "1:2<3 a=1:2<3!",
        HEAD "1:2<3!",
        "tarry2 cluster=c fingerprint=0123456789abcdef" REST "1:2<3 a=1:2<3!!",
        "tarry2 cluster=c fingerprint=0123456789abcdef" REST "1:2<3 a=1:2<3!|1:2<3",
        "tarry1 cluster=c fingerprint=0123456789abcdef low=1 anchor=-1:0:00000000 moving=1 shared=1:2<3",
        "tarry2 cluster=c fingerprint=0123456789abcdef low=1 anchor=-1:0:00000000 moving=0 shared=1:2<3",
    };
    static struct metadata metadata;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error error = {ERROR_NONE, ""};
        metadata.low_offset = 77;
        assert_false(decode(bad[i], strlen(bad[i]), &metadata, &error));
        assert_int_equal(error.code, ERROR_INVALID);
        assert_true(strlen(error.text) > 20);
        assert_int_equal(metadata.low_offset, 77); /* untouched */
    }
    struct error error;
    assert_true(decode(HEAD "1:2<3", strlen(HEAD "1:2<3"), &metadata, &error));
    assert_true(decode(HEAD "-<3 a=-<-1", strlen(HEAD "-<3 a=-<-1"), &metadata, &error));
    assert_false(metadata_decode(SPAN_ABSENT, &metadata, &error));
    static char huge[METADATA_MAX + 1];
    memset(huge, 'x', sizeof(huge));
    assert_false(decode(huge, sizeof(huge), &metadata, &error));
}

static void test_bad_boundaries(void **state)
{
    (void)state;
    static struct metadata metadata;
    struct error error;
    static const char *const bounded_bad[] = {
        BOUNDED("1", ""),                     /* nothing behind it */
        BOUNDED("1", " a=1:2<3"),
        BOUNDED("0", " ~a=1:2<3"),            /* 0 is none */
        BOUNDED("1", " ~a=1:2<3 ~a=1:2<3"),   /* twice */
        BOUNDED("1", " ~a=1:2<3 b=1:2<3"),    /* the lanes' own stand first */
        BOUNDED("1", " ~a=1:2<3!"),           /* its own entry says that */
        BOUNDED("1 moving=1", " ~a=1:2<3"),   /* the other way round */
        "tarry2 cluster= fingerprint=0000000000000000" REST "1:2<3",
        "tarry2 cluster= fingerprint=0000000000000000" REST "1:2<3 ~a=1:2<3",
        "tarry1 cluster= fingerprint=0000000000000000 low=1 anchor=-1:0:00000000 boundary=1 shared=1:2<3 ~a=1:2<3",
    };
    for (size_t i = 0; i < sizeof(bounded_bad) / sizeof(bounded_bad[0]); i++) {
        assert_false(decode(bounded_bad[i], strlen(bounded_bad[i]), &metadata, &error));
        assert_int_equal(error.code, ERROR_INVALID);
    }
    static const char bounded[] = BOUNDED("1", " a=1:2<3 ~a=1:2<3|1:2<3");
    assert_true(decode(bounded, strlen(bounded), &metadata, &error));
}

static void test_newer_versions_say_so(void **state)
{
    (void)state;
    static struct metadata metadata;
    static const char *const newer[] = {"tarry3", "tarry3 anything", "tarry10 cluster=", "tarry9223372036854775807"};
    for (size_t i = 0; i < 4; i++) {
        struct error error;
        assert_false(decode(newer[i], strlen(newer[i]), &metadata, &error));
        assert_int_equal(error.code, ERROR_TOO_NEW);
    }
}

static void mutate(struct random *random, char *text, size_t *length)
{
    static const char letters[] = "tarry12 =:<|-!@%~0123456789abcdefshlow\n\xff";
    size_t at = random_below(random, *length);
    switch (random_below(random, 4)) {
    case 0: /* another byte */
        text[at] = letters[random_below(random, sizeof(letters))];
        break;
    case 1: /* one byte less */
        memmove(text + at, text + at + 1, *length - at - 1);
        (*length)--;
        break;
    case 2: /* one byte more */
        memmove(text + at + 1, text + at, *length - at);
        text[at] = letters[random_below(random, sizeof(letters))];
        (*length)++;
        break;
    default: /* cut off */
        *length = at + 1;
        break;
    }
}

/* What is accepted is written again as it was, whatever was done to it. */
static void test_mutations(void **state)
{
    (void)state;
    struct random random = random_new(43);
    static struct metadata metadata;
    static char text[2 * METADATA_MAX], again[METADATA_MAX + 1];
    unsigned accepted = 0;
    for (unsigned i = 0; i < 60000; i++) {
        if (i % 4 == 0) {
            make_sample(&metadata);
        } else {
            fill_random(&random, &metadata, 2);
        }
        size_t length = metadata_encode(&metadata, text, METADATA_MAX + 1);
        for (uint64_t changes = 1 + random_below(&random, 3); changes > 0 && length > 1; changes--) {
            mutate(&random, text, &length);
        }
        struct error error;
        if (decode(text, length, &metadata, &error)) {
            accepted++;
            assert_int_equal(metadata_encode(&metadata, again, sizeof(again)), length);
            assert_memory_equal(again, text, length);
        }
    }
    assert_in_range(accepted, 1000, 50000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_what_it_looks_like),
        cmocka_unit_test(test_what_version_2_looks_like),
        cmocka_unit_test(test_worst_case_is_reached_and_not_exceeded),
        cmocka_unit_test(test_what_encode_refuses),
        cmocka_unit_test(test_bad_texts),
        cmocka_unit_test(test_bad_boundaries),
        cmocka_unit_test(test_newer_versions_say_so),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
