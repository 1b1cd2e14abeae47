/*
 * Canaries in all places where a secret can stand, wrong ones at the brokers' doors, everything logged: they occur in no log, no answer, no metric, no error, and on
 * no command line. And what else a service has to say of itself when NATS is away or it still loads (O02, O06).
 *
 * The paths that are asked for are those that docs/http.md names.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <signal.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/cli_program.h"
#include "tests/support/http_client.h"
#include "tests/support/nats_server.h"
#include "tests/support/operated.h"
#include "tests/support/temp.h"

#define SOON_MS 30000
#define PATHS_LEAST 8
#define ANSWER_MS 2000 /* a stream of events never ends */
#define LOADING_TRIES 100000
#define TIMED_OUT 7

/* Each contains the word, so that it alone has to be looked for. */
#define CANARY "canary"
#define SASL CANARY "-of-sasl-0123456789"
#define NATS CANARY "-of-nats-0123456789"
#define TOKEN CANARY "-of-http-0123456789"

static void assert_no_canary(const char *where, const char *text)
{
    const char *found = strcasestr(text, CANARY);
    if (found != NULL) {
        fail_msg("a canary in %s: ...%.160s", where, found - (found - text < 80 ? found - text : 80));
    }
}

/* All of a file of /proc: its NULs become blanks. */
static void assert_proc_clean(const struct operated *operated, const char *name)
{
    char path[64];
    static char text[1 << 20];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)tarry_process_pid(operated->process), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    assert_true(length > 0);
    for (size_t i = 0; i < length; i++) {
        text[i] = text[i] == '\0' ? ' ' : text[i];
    }
    text[length] = '\0';
    assert_no_canary(name, text);
}

/* ------------------------------------------------------------------------------------------------- every path */

static void ask(const struct operated *operated, const char *method, const char *path, const char *header)
{
    char request[1024];
    bool closed = false;
    int fd = http_client_connect((uint16_t)operated->http_port);
    assert_true(fd >= 0);
    int length = snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: localhost\r\n%sConnection: close\r\n\r\n", method, path, header);
    assert_in_range(length, 1, sizeof(request) - 1);
    assert_true(http_client_send(fd, request, (size_t)length));
    char *answer = http_client_read_to_end(fd, ANSWER_MS, &closed);
    assert_non_null(answer);
    assert_no_canary(path, answer);
    free(answer);
}

/* With the token, without one, and with one that is wrong and a canary too. */
static void ask_all_ways(const struct operated *operated, const char *path)
{
    static const char *const headers[] = {"", "Authorization: Bearer " TOKEN "\r\n", "Authorization: Bearer wrong-" TOKEN "\r\n", "Authorization: " TOKEN "\r\n"};
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        ask(operated, "GET", path, headers[i]);
    }
    ask(operated, "DELETE", path, headers[0]);
}

