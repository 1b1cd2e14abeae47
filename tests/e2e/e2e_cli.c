/* The verbs that ask a daemon, with the real tarry, a real Kafka and a real NATS: what they say is what happens to the records. */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "tests/support/await.h"
#include "tests/support/cli_program.h"
#include "tests/support/scene.h"
#include "tests/support/temp.h"

#define LAG_MS 10000 /* a list lags by a checkpoint */
#define TEXT_SIZE 65536

static char said[TEXT_SIZE]; /* of the latest run: its standard output */
static struct scene *scene;
static char *folder; /* of the token and the socket */
static char socket_address[256];

/* Runs it with these arguments, NULL at the end, and keeps what it said. */
static void run(enum cli_program_out out, int code, const char *const *arguments)
{
    struct cli_program program = cli_program_run(out, arguments);
    cli_program_expect(&program, code);
    (void)snprintf(said, sizeof said, "%s", program.text == NULL ? "" : program.text);
    cli_program_free(&program);
}

#define PIPED(code, ...) run(CLI_PROGRAM_PIPE, (code), (const char *const[]){__VA_ARGS__, NULL})
#define SHOWN(code, ...) run(CLI_PROGRAM_TERMINAL, (code), (const char *const[]){__VA_ARGS__, NULL})

static bool says(const char *text)
{
    return strstr(said, text) != NULL;
}

static void expect(const char *text)
{
    if (!says(text)) {
        fail_msg("it does not say '%s', but:\n%s", text, said);
    }
}

/* Runs the list again until it says so (or not). */
static void await_list(const char *verb_flag, const char *text, bool there)
{
    int64_t end_ms = await_mono_ms() + LAG_MS;
    do {
        PIPED(0, "list", "--limit", "0", verb_flag);
    } while (says(text) != there && await_mono_ms() < end_ms);
    if (says(text) != there) {
        fail_msg("the list %s '%s':\n%s", there ? "never had" : "always had", text, said);
    }
}

/* The text of a member of the one object that was said. */
static void member(const char *name, char *text, size_t size)
{
    cJSON *object = cJSON_Parse(said);
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    (void)snprintf(text, size, "%s", value == NULL ? "" : value);
    cJSON_Delete(object);
}

static void expect_member(const char *name, const char *value)
{
    char text[1024];
    member(name, text, sizeof text);
    if (strcmp(text, value) != 0) {
        fail_msg("%s is '%s' instead of '%s' in:\n%s", name, text, value, said);
    }
}

static void await_state(const char *id, const char *state)
{
    char text[64];
    int64_t end_ms = await_mono_ms() + LAG_MS;
    do {
        PIPED(0, "get", id);
        member("state", text, sizeof text);
    } while (strcmp(text, state) != 0 && await_mono_ms() < end_ms);
    assert_string_equal(text, state);
}

