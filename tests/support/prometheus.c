#include "tests/support/prometheus.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/http_get.h"
#include "tests/support/log_tail.h"
#include "tests/support/temp.h"

#define READY_MS 60000
#define ASK_MS 10000
#define STOP_MS 30000
#define ANSWER_MAX (4u * 1024 * 1024)

struct prometheus {
    pid_t pid;
    int port;
    char *folder;
    char *log_path;
};

static void write_file(const char *path, struct span text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text.data, 1, text.length, file), text.length);
    assert_int_equal(fclose(file), 0);
}

static char *configure(const struct prometheus *prometheus, const char *target, const char *rules, int interval_ms)
{
    char *path = temp_path(prometheus->folder, "prometheus.yml");
    char *rules_path = temp_path(prometheus->folder, "tarry.rules.yml");
    struct buffer text = buffer_new(64u * 1024);
    buffer_add_format(&text, "global: {scrape_interval: %dms, scrape_timeout: %dms, evaluation_interval: %dms}\n", interval_ms, interval_ms, interval_ms);
    buffer_add_format(&text, "rule_files: [%s]\nscrape_configs:\n  - {job_name: tarry, static_configs: [{targets: [\"%s\"]}]}\n", rules_path, target);
    write_file(path, buffer_span(&text));
    write_file(rules_path, span_of_text(rules));
    buffer_free(&text);
    free(rules_path);
    return path;
}

/* Between fork and exec: only async-signal-safe calls. */
static void run_child(const char *program, char *const arguments[], int log, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(126);
    }
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execv(program, arguments);
    _exit(127);
}

static void launch(struct prometheus *prometheus, const char *configuration)
{
    const char *program = getenv("E2E_PROMETHEUS");
    if (program == NULL || access(program, X_OK) != 0) {
        fail_msg("E2E_PROMETHEUS must name a Prometheus (ctest sets it); it is %s", program == NULL ? "unset" : program);
    }
    char file[512];
    char data[512];
    char listen[64];
    snprintf(file, sizeof(file), "--config.file=%s", configuration);
    snprintf(data, sizeof(data), "--storage.tsdb.path=%s/data", prometheus->folder);
    snprintf(listen, sizeof(listen), "--web.listen-address=127.0.0.1:%d", prometheus->port);
    char level[] = "--log.level=warn";
    char name[] = "prometheus";
    char *arguments[] = {name, file, data, listen, level, NULL};
    int log = open(prometheus->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(log >= 0);
    pid_t parent = getpid();
    prometheus->pid = fork();
    assert_true(prometheus->pid >= 0);
    if (prometheus->pid == 0) {
        run_child(program, arguments, log, parent);
    }
    close(log);
}

static void wait_ready(struct prometheus *prometheus)
{
    int64_t limit = await_mono_ms() + READY_MS;
    while (http_get(prometheus->port, "/-/ready", ASK_MS, NULL, 0) != 200) {
        if (waitpid(prometheus->pid, NULL, WNOHANG) == prometheus->pid) {
            prometheus->pid = 0;
            prometheus_show_log(prometheus);
            fail_msg("Prometheus ended at its start");
        }
        assert_true(await_mono_ms() < limit);
        await_pause_ms(50);
    }
}

struct prometheus *prometheus_start(const char *target, const char *rules, int interval_ms)
{
    struct prometheus *prometheus = memory_new(1, sizeof(*prometheus));
    prometheus->folder = temp_directory("prometheus");
    prometheus->log_path = temp_path(prometheus->folder, "log");
    prometheus->port = http_free_port();
    char *configuration = configure(prometheus, target, rules, interval_ms);
    launch(prometheus, configuration);
    free(configuration);
    wait_ready(prometheus);
    return prometheus;
}

void prometheus_free(struct prometheus *prometheus)
{
    if (prometheus == NULL) {
        return;
    }
    int64_t limit = await_mono_ms() + STOP_MS;
    if (prometheus->pid > 0) {
        kill(prometheus->pid, SIGTERM);
        while (waitpid(prometheus->pid, NULL, WNOHANG) == 0) {
            if (await_mono_ms() > limit) {
                kill(prometheus->pid, SIGKILL);
            }
            await_pause_ms(20);
        }
    }
    temp_remove(prometheus->folder);
    free(prometheus->log_path);
    free(prometheus);
}

/* The `data` of an answer, owned by *whole. Fails when there is none. */
static const cJSON *ask(const struct prometheus *prometheus, const char *path, cJSON **whole)
{
    char *body = memory_new(ANSWER_MAX, 1);
    int status = http_get(prometheus->port, path, ASK_MS, body, ANSWER_MAX);
    *whole = cJSON_Parse(body);
    const cJSON *data = cJSON_GetObjectItemCaseSensitive(*whole, "data");
    if (status != 200 || data == NULL) {
        fail_msg("Prometheus answers %s with %d: %.500s", path, status, body);
    }
    free(body);
    return data;
}

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text == NULL ? "" : text;
}

