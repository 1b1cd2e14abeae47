/*
 * A full disk, made of a small tmpfs in a mount namespace of this program's own: reading pauses and readiness says so,
 * what is due still leaves, and when there is room again all goes on.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/random.h"
#include "tests/support/await.h"
#include "tests/support/scene.h"
#include "tests/support/temp.h"

#define DISK "size=16m"
#define VALUE_BYTES 20000
#define FIRST 100    /* due soon: these must leave while the disk is full */
#define FILLERS 2000 /* 40 MB for a disk of 16 */

static char *disk; /* where the tmpfs is mounted */

static void write_file(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text)) {
        fail_msg("cannot write %s: %s", path, strerror(errno));
    }
    close(file);
}

/* Mounts of ours are seen by us and our children only, as root or not. Before any thread exists. */
static void own_mounts(void)
{
    char map[64];
    uid_t user = geteuid();
    gid_t group = getegid();
    if (unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) {
        fail_msg("no mount namespace: %s", strerror(errno));
    }
    if (user != 0) {
        write_file("/proc/self/setgroups", "deny");
        snprintf(map, sizeof(map), "0 %u 1", user);
        write_file("/proc/self/uid_map", map);
        snprintf(map, sizeof(map), "0 %u 1", group);
        write_file("/proc/self/gid_map", map);
    }
    /* In a chroot "/" is no mount point (EINVAL): then the disk can be seen outside too, until teardown takes it off. */
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        assert_int_equal(errno, EINVAL);
    }
}

static int setup(void **state)
{
    own_mounts();
    disk = temp_directory("tarry-disk");
    if (mount("tmpfs", disk, "tmpfs", 0, DISK) != 0) {
        fail_msg("cannot mount a tmpfs: %s", strerror(errno));
    }
    return scene_group_setup(state);
}

static int teardown(void **state)
{
    int result = scene_group_teardown(state);
    umount2(disk, MNT_DETACH);
    temp_remove(disk);
    return result;
}

static void send_large(struct scene *scene, struct random *random, int64_t delay_ms)
{
    uint8_t value[VALUE_BYTES];
    random_fill(random, value, sizeof(value));
    scene_send(scene, &(struct scene_event){.delay_ms = delay_ms, .value = {value, sizeof(value)}});
}

static void disk_full(void **state)
{
    (void)state;
    char *store_path = temp_path(disk, "store");
    struct scene *scene =
        scene_open("disk", &(struct scene_options){.store_path = store_path, .more = "memory: {unwritten: 1MiB}"});
    free(store_path);
    struct random random = random_new(8);
    scene_start(scene);
    for (int i = 0; i < FIRST; i++) {
        send_large(scene, &random, 14000 + i * 60);
    }
    for (int i = 0; i < FILLERS; i++) {
        send_large(scene, &random, 30000 + i * 5);
    }
    scene_flush(scene);
    tarry_process_wait_not_ready(scene->process, 30000);
    double read = tarry_process_metric(scene->process, "tarry_records_read_total", NULL);
    fprintf(stderr, "the disk was full after %.0f of %d records\n", read, FIRST + FILLERS);
    assert_true(read < FIRST + FILLERS); /* it did not go on reading into memory */
    assert_int_equal(tarry_process_get(scene->process, "/livez", NULL, 0), 200);
    assert_true(scene_await_count(scene, FIRST, 60000)); /* due ones leave all the same */
    assert_true(ledger_lateness_max_ms(scene->ledger) < 5000);
    assert_true(scene_await_all(scene, 120000)); /* they made room, and so did those after them */
    tarry_process_wait_ready(scene->process, 30000);
    assert_true(tarry_process_rss_anon_kib(scene->process) < 300 * 1024);
    scene_finish(scene, 1000, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(disk_full, scene_teardown),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
