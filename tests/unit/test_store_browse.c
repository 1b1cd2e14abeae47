/* Looking through the checkpoint: what a snapshot shows, that it stays as it is, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/memory.h"
#include "scheduler/bucket.h"
#include "store/store_browse.h"
#include "store/store_internal.h"
#include "support/store_case.h"

#define NOW INT64_C(1800000000000)
#define ROWS 4000

/* What a call showed. */
struct seen {
    size_t count;
    int64_t offsets[ROWS];
    int64_t dues[ROWS];
    uint16_t lanes[ROWS];
    struct bucket_id buckets[ROWS];
    struct record_id ids[ROWS];
    uint64_t bytes;
    size_t stop_after; /* `each` says false at that many; 0: never */
};

struct listed {
    size_t count;
    char topics[8][32];
    int32_t numbers[8];
    uint32_t ids[8];
    int64_t positions[8];
    char metadata[8][32];
};

static int new_case(void **state)
{
    *state = store_case_new();
    store_case_open(*state);
    return 0;
}

static int free_case(void **state)
{
    store_case_free(*state);
    return 0;
}

static void list_partition(const struct store_browse_partition *partition, void *context)
{
    struct listed *listed = context;
    size_t at = listed->count++;
    assert_true(at < 8);
    (void)snprintf(listed->topics[at], sizeof(listed->topics[at]), "%s", partition->topic);
    (void)snprintf(listed->metadata[at], sizeof(listed->metadata[at]), "%s", partition->metadata);
    listed->numbers[at] = partition->partition;
    listed->ids[at] = partition->id;
    listed->positions[at] = partition->position;
}

static struct listed list(struct store_browse *browse)
{
    struct listed listed = {0};
    struct error error = {0};
    assert_true(store_browse_partitions(browse, list_partition, &listed, &error));
    return listed;
}

static bool see(const struct store_browse_row *row, void *context)
{
    struct seen *seen = context;
    size_t at = seen->count++;
    assert_true(at < ROWS);
    seen->offsets[at] = row->offset;
    seen->dues[at] = row->due_ms;
    seen->lanes[at] = row->lane_id;
    seen->buckets[at] = row->bucket;
    seen->ids[at] = row->id;
    seen->bytes += row->bytes.length;
    return seen->count != seen->stop_after;
}

static void see_bucket(uint16_t lane_id, const struct bucket_stats *stats, void *context)
{
    struct seen *seen = context;
    size_t at = seen->count++;
    seen->lanes[at] = lane_id;
    seen->buckets[at] = stats->id;
    seen->offsets[at] = (int64_t)stats->count;
    seen->bytes += stats->bytes;
}

static struct store_browse *look(struct store_case *test)
{
    struct store_browse *browse = store_browse_open(test->store, &test->error);
    assert_non_null(browse);
    return browse;
}

/* Opened before there is anything, a store shows nothing. */
static void test_empty(void **state)
{
    struct store_case *test = *state;
    struct store_browse *browse = look(test);
    struct seen *seen = memory_new(1, sizeof(*seen));
    assert_int_equal(list(browse).count, 0);
    assert_null(store_browse_lane(browse, 1));
    assert_true(store_browse_buckets(browse, 1, see_bucket, seen, &test->error));
    int64_t next = 7;
    assert_true(store_browse_rows(browse, 1, 1, 0, 5, 0, 10, see, seen, &next, &test->error));
    assert_int_equal(next, -1);
    assert_true(store_browse_find(browse, 1, 1, NOW, 5, see, seen, &test->error));
    assert_int_equal(seen->count, 0);
    free(seen);
    store_browse_close(browse);
    store_browse_close(NULL);
}

static void put_one(struct store_case *test, lane_index lane, uint8_t level, int64_t offset, int64_t due_ms)
{
    store_case_put(test, store_case_bucket(lane, level, due_ms), offset, due_ms, store_case_ref((uint32_t)offset, (uint32_t)(100 + offset)));
}