/* The paths in backticks of docs/http.md, with a number in the place of what stands in braces. */
static size_t ask_every_path(const struct operated *operated)
{
    static char page[1 << 20];
    size_t count = 0;
    FILE *file = fopen(TARRY_SOURCE_DIR "/docs/http.md", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
    fclose(file);
    for (const char *at = strstr(page, "`/"); at != NULL; at = strstr(at + 1, "`/")) {
        char path[256] = "";
        size_t length = 0;
        const char *next = at + 1;
        while (*next != '`' && *next != '?' && *next > ' ' && length < sizeof(path) - 1) {
            size_t name = *next == '{' ? strcspn(next, "}") : 0;
            path[length++] = name > 0 ? '7' : *next;
            next += name + 1;
        }
        ask_all_ways(operated, path);
        count++;
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------- wrong passwords */

struct said {
    struct operated *operated;
    const char *text;
    size_t before;
};

static bool is_said(void *context)
{
    const struct said *said = context;
    return tarry_process_log_count(said->operated->process, said->text) > said->before;
}

struct secrets {
    char *sasl;
    char *nats;
    char *token;
};

static struct secrets write_secrets(const struct operated *operated)
{
    return (struct secrets){operated_file(operated, "sasl", SASL "\n", 0600), operated_file(operated, "nats", NATS "\n", 0600),
                            operated_file(operated, "token", TOKEN "\n", 0600)};
}

static void free_secrets(struct secrets *secrets)
{
    free(secrets->sasl);
    free(secrets->nats);
    free(secrets->token);
}

/* Logs in nowhere, says so everywhere, and everything that it says is looked at. */
static void run_with_wrong_secrets(struct operated *operated, const struct nats_server *server, const char *key)
{
    struct secrets secrets = write_secrets(operated);
    char kafka[1024];
    char http[512];
    char nats_keys[1024];
    snprintf(kafka, sizeof(kafka),
             "debug: all, security.protocol: sasl_plaintext, sasl.mechanisms: PLAIN, sasl.username: somebody, sasl.password_file: \"%s\"", secrets.sasl);
    snprintf(http, sizeof(http), "token_file: \"%s\"", secrets.token);
    snprintf(nats_keys, sizeof(nats_keys), "url: \"%s\", %s: \"%s\"", nats_server_url(server), key, secrets.nats);
    operated_configure(operated, &(struct operated_options){.kafka = kafka, .http = http, .nats = nats_keys, .log_level = "debug"});
    size_t before = operated->process == NULL ? 0 : tarry_process_log_count(operated->process, "kafka_trouble");
    operated_launch(operated, NULL);
    assert_true(await_condition(is_said, &(struct said){operated, "kafka_trouble", before}, SOON_MS));
    assert_true(ask_every_path(operated) >= PATHS_LEAST);
    assert_proc_clean(operated, "cmdline");
    assert_proc_clean(operated, "environ");
    tarry_process_signal(operated->process, SIGHUP);
    assert_int_equal(tarry_process_get(operated->process, "/livez", NULL, 0), 200);
    assert_int_equal(tarry_process_stop(operated->process, SOON_MS), 0);
    const char *const shows[][6] = {{"config", "show", "--effective", "-c", operated->config_path, NULL},
                                    {"config", "show", "-c", operated->config_path, NULL},
                                    {"config", "check", "-c", operated->config_path, NULL}};
    for (size_t i = 0; i < sizeof(shows) / sizeof(shows[0]); i++) {
        struct cli_program program = cli_program_run(CLI_PROGRAM_PIPE, shows[i]);
        assert_no_canary(shows[i][1], program.text);
        assert_no_canary(shows[i][1], program.errors);
        cli_program_expect(&program, 0);
        cli_program_free(&program);
    }
    free_secrets(&secrets);
}

static void assert_log_clean(const struct operated *operated, const char *seen)
{
    char *log = operated_log(operated);
    assert_non_null(strstr(log, seen)); /* there is something to look at */
    assert_no_canary("the log", log);
    free(log);
}

static void wrong_passwords(void **state)
{
    (void)state;
    struct nats_server *server = nats_server_start("authorization { user: somebody, password: another-one }\n");
    struct operated *operated = operated_open();
    run_with_wrong_secrets(operated, server, "user: somebody, password_file");
    nats_server_configure(server, "authorization { token: another-one }\n");
    run_with_wrong_secrets(operated, server, "token_file");
    assert_log_clean(operated, "\"level\":\"debug\"");
    operated_close(operated);
    nats_server_free(server);
}

/* The link to NATS is made when Kafka has said which cluster it is: so here Kafka lets everybody in, and NATS nobody. */
static void nats_lets_nobody_in(void **state)
{
    (void)state;
    struct nats_server *server = nats_server_start("authorization { user: somebody, password: another-one }\n");
    struct operated *operated = operated_open();
    struct secrets secrets = write_secrets(operated);
    char nats[1024];
    snprintf(nats, sizeof(nats), "url: \"%s\", user: somebody, password_file: \"%s\"", nats_server_url(server), secrets.nats);
    operated_configure(operated, &(struct operated_options){.nats = nats, .log_level = "debug"});
    operated_start(operated, NULL); /* ready all the same */
    assert_true(await_condition(is_said, &(struct said){operated, "refuses the login", 0}, SOON_MS));
    assert_true(ask_every_path(operated) >= PATHS_LEAST);
    assert_int_equal(tarry_process_stop(operated->process, SOON_MS), 0);
    assert_log_clean(operated, "refuses the login");
    free_secrets(&secrets);
    operated_close(operated);
    nats_server_free(server);
}

/* ------------------------------------------------------------------------------------------------- bad configurations */

static void bad_configurations_say_no_secret(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "nats: {url: \"nats://somebody:" CANARY "@127.0.0.1:4222\"}",
        "nats: {url: \"nats://" CANARY "@127.0.0.1:4222\"}",
        "nats: {url: \"nats://somebody:" CANARY "@\"}",
        "nats: {url: [\"nats://somebody:" CANARY "@127.0.0.1\"]}",
        "nats: {password: " CANARY "}",
        "nats: {token: " CANARY "}",
        "http: {token: " CANARY "}",
        "http: {listen: \"0.0.0.0:7411\", token: " CANARY "}",
        "kafka: {bootstrap.servers: b, sasl.password: [" CANARY "]}",
        "kafka: {bootstrap.servers: b, sasl.password: {a: " CANARY "}}",
        "kafka: {bootstrap.servers: b, sasl.pasword: " CANARY "}",
        "kafka: {bootstrap.servers: b, sasl.password: \"" CANARY "}",
        "kafka: {bootstrap.servers: b, ssl.key.pem: " CANARY "}",
        "kafka: {bootstrap.servers: b, sasl.oauthbearer.client.secret: " CANARY ", sasl.password_file: x, sasl.password: " CANARY "}",
        "kafka: {bootstrap.servers: b, producer: {sasl.password: [" CANARY "]}}",
        "password: " CANARY,
        "sources: {password: " CANARY "}",
    };
    struct operated *operated = operated_open();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[1024];
        bool own_kafka = strncmp(bad[i], "kafka", 5) == 0;
        snprintf(text, sizeof(text), "instance: i\n%s%s%s\n", strncmp(bad[i], "sources", 7) == 0 ? "" : "sources: [{topic: in, default_target: out}]\n",
                 own_kafka ? "" : "kafka: {bootstrap.servers: b}\n", bad[i]);
        free(operated_file(operated, "tarry.yaml", text, 0600));
        struct cli_program program = cli_program_run(CLI_PROGRAM_PIPE, (const char *const[]){"config", "check", "-c", operated->config_path, NULL});
        print_message("%s", program.errors);
        assert_no_canary(bad[i], program.text);
        assert_no_canary(bad[i], program.errors);
        assert_true(program.code == 78 || program.code == 0); /* librdkafka looks at a key when it uses it */
        cli_program_free(&program);
    }
    operated_close(operated);
}

/* A token that is none: too short, with a blank. The daemon refuses it as it starts. */
static void bad_tokens_are_not_said(void **state)
{
    (void)state;
    static const char *const bad[] = {CANARY, CANARY " and more of it than sixteen", CANARY "\x01-with-a-control-character"};
    struct operated *operated = operated_open();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char http[512];
        char *token = operated_file(operated, "token", bad[i], 0600);
        snprintf(http, sizeof(http), "token_file: \"%s\"", token);
        operated_configure(operated, &(struct operated_options){.http = http});
        operated_launch(operated, NULL);
        assert_int_equal(tarry_process_wait_exit(operated->process, SOON_MS), 78);
        free(token);
    }
    char *log = operated_log(operated);
    assert_non_null(strstr(log, "http.token_file: the token in"));
    assert_no_canary("the log", log);
    free(log);
    operated_close(operated);
}

