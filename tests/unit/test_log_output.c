/* Log lines and what happens when they cannot be written. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
#include <unistd.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "ops/log_output.h"

static struct now fake_now = {{1764425574123}, {1000}};

static struct now fake_clock(void *context)
{
    (void)context;
    return fake_now;
}

struct scene {
    FILE *file;
    struct log_output *output;
};

static struct scene open_scene(enum log_output_format format, unsigned burst)
{
    struct scene scene = {.file = tmpfile()};
    assert_non_null(scene.file);
    struct log_output_options options = {fileno(scene.file), format, burst, fake_clock, NULL};
    scene.output = log_output_new(&options);
    return scene;
}

/* What was written, NUL-terminated; closes the scene. */
static char *close_scene(struct scene *scene)
{
    log_output_free(scene->output);
    long size = lseek(fileno(scene->file), 0, SEEK_END);
    assert_true(size >= 0);
    char *text = calloc(1, (size_t)size + 1);
    assert_int_equal(pread(fileno(scene->file), text, (size_t)size, 0), size);
    assert_int_equal(fclose(scene->file), 0);
    return text;
}

static void emit(struct scene *scene, enum log_level level, const char *event, const char *message)
{
    struct log_entry entry = {level, event, message, NULL, 0};
    log_output_sink(&entry, scene->output);
}

static size_t count_of(const char *text, const char *needle)
{
    size_t count = 0;
    for (const char *at = strstr(text, needle); at != NULL; at = strstr(at + 1, needle)) {
        count++;
    }
    return count;
}

static void test_json(void **state)
{
    (void)state;
    struct scene scene = open_scene(LOG_OUTPUT_JSON, 0);
    const struct log_field fields[] = {LOG_TEXT("topic", "a\"b"), LOG_NUMBER("offset", INT64_MIN),
                                       LOG_TEXT("level", "mine")};
    struct log_entry entry = {LOG_LEVEL_WARNING, "partition_gained", "it came", fields, 3};
    log_output_sink(&entry, scene.output);
    char *text = close_scene(&scene);
    assert_string_equal(text, "{\"timestamp\":\"2025-11-29T14:12:54.123Z\",\"level\":\"warning\",\"service\":\"tarry\","
                              "\"event\":\"partition_gained\",\"message\":\"it came\",\"topic\":\"a\\\"b\","
                              "\"offset\":-9223372036854775808,\"field_level\":\"mine\"}\n");
    free(text);
}

static void test_text_and_journal(void **state)
{
    (void)state;
    const struct log_field fields[] = {LOG_TEXT("topic", "orders"), LOG_TEXT("why", "say \"no\" now"),
                                       LOG_NUMBER("n", 3), LOG_TEXT("empty", "")};
    struct log_entry entry = {LOG_LEVEL_ERROR, "x", "two\nlines \x1b[31mred", fields, 4};
    static const char rest[] = "x: two\\nlines \\x1B[31mred topic=orders why=\"say \\\"no\\\" now\" n=3 empty=\"\"\n";
    struct scene scene = open_scene(LOG_OUTPUT_TEXT, 0);
    log_output_sink(&entry, scene.output);
    char *text = close_scene(&scene);
    assert_memory_equal(text, "2025-11-29T14:12:54.123Z error   ", 33);
    assert_true(strcasecmp(text + 33, rest) == 0);
    free(text);
    scene = open_scene(LOG_OUTPUT_JOURNAL, 0);
    log_output_sink(&entry, scene.output);
    text = close_scene(&scene);
    assert_memory_equal(text, "<3>", 3);
    assert_true(strcasecmp(text + 3, rest) == 0);
    free(text);
}

static void fill_random(char *bytes, size_t size, unsigned *seed)
{
    *seed = *seed * 1103515245U + 12345U;
    size_t length = (*seed >> 16) % size;
    for (size_t i = 0; i < length; i++) {
        *seed = *seed * 1103515245U + 12345U;
        unsigned byte = (*seed >> 16) % 255 + 1;
        bytes[i] = (char)((*seed >> 28) < 4 ? byte : byte % 32 + 1); /* many that have to be escaped */
    }
    bytes[length] = '\0';
}