static void test_partitions_and_lanes(void **state)
{
    struct store_case *test = *state;
    test->metadata = "zero";
    put_one(test, 0, 0, 1, NOW);
    store_case_write(test, 0, 10);
    test->metadata = "one";
    put_one(test, 1, 0, 2, NOW);
    store_case_write(test, 1, 20);
    struct store_browse *browse = look(test);
    struct listed listed = list(browse);
    assert_int_equal(listed.count, 2);
    assert_string_equal(listed.topics[0], "t");
    assert_string_equal(listed.metadata[0], "zero");
    assert_int_equal(listed.numbers[0], 0);
    assert_int_equal(listed.positions[0], 10);
    assert_string_equal(listed.metadata[1], "one");
    assert_int_equal(listed.numbers[1], 1);
    assert_int_equal(listed.positions[1], 20);
    assert_int_not_equal(listed.ids[0], listed.ids[1]);
    struct seen *seen = memory_new(1, sizeof(*seen));
    assert_true(store_browse_buckets(browse, listed.ids[1], see_bucket, seen, &test->error));
    assert_int_equal(seen->count, 1);
    assert_string_equal(store_browse_lane(browse, seen->lanes[0]), "orders");
    assert_null(store_browse_lane(browse, 999));
    free(seen);
    store_browse_close(browse);
}

/* Names come from the snapshot: in a store that was opened and not bound, too. */
static void test_nothing_bound(void **state)
{
    struct store_case *test = *state;
    test->metadata = "m";
    put_one(test, 1, 0, 2, NOW);
    store_case_write(test, 1, 20);
    store_case_close(test);
    store_case_open_bare(test);
    struct store_browse *browse = look(test);
    struct listed listed = list(browse);
    assert_int_equal(listed.count, 1);
    assert_int_equal(listed.numbers[0], 1);
    struct seen *seen = memory_new(1, sizeof(*seen));
    assert_true(store_browse_buckets(browse, listed.ids[0], see_bucket, seen, &test->error));
    assert_string_equal(store_browse_lane(browse, seen->lanes[0]), "orders");
    free(seen);
    store_browse_close(browse);
}

/* The ids of slot 0's partition and of lane 0. */
static uint32_t ids_of_slot(struct store_browse *browse, uint16_t *lane)
{
    struct listed listed = list(browse);
    assert_true(listed.count > 0);
    *lane = 0;
    for (uint16_t id = 1; id < 4; id++) {
        const char *name = store_browse_lane(browse, id);
        *lane = name != NULL && strcmp(name, "default") == 0 ? id : *lane;
    }
    assert_int_not_equal(*lane, 0);
    return listed.ids[0];
}

static void test_rows_in_slices(void **state)
{
    struct store_case *test = *state;
    test->metadata = "m";
    for (int64_t i = 0; i < 25; i++) {
        put_one(test, 0, 1, i * 2, NOW + i % 7);
        put_one(test, 1, 1, i * 2 + 1, NOW + i % 7);
    }
    store_case_name(test, (struct record_id){7, 9}, -1);
    store_case_write(test, 0, 50);
    struct store_browse *browse = look(test);
    uint16_t lane;
    uint32_t partition = ids_of_slot(browse, &lane);
    struct bucket_id bucket = store_case_bucket(0, 1, NOW);
    struct seen *seen = memory_new(1, sizeof(*seen));
    int64_t next = 0;
    int calls = 0;
    for (; next >= 0; calls++) {
        assert_true(store_browse_rows(browse, partition, lane, 1, bucket.number, next, 10, see, seen, &next, &test->error));
    }
    assert_int_equal(calls, 3);
    assert_int_equal(seen->count, 25);
    for (int64_t i = 0; i < 25; i++) {
        assert_int_equal(seen->offsets[i], i * 2);
        assert_int_equal(seen->dues[i], NOW + i % 7);
        assert_int_equal(seen->buckets[i].level, 1);
        assert_int_equal(seen->buckets[i].number, bucket.number);
        assert_true(record_id_is_none(seen->ids[i]));
    }
    assert_int_equal(seen->bytes, 25 * 100 + 24 * 25);
    *seen = (struct seen){.stop_after = 4};
    assert_true(store_browse_rows(browse, partition, lane, 1, bucket.number, 11, 10, see, seen, &next, &test->error));
    assert_int_equal(seen->count, 4);
    assert_int_equal(seen->offsets[0], 12);
    assert_int_equal(next, 19);
    free(seen);
    store_browse_close(browse);
}