static void files_that_everybody_can_read(void **state)
{
    (void)state;
    static const char *const said[] = {"kafka.sasl.password_file: anybody on this machine can read", "http.token_file: anybody on this machine can read",
                                       "nats.credentials_file: anybody on this machine can read", "kafka.sasl.password: anybody on this machine can read"};
    struct operated *operated = operated_open();
    char text[2048];
    char *sasl = operated_file(operated, "sasl", SASL, 0644);
    char *token = operated_file(operated, "token", TOKEN, 0644);
    char *nats = operated_file(operated, "nats", NATS, 0644);
    for (int inline_secret = 0; inline_secret < 2; inline_secret++) {
        snprintf(text, sizeof(text),
                 "instance: i\nsources: [{topic: in, default_target: out}]\nkafka: {bootstrap.servers: b, %s: \"%s\"}\n"
                 "http: {token_file: \"%s\"}\nnats: {credentials_file: \"%s\"}\n",
                 inline_secret ? "sasl.password" : "sasl.password_file", inline_secret ? SASL : sasl, token, nats);
        free(operated_file(operated, "tarry.yaml", text, 0644));
        struct cli_program program = cli_program_run(CLI_PROGRAM_PIPE, (const char *const[]){"config", "check", "-c", operated->config_path, NULL});
        cli_program_expect(&program, 0); /* a warning, no error */
        for (size_t i = 1; i < 3; i++) {
            assert_non_null(strstr(program.errors, said[i]));
        }
        assert_non_null(strstr(program.errors, said[inline_secret ? 3 : 0]));
        assert_no_canary("the warnings", program.errors);
        cli_program_free(&program);
    }
    free(sasl);
    free(token);
    free(nats);
    operated_close(operated);
}

