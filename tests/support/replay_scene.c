#include "tests/support/replay_scene.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "bridge/admin.h"
#include "dlq/reader.h"
#include "tests/support/await.h"
#include "tests/support/kafka_topics.h"
#include "tests/support/nats_letters.h"
#include "tests/support/temp.h"

#define NUMBERS 10000
#define RUN_TIMEOUT_MS 120000
#define WORDS_MAX 40
#define TIMEOUT_MS 20000

static const char CONFIG[] = "instance: i\n"
                             "group: tarry\n"
                             "kafka: {bootstrap.servers: \"%s\", producer: {message.max.bytes: 20000000}}\n"
                             "nats: {url: \"%s\"}\n"
                             "sources: [{topic: delays, default_target: out}]\n"
                             "targets: [{name: all, match: \"*\"}]\n";

static void write_config(struct replay_scene *scene)
{
    scene->config = temp_path(scene->folder, "tarry.yaml");
    FILE *file = fopen(scene->config, "w");
    assert_non_null(file);
    assert_true(fprintf(file, CONFIG, kafka_broker_bootstrap(scene->kafka), nats_server_url(scene->nats)) > 0);
    assert_int_equal(fclose(file), 0);
}

/* As the configuration's group is on that cluster. */
static const char *owner_of(const char *bootstrap)
{
    static char owner[128];
    const struct kafka_property property = {"bootstrap.servers", bootstrap};
    char cluster[64];
    struct error error;
    if (!admin_cluster_id(&property, 1, TIMEOUT_MS, cluster, sizeof cluster, &error)) {
        fail_msg("%s", error.text);
    }
    snprintf(owner, sizeof owner, "%s/tarry", cluster);
    return owner;
}

void replay_scene_open(struct replay_scene *scene)
{
    const char *const settings[] = {"auto.create.topics.enable=false"};
    scene->kafka = kafka_broker_start(settings, 1);
    scene->nats = nats_server_start(NULL);
    scene->client = nats_client_open(nats_server_url(scene->nats));
    scene->link = nats_letters_link(nats_server_url(scene->nats));
    scene->streams = nats_letters_options();
    scene->streams.owner = owner_of(kafka_broker_bootstrap(scene->kafka));
    nats_letters_streams(scene->link, &scene->streams);
    scene->mailer = mailer_new(scene->link, &scene->streams);
    scene->folder = temp_directory("tarry-replay");
    scene->output = NULL;
    scene->errors = NULL;
    write_config(scene);
    kafka_topics_create(kafka_broker_bootstrap(scene->kafka), "delays", 1, NULL);
}

void replay_scene_close(struct replay_scene *scene)
{
    mailer_free(scene->mailer);
    link_close(scene->link);
    nats_client_close(scene->client);
    nats_server_free(scene->nats);
    kafka_broker_free(scene->kafka);
    temp_remove(scene->folder);
    free(scene->config);
    free(scene->output);
    free(scene->errors);
}

void replay_scene_empty(struct replay_scene *scene)
{
    static const char *const streams[] = {"TARRY_DLQ", "TARRY_PARKED", "TARRY_DLQ_LARGE", "TARRY_DLQ_JOBS"};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        nats_client_purge(scene->client, streams[i], NULL);
    }
}

void replay_scene_topic(struct replay_scene *scene, const char *topic, int partitions, const char *const *configs)
{
    kafka_topics_create(kafka_broker_bootstrap(scene->kafka), topic, partitions, configs);
}

struct letter replay_scene_letter(const char *topic, unsigned n)
{
    static char values[NUMBERS][24];
    static const char *const keys[] = {"k0", "k1", "k2", "k3", "k4"};
    assert_true(n < NUMBERS);
    snprintf(values[n], sizeof values[n], "value-%u", n);
    struct letter letter = nats_letters_one(n, 0);
    letter.target = span_of_text(topic);
    letter.record.key = span_of_text(keys[n % 5]);
    letter.record.value = span_of_text(values[n]);
    letter_id(letter.id, letter.target, letter.group, &letter.origin, 0);
    return letter;
}

void replay_scene_post(struct replay_scene *scene, const struct letter *letter, enum letter_state state)
{
    struct mailer_item item = {.letter = letter, .state = state};
    mailer_post(scene->mailer, &item, 1, TIMEOUT_MS);
    if (item.result != MAILER_KEPT) {
        fail_msg("a letter was not kept: %s", item.error);
    }
}

void replay_scene_fill(struct replay_scene *scene, const char *topic, unsigned first, unsigned count, enum letter_state state)
{
    struct letter *letters = memory_new(count, sizeof *letters);
    struct mailer_item *items = memory_new(count, sizeof *items);
    for (unsigned i = 0; i < count; i++) {
        letters[i] = replay_scene_letter(topic, first + i);
        items[i] = (struct mailer_item){.letter = &letters[i], .state = state};
    }
    mailer_post(scene->mailer, items, count, TIMEOUT_MS);
    for (unsigned i = 0; i < count; i++) {
        if (items[i].result != MAILER_KEPT) {
            fail_msg("letter %u was not kept: %s", first + i, items[i].error);
        }
    }
    free(items);
    free(letters);
}

uint64_t replay_scene_waiting(struct replay_scene *scene)
{
    return nats_client_count(scene->client, "TARRY_DLQ", NULL);
}

uint64_t replay_scene_parked(struct replay_scene *scene)
{
    return nats_client_count(scene->client, "TARRY_PARKED", NULL);
}

uint64_t replay_scene_large(struct replay_scene *scene)
{
    return nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL);
}