/* Any bytes, any number of fields, any length: one valid line. */
static void test_any_bytes(void **state)
{
    (void)state;
    unsigned seed = 42;
    static char texts[60][3000];
    struct log_field fields[58];
    for (int round = 0; round < 60; round++) {
        for (enum log_output_format format = LOG_OUTPUT_TEXT; format <= LOG_OUTPUT_JOURNAL; format++) {
            struct scene scene = open_scene(format, 0);
            size_t count = (size_t)round % 59;
            for (size_t i = 0; i < 60; i++) {
                fill_random(texts[i], sizeof(texts[i]), &seed);
            }
            for (size_t i = 0; i < count; i++) {
                fields[i] = i % 3 == 0 ? LOG_NUMBER(texts[i], seed) : LOG_TEXT(texts[i], texts[(i + 1) % 58]);
            }
            struct log_entry entry = {LOG_LEVEL_INFO, texts[58], texts[59], fields, count};
            log_output_sink(&entry, scene.output);
            char *text = close_scene(&scene);
            size_t length = strlen(text);
            assert_true(length > 0 && length <= LOG_OUTPUT_LINE_MAX);
            assert_ptr_equal(strchr(text, '\n'), text + length - 1);
            assert_true(text_is_utf8(span_of_text(text)));
            for (size_t i = 0; i + 1 < length; i++) {
                assert_true((unsigned char)text[i] >= 0x20); /* cJSON would let them pass */
            }
            if (format == LOG_OUTPUT_JSON) {
                cJSON *parsed = cJSON_ParseWithOpts(text, NULL, 0);
                assert_non_null(parsed);
                assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(parsed, "service")), "tarry");
                cJSON_Delete(parsed);
            }
            free(text);
        }
    }
}

static void test_truncation_is_said(void **state)
{
    (void)state;
    static char longer[2000];
    memset(longer, 'x', sizeof(longer) - 1);
    struct log_field fields[10];
    for (size_t i = 0; i < 10; i++) {
        fields[i] = LOG_TEXT("f", longer);
    }
    struct scene scene = open_scene(LOG_OUTPUT_JSON, 0);
    struct log_entry entry = {LOG_LEVEL_INFO, "e", longer, fields, 10};
    log_output_sink(&entry, scene.output);
    char *text = close_scene(&scene);
    assert_non_null(strstr(text, "x...\""));
    assert_non_null(strstr(text, ",\"truncated\":true}\n"));
    free(text);
}

static void test_rate_limit(void **state)
{
    (void)state;
    struct scene scene = open_scene(LOG_OUTPUT_JSON, 3);
    fake_now.mono.ms = 1000;
    for (int i = 0; i < 100; i++) {
        emit(&scene, i == 50 ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO, "noisy", "again");
    }
    emit(&scene, LOG_LEVEL_INFO, "quiet", "once");
    assert_int_equal(log_output_deadline(scene.output).ms, 1000 + LOG_OUTPUT_WINDOW_MS);
    fake_now.mono.ms += LOG_OUTPUT_WINDOW_MS - 1;
    log_output_tick(scene.output);
    fake_now.mono.ms += 1;
    log_output_tick(scene.output);
    log_output_tick(scene.output);
    assert_int_equal(log_output_deadline(scene.output).ms, TIME_NEVER);
    emit(&scene, LOG_LEVEL_INFO, "noisy", "anew");
    char *text = close_scene(&scene);
    assert_int_equal(count_of(text, "\"message\":\"again\""), 3);
    assert_int_equal(count_of(text, "\"event\":\"quiet\""), 1);
    assert_int_equal(count_of(text, "\"message\":\"anew\""), 1);
    assert_int_equal(count_of(text, "\"event\":\"suppressed\""), 1);
    assert_non_null(strstr(text, "\"level\":\"error\",\"service\":\"tarry\",\"event\":\"suppressed\""));
    assert_non_null(strstr(text, "\"suppressed_event\":\"noisy\",\"count\":97}"));
    free(text);
}

static void test_rate_limit_next_window_and_end(void **state)
{
    (void)state;
    struct scene scene = open_scene(LOG_OUTPUT_JSON, 1);
    emit(&scene, LOG_LEVEL_INFO, "a", "1");
    emit(&scene, LOG_LEVEL_INFO, "a", "2");
    fake_now.mono.ms += LOG_OUTPUT_WINDOW_MS;
    emit(&scene, LOG_LEVEL_INFO, "a", "3");
    emit(&scene, LOG_LEVEL_INFO, "a", "4");
    emit(&scene, LOG_LEVEL_INFO, "a", "5");
    char *text = close_scene(&scene);
    assert_int_equal(count_of(text, "\"event\":\"a\""), 2);
    assert_non_null(strstr(text, "\"count\":1}"));
    assert_non_null(strstr(text, "\"count\":2}"));
    free(text);
}

static void test_many_event_names(void **state)
{
    (void)state;
    struct scene scene = open_scene(LOG_OUTPUT_JSON, 2);
    char name[32];
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "event_%d", i);
        emit(&scene, LOG_LEVEL_INFO, name, "m");
    }
    char *text = close_scene(&scene);
    assert_int_equal(count_of(text, "\"message\":\"m\""), 127 + 2);
    assert_non_null(strstr(text, "\"suppressed_event\":\"other\",\"count\":871}"));
    free(text);
}