/* A row is found where splits have put it; with another due or lane it is another one; gone is gone. */
static void test_find(void **state)
{
    struct store_case *test = *state;
    test->metadata = "m";
    for (int64_t i = 0; i < 20; i++) {
        put_one(test, 0, 2, i, NOW + i * 100000);
    }
    store_case_write(test, 0, 20);
    struct store_browse *browse = look(test);
    struct seen *seen = memory_new(1, sizeof(*seen));
    uint16_t lane;
    uint32_t partition = ids_of_slot(browse, &lane);
    for (uint8_t level = 3; level-- > 0;) {
        assert_true(store_browse_renew(browse, &test->error));
        *seen = (struct seen){0};
        assert_true(store_browse_find(browse, partition, lane, NOW + 500000, 5, see, seen, &test->error));
        assert_int_equal(seen->count, 1);
        assert_int_equal(seen->offsets[0], 5);
        assert_int_equal(seen->buckets[0].level, level);
        assert_int_equal(seen->bytes, 105);
        if (level > 0) {
            store_case_split(test, store_case_bucket(0, level, NOW + 500000), 1000);
            store_case_write(test, 0, 20);
        }
    }
    *seen = (struct seen){0};
    assert_true(store_browse_find(browse, partition, lane, NOW + 500001, 5, see, seen, &test->error));
    assert_true(store_browse_find(browse, partition, (uint16_t)(lane + 1), NOW + 500000, 5, see, seen, &test->error));
    assert_true(store_browse_find(browse, partition, lane, NOW + 500000, -1, see, seen, &test->error));
    store_case_erase(test, 0, NOW + 500000, 5);
    store_case_write(test, 0, 20);
    assert_true(store_browse_renew(browse, &test->error));
    assert_true(store_browse_find(browse, partition, lane, NOW + 500000, 5, see, seen, &test->error));
    assert_int_equal(seen->count, 0);
    free(seen);
    store_browse_close(browse);
}

static void test_id(void **state)
{
    struct store_case *test = *state;
    struct record_id id = {3, 4};
    test->metadata = "m";
    put_one(test, 0, 0, 8, NOW);
    store_case_name(test, id, 5);
    store_case_write(test, 0, 20);
    struct store_browse *browse = look(test);
    uint16_t lane;
    uint16_t found_lane;
    uint32_t partition = ids_of_slot(browse, &lane);
    struct stored_event event;
    assert_true(store_browse_id(browse, partition, id, &event, &found_lane, &test->error));
    assert_int_equal(event.offset, 8);
    assert_int_equal(event.due_ms, NOW);
    assert_int_equal(event.root, 5);
    assert_int_equal(found_lane, lane);
    assert_true(store_browse_id(browse, partition, (struct record_id){3, 5}, &event, &found_lane, &test->error));
    assert_int_equal(event.offset, -1);
    assert_true(store_browse_id(browse, partition, RECORD_ID_NONE, &event, &found_lane, &test->error));
    assert_int_equal(event.offset, -1);
    assert_true(store_browse_id(browse, partition + 1, id, &event, &found_lane, &test->error));
    assert_int_equal(event.offset, -1);
    store_browse_close(browse);
}