/* The daemon wants a token, and has a socket, too: by its environment, as the scene's configuration knows of neither. */
static void set_access(void)
{
    folder = temp_directory("cli");
    char *token_path = temp_path(folder, "token");
    char *socket_path = temp_path(folder, "socket");
    FILE *file = fopen(token_path, "w");
    assert_non_null(file);
    assert_true(fputs("a-token-of-this-test-alone\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(token_path, 0600), 0);
    assert_int_equal(setenv("TARRY_HTTP_TOKEN_FILE", token_path, 1), 0);
    assert_int_equal(setenv("TARRY_TOKEN_FILE", token_path, 1), 0);
    assert_int_equal(setenv("TARRY_HTTP_SOCKET", socket_path, 1), 0);
    (void)snprintf(socket_address, sizeof socket_address, "unix:%s", socket_path);
    free(token_path);
    free(socket_path);
}

static int open_scene(void **state)
{
    char server[64];
    (void)state;
    scene_group_setup(state);
    set_access();
    scene = scene_open("cli", &(struct scene_options){.partitions = 2, .letters = true});
    scene_start(scene);
    (void)snprintf(server, sizeof server, "127.0.0.1:%d", scene->http_port);
    assert_int_equal(setenv("TARRY_SERVER", server, 1), 0);
    return 0;
}

static int close_scene(void **state)
{
    scene_stop(scene);
    scene_close(scene);
    temp_remove(folder);
    return scene_group_teardown(state);
}

/* One event's life: scheduled, seen, paused, resumed, moved, fired, and what is known of it then. */
static void one_event(void **state)
{
    (void)state;
    PIPED(0, "schedule", "-t", scene->out, "--in", "1h", "--id", "order/7", "--value", "hello", "-k", "k", "-H", "a=1");
    expect_member("result", "scheduled");
    expect_member("id", "order/7");
    await_list("--payload", "\"order/7\"", true);
    expect("\"hello\"");
    SHOWN(0, "list");
    expect("order/7");
    expect("in 59m");
    SHOWN(0, "get", "order/7");
    expect("state     pending");
    expect("header    a=1");
    PIPED(0, "get", "order/7", "--raw", "value");
    assert_string_equal(said, "hello");
    PIPED(0, "pause", "order/7");
    await_state("order/7", "paused");
    PIPED(0, "resume", "order/7");
    await_state("order/7", "pending");
    SHOWN(0, "reschedule", "order/7", "--in", "3h");
    expect("rescheduled order/7: due in ");
    PIPED(0, "run-now", "order/7");
    await_state("order/7", "delivered");
    PIPED(1, "cancel", "order/7");
    PIPED(3, "run-now", "order/7");
}

static void cancelled(void **state)
{
    (void)state;
    PIPED(0, "schedule", "-t", scene->out, "--in", "1h", "--id", "no-more", "--null");
    PIPED(0, "cancel", "no-more");
    expect_member("result", "cancelled");
    await_state("no-more", "cancelled");
    await_list("--payload", "\"no-more\"", false);
    PIPED(3, "cancel", "there-never-was");
    PIPED(3, "get", "there-never-was");
    for (int i = 0; i < 3; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "many-%d", i);
        PIPED(0, "schedule", "-t", scene->out, "--in", "1h", "--id", id, "--value", "v");
    }
    await_list("--id-prefix=many-", "many-2", true);
    PIPED(0, "cancel", "--id-prefix", "many-");
    assert_string_equal(said, "");
    PIPED(0, "cancel", "--id-prefix", "many-", "--execute");
    await_list("--id-prefix=many-", "many-", false);
}

static void again_and_again(void **state)
{
    (void)state;
    PIPED(0, "schedule", "-t", scene->out, "--cron", "0 9 * * 1-5", "--tz", "Europe/Berlin", "--id", "daily", "--value", "v");
    await_list("--schedules", "\"daily\"", true);
    expect("Europe/Berlin");
    SHOWN(0, "list", "--schedules");
    expect("cron 0 9 * * 1-5");
    PIPED(0, "cancel", "daily");
    await_list("--schedules", "\"daily\"", false);
}

/* The same key schedules once. */
static void said_twice(void **state)
{
    char id[256];
    (void)state;
    PIPED(0, "schedule", "-t", scene->out, "--in", "1h", "--null", "--idempotency-key", "only-once");
    member("id", id, sizeof id);
    assert_true(strlen(id) > 8);
    PIPED(0, "schedule", "-t", scene->out, "--in", "1h", "--null", "--idempotency-key", "only-once");
    expect_member("id", id);
    await_list("--payload", id, true);
    const char *first = strstr(said, id);
    assert_null(strstr(first + 1, id));
    PIPED(0, "cancel", id);
}

static void bytes(void **state)
{
    (void)state;
    char path[512];
    uint8_t all[256];
    for (size_t i = 0; i < sizeof all; i++) {
        all[i] = (uint8_t)i;
    }
    (void)snprintf(path, sizeof path, "%s/value", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(all, 1, sizeof all, file), sizeof all);
    assert_int_equal(fclose(file), 0);
    PIPED(0, "schedule", "-t", scene->out, "--in", "1h", "--id", "bytes", path);
    struct cli_program program = cli_program_run(CLI_PROGRAM_PIPE, (const char *const[]){"get", "bytes", "--raw", "value", NULL});
    cli_program_expect(&program, 0);
    assert_int_equal(program.length, sizeof all);
    assert_memory_equal(program.text, all, sizeof all);
    cli_program_free(&program);
    PIPED(0, "cancel", "bytes");
}

/* Over TCP the token is needed, over the socket it is not. */
static void let_in(void **state)
{
    char *wrong = temp_path(folder, "wrong");
    FILE *file = fopen(wrong, "w");
    (void)state;
    assert_non_null(file);
    assert_true(fputs("another-token-than-that\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    PIPED(4, "list", "--token-file", wrong);
    PIPED(4, "cancel", "x", "--token-file", wrong);
    PIPED(4, "watch", "--token-file", wrong);
    PIPED(3, "check", "--token-file", wrong);
    PIPED(0, "schedule", "--server", socket_address, "-t", scene->out, "--in", "1h", "--id", "by-socket", "--null");
    PIPED(0, "cancel", "by-socket", "--server", socket_address);
    PIPED(0, "audit", "--server", socket_address, "-n", "1");
    expect("uid ");
    PIPED(0, "audit", "-n", "2");
    free(wrong);
}

/* What is refused is told with its reason, and is no success. */
static void refused(void **state)
{
    (void)state;
    struct cli_program program = cli_program_run(CLI_PROGRAM_PIPE, (const char *const[]){"schedule", "-t", scene->out, "--cron", "nonsense", "--null", "--id", "x", NULL});
    assert_true(program.code == 1 || program.code == 2);
    assert_non_null(strstr(program.errors, "tarry schedule: "));
    cli_program_free(&program);
    PIPED(2, "list", "--due-from", "nonsense");
    PIPED(2, "reschedule", "x", "--in", "nonsense");
}

static void the_daemon_itself(void **state)
{
    (void)state;
    PIPED(0, "schedule", "-t", scene->out, "--in", "90m", "--id", "ahead", "--value", "v");
    PIPED(0, "stats");
    expect("\"pending\":");
    SHOWN(0, "stats");
    expect("pending ");
    PIPED(0, "forecast", "--unit", "hour", "--count", "3");
    expect("\"items\":");
    SHOWN(0, "forecast", "--unit", "hour", "--count", "3");
    expect("#");
    PIPED(0, "target", "list");
    expect("\"default\"");
    PIPED(0, "target", "pause", "default");
    PIPED(0, "target", "list");
    expect("\"paused\"");
    PIPED(0, "target", "resume", "default");
    PIPED(3, "target", "pause", "there-is-none");
    PIPED(0, "audit");
    expect("\"ahead\"");
    SHOWN(0, "audit");
    expect("action");
    PIPED(0, "cancel", "ahead");
}

static void checked(void **state)
{
    (void)state;
    struct cli_program program = cli_program_run(CLI_PROGRAM_PIPE, (const char *const[]){"check", "--warn-letters", "1000000", NULL});
    bool clock = strstr(program.text, "the clock is not synchronised") != NULL; /* this machine's affair */
    cli_program_expect(&program, clock ? 1 : 0);
    assert_non_null(strstr(program.text, "TARRY "));
    assert_non_null(strstr(program.text, " letters="));
    cli_program_free(&program);
}

static bool has_ended(const struct cli_program *program)
{
    siginfo_t info = {.si_pid = 0};
    assert_int_equal(waitid(P_PID, (id_t)program->pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    return info.si_pid != 0;
}

/* When it is connected is not to be seen from here: so there are outcomes until it has seen some. */
static void feed(const struct cli_program *watch)
{
    int64_t end_ms = await_mono_ms() + 60000;
    for (int i = 0; !has_ended(watch) && await_mono_ms() < end_ms; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "seen-%d", i);
        PIPED(0, "schedule", "-t", scene->out, "--in", "1ms", "--id", id, "--value", "v");
    }
}

static void watched(void **state)
{
    (void)state;
    struct cli_program watch = cli_program_start(CLI_PROGRAM_PIPE, NULL, (const char *const[]){"watch", "-n", "3", "--outcome", "delivered", NULL});
    feed(&watch);
    cli_program_finish(&watch);
    cli_program_expect(&watch, 0);
    assert_int_equal(cli_program_lines(&watch), 3);
    assert_non_null(strstr(watch.text, "\"outcome\":\"delivered\""));
    cli_program_free(&watch);
}

/* While it is away the verbs say so; who watches is connected again by itself when it is back. */
static void gone(void **state)
{
    (void)state;
    struct cli_program watch = cli_program_start(CLI_PROGRAM_TERMINAL, NULL, (const char *const[]){"watch", "-n", "1000000", NULL});
    struct cli_program one = cli_program_start(CLI_PROGRAM_PIPE, NULL, (const char *const[]){"watch", "-n", "1", NULL});
    feed(&one); /* by now the one that began earlier is in, too */
    cli_program_finish(&one);
    cli_program_free(&one);
    scene_stop(scene);
    PIPED(69, "list");
    PIPED(2, "check");
    assert_false(has_ended(&watch));
    scene_start(scene);
    PIPED(0, "list");
    assert_int_equal(kill(watch.pid, SIGINT), 0);
    cli_program_finish(&watch);
    cli_program_expect(&watch, 130);
    cli_program_free(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_event), cmocka_unit_test(cancelled), cmocka_unit_test(again_and_again), cmocka_unit_test(said_twice),        cmocka_unit_test(bytes),
        cmocka_unit_test(refused),   cmocka_unit_test(checked),   cmocka_unit_test(the_daemon_itself), cmocka_unit_test(watched),
        cmocka_unit_test(let_in), cmocka_unit_test(gone),
    };
    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