/* ------------------------------------------------------------------------------------------------- O02: health */

struct body_has {
    struct operated *operated;
    const char *path;
    int status;
    const char *part;
};

static bool is_answered(void *context)
{
    const struct body_has *expected = context;
    char body[8192] = "";
    return tarry_process_get(expected->operated->process, expected->path, body, sizeof(body)) == expected->status && strstr(body, expected->part) != NULL;
}

static void await_answer(struct operated *operated, const char *path, int status, const char *part)
{
    if (!await_condition(is_answered, &(struct body_has){operated, path, status, part}, SOON_MS)) {
        char body[8192] = "";
        int last = tarry_process_get(operated->process, path, body, sizeof(body));
        fail_msg("%s is not %d with %s, but %d: %s", path, status, part, last, body);
    }
}

/* While it loads it lives and is not ready; without NATS it is ready; without Kafka it lives, and is ready again by itself. */
static void live_is_not_ready(void **state)
{
    (void)state;
    struct nats_server *server = nats_server_start(NULL);
    struct operated *operated = operated_open();
    char nats[256];
    snprintf(nats, sizeof(nats), "url: \"%s\"", nats_server_url(server));
    operated_configure(operated, &(struct operated_options){.nats = nats});
    operated_send(operated, 10, 3600 * 1000);
    mock_cluster_fail(operated->cluster, MOCK_CLUSTER_FETCH, TIMED_OUT, LOADING_TRIES);
    operated_launch(operated, NULL);
    await_answer(operated, "/readyz", 503, "\"code\":\"loading\"");
    await_answer(operated, "/livez", 200, "UP");
    await_answer(operated, "/health", 503, "OUT_OF_SERVICE");
    mock_cluster_heal(operated->cluster, MOCK_CLUSTER_FETCH);
    tarry_process_wait_ready(operated->process, SOON_MS);
    await_answer(operated, "/health", 200, "\"nats\":{\"status\":\"UP\"");
    nats_server_stop(server);
    await_answer(operated, "/health", 200, "\"nats\":{\"status\":\"DOWN\"");
    await_answer(operated, "/readyz", 200, "\"status\":\"ready\"");
    await_answer(operated, "/livez", 200, "UP");
    nats_server_restart(server);
    await_answer(operated, "/health", 200, "\"nats\":{\"status\":\"UP\"");
    mock_cluster_broker_down(operated->cluster, 1, true);
    await_answer(operated, "/readyz", 503, "\"code\":\"kafka_unreachable\"");
    await_answer(operated, "/livez", 200, "UP");
    await_answer(operated, "/healthz", 200, "UP");
    mock_cluster_broker_down(operated->cluster, 1, false);
    await_answer(operated, "/readyz", 200, "\"status\":\"ready\"");
    assert_int_equal(tarry_process_stop(operated->process, 8000), 0);
    operated_close(operated);
    nats_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(wrong_passwords, operated_teardown),
        cmocka_unit_test_teardown(nats_lets_nobody_in, operated_teardown),
        cmocka_unit_test_teardown(bad_configurations_say_no_secret, operated_teardown),
        cmocka_unit_test_teardown(bad_tokens_are_not_said, operated_teardown),
        cmocka_unit_test_teardown(files_that_everybody_can_read, operated_teardown),
        cmocka_unit_test_teardown(live_is_not_ready, operated_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