/* What is written after a snapshot is not in it, until it is renewed; a forgotten partition's rows go with its name. */
static void test_snapshot_stays(void **state)
{
    struct store_case *test = *state;
    test->metadata = "before";
    put_one(test, 0, 0, 1, NOW);
    store_case_write(test, 0, 10);
    struct store_browse *browse = look(test);
    uint64_t commit = store_browse_commit(browse);
    uint16_t lane;
    uint32_t partition = ids_of_slot(browse, &lane);
    test->metadata = "after";
    store_case_drop(test, store_case_bucket(0, 0, NOW));
    put_one(test, 0, 0, 12, NOW + 100000);
    store_case_write(test, 0, 20);
    struct seen *seen = memory_new(1, sizeof(*seen));
    assert_string_equal(list(browse).metadata[0], "before");
    assert_true(store_browse_find(browse, partition, lane, NOW, 1, see, seen, &test->error));
    assert_true(store_browse_find(browse, partition, lane, NOW + 100000, 12, see, seen, &test->error));
    assert_int_equal(seen->count, 1);
    store_browse_rest(browse);
    store_browse_rest(browse);
    assert_true(store_browse_renew(browse, &test->error));
    assert_true(store_browse_commit(browse) > commit);
    commit = store_browse_commit(browse);
    assert_string_equal(list(browse).metadata[0], "after");
    *seen = (struct seen){0};
    assert_true(store_browse_buckets(browse, partition, see_bucket, seen, &test->error));
    assert_int_equal(seen->count, 1);
    assert_int_equal(seen->buckets[0].number, store_case_bucket(0, 0, NOW + 100000).number);
    assert_true(store_browse_renew(browse, &test->error));
    assert_int_equal(store_browse_commit(browse), commit);
    assert_true(store_forget_slot(test->store, 0, &test->error));
    assert_true(store_browse_renew(browse, &test->error));
    assert_int_equal(list(browse).count, 0);
    free(seen);
    store_browse_close(browse);
}

static void test_too_many(void **state)
{
    struct store_case *test = *state;
    struct store_browse *browses[STORE_BROWSES_MAX];
    struct stored_event event;
    for (size_t i = 0; i < STORE_BROWSES_MAX; i++) {
        browses[i] = look(test);
    }
    assert_null(store_browse_open(test->store, &test->error));
    assert_int_equal(test->error.code, ERROR_FULL);
    assert_non_null(strstr(test->error.text, "try again"));
    /* The owner is not held up by any of it. */
    assert_true(store_read_begin(test->store, &test->error));
    assert_true(store_find_id(test->store, 0, (struct record_id){1, 1}, &event, &test->error));
    store_read_end(test->store);
    store_browse_close(browses[3]);
    browses[3] = look(test);
    for (size_t i = 0; i < STORE_BROWSES_MAX; i++) {
        store_browse_close(browses[i]);
    }
}

static int64_t file_bytes(const struct store_case *test)
{
    char file[300];
    struct stat found;
    (void)snprintf(file, sizeof(file), "%s/data.mdb", test->path);
    assert_int_equal(stat(file, &found), 0);
    return (int64_t)found.st_size;
}

/* Plans that put as much as they drop: `plans` of them. */
static void turn_over(struct store_case *test, int64_t *plan, int plans)
{
    test->metadata = "m";
    for (int n = 0; n < plans; n++, (*plan)++) {
        for (int64_t i = 0; i < 400; i++) {
            int64_t due = NOW + *plan * 8192;
            store_case_put(test, store_case_bucket(0, 0, due), *plan * 400 + i, due, store_case_ref((uint32_t)i, 1000));
        }
        store_case_drop(test, store_case_bucket(0, 0, NOW + (*plan - 4) * 8192));
        store_case_write(test, 0, (*plan + 1) * 400);
    }
}

/* Who looks keeps pages from being used again, so the file grows; who has ended or rests does not. */
static void test_pages_are_used_again(void **state)
{
    struct store_case *test = *state;
    int64_t plan = 0;
    turn_over(test, &plan, 40);
    int64_t grown = file_bytes(test);
    struct store_browse *browse = look(test);
    store_browse_rest(browse);
    turn_over(test, &plan, 60);
    assert_int_equal(file_bytes(test), grown);
    assert_true(store_browse_renew(browse, &test->error));
    turn_over(test, &plan, 60);
    int64_t held = file_bytes(test);
    assert_true(held > grown + 8 * 1024 * 1024);
    store_browse_close(browse);
    turn_over(test, &plan, 60);
    assert_int_equal(file_bytes(test), held);
}