const char *prometheus_alert(const struct prometheus *prometheus, const char *name)
{
    static const char *const states[] = {"inactive", "pending", "firing"};
    cJSON *whole = NULL;
    const cJSON *data = ask(prometheus, "/api/v1/alerts", &whole);
    const cJSON *alert;
    size_t state = 0;
    cJSON_ArrayForEach(alert, cJSON_GetObjectItemCaseSensitive(data, "alerts"))
    {
        if (strcmp(text_of(cJSON_GetObjectItemCaseSensitive(alert, "labels"), "alertname"), name) == 0) {
            state = strcmp(text_of(alert, "state"), "firing") == 0 ? 2 : state == 0 ? 1 : state;
        }
    }
    cJSON_Delete(whole);
    return states[state];
}

static void check_text(const char *alert, const char *text)
{
    static const char *const wrong[] = {"{{", "}}", "<no value>", "error", "NaN", "%!"};
    assert_true(strlen(text) > 10);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (strstr(text, wrong[i]) != NULL) {
            fail_msg("%s says: %s", alert, text);
        }
    }
}

size_t prometheus_check_texts(const struct prometheus *prometheus)
{
    cJSON *whole = NULL;
    const cJSON *data = ask(prometheus, "/api/v1/alerts", &whole);
    const cJSON *alert;
    size_t count = 0;
    cJSON_ArrayForEach(alert, cJSON_GetObjectItemCaseSensitive(data, "alerts"))
    {
        if (strcmp(text_of(alert, "state"), "firing") == 0) {
            const char *name = text_of(cJSON_GetObjectItemCaseSensitive(alert, "labels"), "alertname");
            const cJSON *texts = cJSON_GetObjectItemCaseSensitive(alert, "annotations");
            check_text(name, text_of(texts, "summary"));
            check_text(name, text_of(texts, "description"));
            count++;
        }
    }
    cJSON_Delete(whole);
    return count;
}

static void add_escaped(struct buffer *path, const char *query)
{
    for (const char *at = query; *at != '\0'; at++) {
        buffer_add_format(path, "%%%02X", (unsigned char)*at);
    }
}

size_t prometheus_query(const struct prometheus *prometheus, const char *query, int seconds)
{
    struct buffer path = buffer_new(15u * 1024);
    int64_t now_s = await_wall_ms() / 1000;
    buffer_add_format(&path, "/api/v1/query_range?start=%" PRId64 "&end=%" PRId64 "&step=1&query=", now_s - seconds, now_s);
    add_escaped(&path, query);
    buffer_add(&path, "", 1);
    assert_false(path.full);
    cJSON *whole = NULL;
    const cJSON *data = ask(prometheus, (const char *)path.data, &whole);
    size_t count = (size_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(data, "result"));
    cJSON_Delete(whole);
    buffer_free(&path);
    return count;
}

void prometheus_show_log(const struct prometheus *prometheus)
{
    log_tail_show(prometheus->log_path, "Prometheus'");
}
