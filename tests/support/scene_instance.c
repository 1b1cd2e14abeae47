#include "tests/support/scene_instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/http_get.h"
#include "tests/support/temp.h"

#define READY_TIMEOUT_MS 60000
#define STOP_TIMEOUT_MS 8000
#define PATH_ROOM 512

static char *own_path(const struct scene *scene, const char *name, const char *suffix)
{
    char file[SCENE_NAME_MAX];
    snprintf(file, sizeof(file), "%.40s-%s", name, suffix);
    return temp_path(scene->folder, file);
}

struct scene_instance *scene_instance_add(struct scene *scene, const char *name, const struct scene_options *options)
{
    assert_true(scene->instance_count < SCENE_INSTANCES_MAX);
    struct scene_instance *instance = memory_new(1, sizeof(*instance));
    scene->instances[scene->instance_count++] = instance;
    instance->scene = scene;
    snprintf(instance->name, sizeof(instance->name), "%.60s-%.20s", scene->prefix, name);
    instance->store_path = own_path(scene, name, "store");
    instance->kept_path = own_path(scene, name, "kept");
    instance->config_path = own_path(scene, name, "tarry.yaml");
    instance->log_path = own_path(scene, name, "tarry.log");
    instance->http_port = http_free_port();
    scene_instance_configure(instance, options);
    return instance;
}

void scene_instance_free(struct scene_instance *instance)
{
    tarry_process_free(instance->process);
    free(instance->store_path);
    free(instance->kept_path);
    free(instance->config_path);
    free(instance->log_path);
    free(instance);
}

void scene_instance_configure(struct scene_instance *instance, const struct scene_options *options)
{
    struct scene_own own = {instance->name, instance->store_path, instance->config_path, instance->http_port};
    scene_configure_for(instance->scene, options, &own);
}

/* --------------------------------------------------------------------------------------------------- process */

void scene_instance_launch(struct scene_instance *instance, const char *extra_argument)
{
    tarry_process_free(instance->process);
    instance->process =
        tarry_process_start_with(instance->config_path, instance->log_path, instance->http_port, extra_argument, instance->scene->clock);
}

void scene_instance_start(struct scene_instance *instance)
{
    scene_instance_launch(instance, NULL);
    tarry_process_wait_ready(instance->process, READY_TIMEOUT_MS);
}

bool scene_instance_running(struct scene_instance *instance)
{
    return instance->process != NULL && tarry_process_running(instance->process);
}

void scene_instance_kill(struct scene_instance *instance)
{
    tarry_process_signal(instance->process, SIGKILL);
    int code = tarry_process_wait_exit(instance->process, STOP_TIMEOUT_MS);
    if (code != 128 + SIGKILL) {
        fail_msg("%s had ended with %d before it was to be killed", instance->name, code);
    }
}

void scene_instance_stop(struct scene_instance *instance)
{
    int code = tarry_process_stop(instance->process, STOP_TIMEOUT_MS);
    if (code != 0) {
        fail_msg("%s exited with %d after SIGTERM", instance->name, code);
    }
}

void scene_instance_show_log(const struct scene_instance *instance)
{
    if (instance->process != NULL) {
        tarry_process_show_log(instance->process);
    }
}

/* ------------------------------------------------------------------------------------------------------ disk */

static void copy_file(const char *from, const char *to)
{
    struct stat status;
    int source = open(from, O_RDONLY | O_CLOEXEC);
    int copy = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(source >= 0 && copy >= 0 && fstat(source, &status) == 0);
    for (off_t left = status.st_size; left > 0;) {
        ssize_t copied = copy_file_range(source, NULL, copy, NULL, (size_t)left, 0);
        if (copied <= 0) {
            fail_msg("copying %s: %s", from, strerror(errno));
        }
        left -= copied;
    }
    assert_int_equal(close(source), 0);
    assert_int_equal(close(copy), 0);
}

/* A store is one flat folder. */
static void copy_folder(const char *from, const char *to)
{
    temp_empty(to);
    assert_int_equal(mkdir(to, 0700), 0);
    DIR *folder = opendir(from);
    if (folder == NULL) {
        fail_msg("no folder %s: %s", from, strerror(errno));
    }
    for (const struct dirent *item = readdir(folder); item != NULL; item = readdir(folder)) {
        if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0) {
            char *source = temp_path(from, item->d_name);
            char *copy = temp_path(to, item->d_name);
            copy_file(source, copy);
            free(source);
            free(copy);
        }
    }
    closedir(folder);
}

void scene_instance_keep_disk(struct scene_instance *instance)
{
    assert_false(scene_instance_running(instance));
    copy_folder(instance->store_path, instance->kept_path);
}

void scene_instance_put_disk_back(struct scene_instance *instance, const struct scene_instance *kept_by)
{
    assert_false(scene_instance_running(instance));
    copy_folder(kept_by->kept_path, instance->store_path);
}

void scene_instance_lose_disk(struct scene_instance *instance)
{
    assert_false(scene_instance_running(instance));
    temp_empty(instance->store_path);
}

/* ---------------------------------------------------------------------------------------------------- waiting */

/* Of this life: a restart begins with none. */
int scene_instance_partitions(const struct scene_instance *instance)
{
    FILE *file = fopen(instance->log_path, "r");
    char *line = NULL;
    size_t room = 0;
    int count = 0;
    while (file != NULL && getline(&line, &room, file) >= 0) {
        count = strstr(line, "\"started\"") != NULL ? 0 : count;
        count += strstr(line, "\"partition_gained\"") != NULL;
        count -= strstr(line, "\"partition_released\"") != NULL;
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

struct wanted {
    struct scene_instance *instance;
    const char *text;
    size_t before;
    int count;
};

static bool has_partitions(void *context)
{
    const struct wanted *wanted = context;
    return scene_instance_partitions(wanted->instance) == wanted->count &&
           tarry_process_get(wanted->instance->process, "/readyz", NULL, 0) == 200;
}

void scene_instance_await_partitions(struct scene_instance *instance, int count, int64_t timeout_ms)
{
    struct wanted wanted = {.instance = instance, .count = count};
    if (!await_condition(has_partitions, &wanted, timeout_ms)) {
        fail_msg("%s does not come to %d partitions within %" PRId64 " ms; it has %d", instance->name, count, timeout_ms,
                 scene_instance_partitions(instance));
    }
}

static bool log_says(void *context)
{
    const struct wanted *wanted = context;
    return tarry_process_log_count(wanted->instance->process, wanted->text) > wanted->before;
}

void scene_instance_await_log(struct scene_instance *instance, const char *text, size_t before, int64_t timeout_ms)
{
    struct wanted wanted = {.instance = instance, .text = text, .before = before};
    if (!await_condition(log_says, &wanted, timeout_ms)) {
        fail_msg("%s does not log \"%s\" within %" PRId64 " ms", instance->name, text, timeout_ms);
    }
}