/* A full disk, a closed fd, a pipe without a reader: nothing happens, errno stays. */
static void test_failures_do_not_hurt(void **state)
{
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    assert_int_equal(close(pipe_fds[0]), 0);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(full >= 0);
    const int fds[] = {full, 9999, -1, pipe_fds[1]};
    for (size_t i = 0; i < 4; i++) {
        struct log_output_options options = {fds[i], LOG_OUTPUT_AUTO, 1, fake_clock, NULL};
        struct log_output *output = log_output_new(&options);
        assert_int_equal(log_output_format(output), LOG_OUTPUT_JSON);
        struct log_entry entry = {LOG_LEVEL_INFO, "e", "m", NULL, 0};
        errno = ERANGE;
        for (int j = 0; j < 10; j++) {
            log_output_sink(&entry, output);
        }
        assert_int_equal(errno, ERANGE);
        log_output_free(output);
    }
    assert_int_equal(close(full), 0);
    assert_int_equal(close(pipe_fds[1]), 0);
}

/* Lines lost in a reader that stands still are counted, and said when it reads on. */
static void test_stalled_reader(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    struct log_output_options options = {fds[1], LOG_OUTPUT_JSON, 0, fake_clock, NULL};
    struct log_output *output = log_output_new(&options);
    struct log_entry entry = {LOG_LEVEL_INFO, "e", "m", NULL, 0};
    for (int i = 0; i < 5000; i++) {
        log_output_sink(&entry, output); /* would block for ever if it could */
    }
    static char text[256 * 1024];
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    size_t length = 0;
    for (ssize_t count = 1; count > 0; length += count > 0 ? (size_t)count : 0) {
        count = read(fds[0], text + length, sizeof(text) - 1 - length);
    }
    text[length] = '\0';
    size_t written = count_of(text, "\n");
    assert_true(written > 10 && written < 5000);
    log_output_sink(&entry, output);
    ssize_t count = read(fds[0], text, sizeof(text) - 1);
    assert_true(count > 0);
    text[count] = '\0';
    char expected[64];
    (void)snprintf(expected, sizeof(expected), "\"count\":%zu}", 5000 - written);
    assert_non_null(strstr(text, "log_lines_lost"));
    assert_non_null(strstr(text, expected));
    log_output_free(output);
    assert_int_equal(close(fds[0]) + close(fds[1]), 0);
}

static void test_journal_is_recognised(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    struct stat status;
    assert_int_equal(fstat(fileno(file), &status), 0);
    char stream[64];
    (void)snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    struct log_output_options options = {fileno(file), LOG_OUTPUT_AUTO, 0, NULL, NULL};
    assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
    struct log_output *output = log_output_new(&options);
    assert_int_equal(log_output_format(output), LOG_OUTPUT_JOURNAL);
    log_output_free(output);
    assert_int_equal(setenv("JOURNAL_STREAM", "1:1", 1), 0);
    output = log_output_new(&options);
    assert_int_equal(log_output_format(output), LOG_OUTPUT_JSON);
    log_output_free(output);
    assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    options.fd = terminal;
    output = log_output_new(&options);
    assert_int_equal(log_output_format(output), LOG_OUTPUT_TEXT);
    log_output_free(output);
    assert_int_equal(close(terminal), 0);
    assert_int_equal(fclose(file), 0);
}

static void test_names(void **state)
{
    (void)state;
    enum log_output_format format = LOG_OUTPUT_TEXT;
    enum log_level level = LOG_LEVEL_INFO;
    assert_true(log_output_format_named("json", &format) && format == LOG_OUTPUT_JSON);
    assert_true(log_output_format_named("auto", &format) && format == LOG_OUTPUT_AUTO);
    assert_false(log_output_format_named("JSON", &format));
    assert_int_equal(format, LOG_OUTPUT_AUTO);
    assert_true(log_output_level_named("warning", &level) && level == LOG_LEVEL_WARNING);
    assert_false(log_output_level_named("", &level));
    assert_int_equal(level, LOG_LEVEL_WARNING);
}

static int with_closed_fds(void)
{
    (void)close(0);
    (void)close(2);
    log_output_secure_standard_fds();
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return next > 2 && fcntl(2, F_GETFD) >= 0 && fcntl(0, F_GETFD) >= 0 && write(2, "x", 1) == 1 ? 0 : 1;
}

static void test_closed_standard_fds(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(with_closed_fds());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *log_much(void *context)
{
    struct log_entry entry = {LOG_LEVEL_INFO, "e", "from a thread", NULL, 0};
    for (int i = 0; i < 500; i++) {
        log_output_sink(&entry, context);
        log_output_tick(context);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct scene scene = open_scene(LOG_OUTPUT_JSON, 0);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, log_much, scene.output), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    char *text = close_scene(&scene);
    assert_int_equal(count_of(text, "\"message\":\"from a thread\"}\n"), 2000);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_text_and_journal),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_truncation_is_said),
        cmocka_unit_test(test_rate_limit),
        cmocka_unit_test(test_rate_limit_next_window_and_end),
        cmocka_unit_test(test_many_event_names),
        cmocka_unit_test(test_failures_do_not_hurt),
        cmocka_unit_test(test_stalled_reader),
        cmocka_unit_test(test_journal_is_recognised),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_closed_standard_fds),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