/* Writes a value of one's own into a database of the store. */
static void overwrite(struct store_case *test, MDB_dbi dbi, MDB_val key, size_t length)
{
    static uint8_t bytes[STORE_LAYOUT_STATS];
    MDB_txn *txn = NULL;
    MDB_val value = {length, bytes};
    memset(bytes, 0x40, sizeof(bytes)); /* a due that says "has an id" */
    assert_int_equal(mdb_txn_begin(test->store->env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
    assert_int_equal(mdb_txn_commit(txn), 0);
}

static void assert_corrupt(struct store_case *test, bool done)
{
    assert_false(done);
    assert_int_equal(test->error.code, ERROR_CORRUPT);
    assert_non_null(strstr(test->error.text, test->path));
    memset(&test->error, 0, sizeof(test->error));
}

/* A row's value that is too short, alone or for the id that it claims; the rows before it are told. */
static void test_damaged_rows(void **state)
{
    struct store_case *test = *state;
    test->metadata = "m";
    for (int64_t i = 0; i < 3; i++) {
        put_one(test, 0, 0, i, NOW);
    }
    store_case_write(test, 0, 3);
    struct store_browse *browse = look(test);
    uint16_t lane;
    uint32_t partition = ids_of_slot(browse, &lane);
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    uint8_t bytes[STORE_LAYOUT_ROW_KEY];
    store_layout_bucket_key(bytes, &(struct store_bucket){partition, lane, 0, bucket.number});
    const size_t lengths[] = {0, 1, 7, 8, 23};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct seen *seen = memory_new(1, sizeof(*seen));
        int64_t next = 0;
        store_layout_row_offset(bytes, 2);
        overwrite(test, test->store->rows, (MDB_val){sizeof(bytes), bytes}, lengths[i]);
        assert_true(store_browse_renew(browse, &test->error));
        assert_corrupt(test, store_browse_rows(browse, partition, lane, 0, bucket.number, 0, 100, see, seen, &next, &test->error));
        assert_int_equal(seen->count, 2);
        assert_corrupt(test, store_browse_find(browse, partition, lane, NOW, 2, see, seen, &test->error));
        assert_int_equal(seen->count, 2);
        free(seen);
    }
    store_browse_close(browse);
}

static void test_damaged_entries(void **state)
{
    struct store_case *test = *state;
    struct record_id id = {3, 4};
    struct seen *seen = memory_new(1, sizeof(*seen));
    struct listed listed = {0};
    struct stored_event event;
    uint16_t lane;
    test->metadata = "m";
    put_one(test, 0, 0, 1, NOW);
    store_case_name(test, id, -1);
    store_case_write(test, 0, 3);
    struct store_browse *browse = look(test);
    uint32_t partition = ids_of_slot(browse, &lane);
    uint8_t bytes[STORE_LAYOUT_NAME_KEY_MAX];
    store_layout_bucket_key(bytes, &(struct store_bucket){partition, lane, 0, store_case_bucket(0, 0, NOW).number});
    overwrite(test, test->store->buckets, (MDB_val){STORE_LAYOUT_BUCKET_KEY, bytes}, STORE_LAYOUT_STATS - 1);
    store_layout_id_key(bytes, partition, id);
    overwrite(test, test->store->ids, (MDB_val){STORE_LAYOUT_ID_KEY, bytes}, STORE_LAYOUT_EVENT + 1);
    overwrite(test, test->store->lanes, (MDB_val){3, (void *)(uintptr_t) "odd"}, 1);
    assert_true(store_browse_renew(browse, &test->error));
    assert_corrupt(test, store_browse_buckets(browse, partition, see_bucket, seen, &test->error));
    assert_corrupt(test, store_browse_id(browse, partition, id, &event, &lane, &test->error));
    assert_null(store_browse_lane(browse, 0x4040));
    size_t length = store_layout_name_key(bytes, "t", 0);
    overwrite(test, test->store->partitions, (MDB_val){length, bytes}, STORE_LAYOUT_PARTITION_HEAD - 1);
    assert_true(store_browse_renew(browse, &test->error));
    assert_corrupt(test, store_browse_partitions(browse, list_partition, &listed, &test->error));
    store_browse_close(browse);
    free(seen);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, new_case, free_case)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_empty),
        CASE(test_partitions_and_lanes),
        CASE(test_nothing_bound),
        CASE(test_rows_in_slices),
        CASE(test_find),
        CASE(test_id),
        CASE(test_snapshot_stays),
        CASE(test_too_many),
        CASE(test_pages_are_used_again),
        CASE(test_damaged_rows),
        CASE(test_damaged_entries),
    };
    return cmocka_run_group_tests_name("store_browse", tests, NULL, NULL);
}