struct letter replay_scene_read(struct replay_scene *scene, enum letter_state state, size_t nth, struct buffer *bytes)
{
    struct reader *reader = NULL;
    struct error error = {ERROR_NONE, ""};
    struct reader_message message;
    struct letter letter;
    const char *stream = state == LETTER_WAITING ? "TARRY_DLQ" : "TARRY_PARKED";
    *bytes = buffer_new((size_t)64 * 1024 * 1024);
    if (!reader_open(scene->link, stream, NULL, 1, &reader, &error)) {
        fail_msg("%s cannot be read: %s", stream, error.text);
    }
    for (size_t i = 0; i <= nth; i++) {
        assert_int_equal(reader_next(reader, TIMEOUT_MS, &message, &error), READER_MESSAGE);
    }
    buffer_add_span(bytes, message.bytes);
    reader_close(reader);
    assert_true(letter_decode(buffer_span(bytes), &letter, &error));
    return letter;
}

/* ------------------------------------------------------------------------------------------------- the program */

/* Splits words in place; '' quotes. */
static size_t split(char *text, char **words)
{
    size_t count = 0;
    char *at = text;
    while (*at != '\0') {
        assert_true(count < WORDS_MAX);
        char end = *at == '\'' ? '\'' : ' ';
        at += end == '\'';
        words[count++] = at;
        at += strcspn(at, end == ' ' ? " " : "'");
        if (*at != '\0') {
            *at++ = '\0';
        }
        at += strspn(at, " ");
    }
    return count;
}

/* Between fork and exec of a process with threads: only async-signal-safe calls. */
static void run_child(const char *path, char *const arguments[], int output, int errors, pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (getppid() == parent && nothing >= 0 && dup2(nothing, 0) == 0 && dup2(output, 1) == 1 && dup2(errors, 2) == 2) {
        execv(path, arguments);
    }
    _exit(127);
}

/* Several programs may run at once: by turns, files of their own. */
static char *file_path(const struct replay_scene *scene, const char *name, pid_t pid)
{
    char numbered[64];
    snprintf(numbered, sizeof numbered, "%s-%d", name, (int)pid);
    return temp_path(scene->folder, numbered);
}

static int create(struct replay_scene *scene, const char *name)
{
    char *path = file_path(scene, name, 0);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    free(path);
    assert_true(file >= 0);
    return file;
}

static void rename_to(const struct replay_scene *scene, const char *name, pid_t pid)
{
    char *before = file_path(scene, name, 0);
    char *after = file_path(scene, name, pid);
    assert_int_equal(rename(before, after), 0);
    free(before);
    free(after);
}

pid_t replay_scene_start(struct replay_scene *scene, const char *words)
{
    const char *path = getenv("E2E_TARRY_BIN");
    if (path == NULL || access(path, X_OK) != 0) {
        fail_msg("E2E_TARRY_BIN must name the built tarry (ctest sets it); it is %s", path == NULL ? "unset" : path);
    }
    char program[] = "tarry";
    char verb[] = "dlq";
    char flag[] = "-c";
    char *arguments[WORDS_MAX + 5] = {program, verb};
    char *text = memory_text(words, strlen(words));
    size_t count = 2 + split(text, arguments + 2);
    arguments[count++] = flag;
    arguments[count] = scene->config;
    int output = create(scene, "output");
    int errors = create(scene, "errors");
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        run_child(path, arguments, output, errors, parent);
    }
    assert_true(pid > 0);
    close(output);
    close(errors);
    rename_to(scene, "output", pid);
    rename_to(scene, "errors", pid);
    free(text);
    return pid;
}

static char *slurp(struct replay_scene *scene, const char *name, pid_t pid)
{
    char *path = file_path(scene, name, pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t room = (size_t)1 << 20;
    char *text = memory_new(room + 1, 1);
    text[fread(text, 1, room, file)] = '\0';
    (void)fclose(file);
    free(path);
    return text;
}

int replay_scene_wait(struct replay_scene *scene, pid_t pid)
{
    int status = 0;
    int64_t limit = await_mono_ms() + RUN_TIMEOUT_MS;
    pid_t ended = 0;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
        if (await_mono_ms() > limit) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, &status, 0);
            fail_msg("tarry dlq still ran after %d ms; it said: %s", RUN_TIMEOUT_MS, slurp(scene, "errors", pid));
        }
        await_pause_ms(5);
    }
    assert_int_equal(ended, pid);
    free(scene->output);
    free(scene->errors);
    scene->output = slurp(scene, "output", pid);
    scene->errors = slurp(scene, "errors", pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int replay_scene_run(struct replay_scene *scene, const char *words)
{
    int code = replay_scene_wait(scene, replay_scene_start(scene, words));
    print_message("tarry dlq %s: %d\n%s%s", words, code, scene->output, scene->errors);
    return code;
}

struct kafka_client_records replay_scene_records(struct replay_scene *scene, const char *topic)
{
    const char *const topics[] = {topic, NULL};
    return kafka_client_read_all(kafka_broker_bootstrap(scene->kafka), topics);
}

int64_t replay_scene_number(const struct replay_scene *scene, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *found = strstr(scene->output, quoted);
    return found == NULL ? -1 : strtoll(found + strlen(quoted), NULL, 10);
}

/* ------------------------------------------------------------------------------------------------- fixtures */

struct replay_scene replay_scene_shared;

int replay_scene_fixture_open(void **state)
{
    (void)state;
    replay_scene_open(&replay_scene_shared);
    return 0;
}

int replay_scene_fixture_close(void **state)
{
    (void)state;
    replay_scene_close(&replay_scene_shared);
    return 0;
}

int replay_scene_fixture_empty(void **state)
{
    (void)state;
    replay_scene_empty(&replay_scene_shared);
    return 0;
}
