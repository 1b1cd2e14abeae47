/* `tarry dlq list, get, reasons, export, import` against a real nats-server: what stands there is shown, exactly, and looking changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cli/verbs.h"
#include "dlq/letter_json.h"
#include "tests/support/await.h"
#include "tests/support/cli_program.h"
#include "tests/support/nats_client.h"
#include "tests/support/nats_letters.h"
#include "tests/support/nats_server.h"
#include "tests/support/temp.h"

#define POST_MS 30000

/* The bytes of D10. */
static const uint8_t binary[] = {0x1b, 0x5b, 0x32, 0x4a, 0x00, 0xff, 0xfe, 0x0d, 0x0a};
#define BINARY ((struct span){binary, sizeof binary})

struct place {
    struct nats_server *server;
    struct nats_client *client;
    struct link *link;
    struct streams_options streams;
    struct mailer *mailer;
    char *folder;
    char *config;
};

static struct place place;

/* -------------------------------------------------------------------------------------------------- the place */

static void write_config(const char *path, const char *url, const char *more)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    /* neither an instance nor a source: `tarry dlq` needs none */
    fprintf(file, "kafka: {bootstrap.servers: \"127.0.0.1:1\"}\nnats: {url: \"%s\"%s}\n", url, more);
    assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
    (void)state;
    place.server = nats_server_start(NULL);
    place.client = nats_client_open(nats_server_url(place.server));
    place.link = nats_letters_link(nats_server_url(place.server));
    place.streams = nats_letters_options();
    nats_letters_streams(place.link, &place.streams);
    place.mailer = mailer_new(place.link, &place.streams);
    place.folder = temp_directory("dlq_read");
    place.config = temp_path(place.folder, "tarry.yaml");
    write_config(place.config, nats_server_url(place.server), "");
    setenv("TARRY_CONFIG", place.config, 1);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mailer_free(place.mailer);
    link_close(place.link);
    nats_client_close(place.client);
    nats_server_free(place.server);
    free(place.config);
    temp_remove(place.folder);
    place = (struct place){0};
    return 0;
}

static void post(const struct letter *letter, enum letter_state state)
{
    struct mailer_item item = {.letter = letter, .state = state};
    mailer_post(place.mailer, &item, 1, POST_MS);
    if (item.result != MAILER_KEPT) {
        fail_msg("letter %s was not kept: %s", letter->id, item.error);
    }
}

static void post_many(uint64_t first, size_t count, size_t value_bytes)
{
    for (size_t done = 0; done < count; done += 200) {
        size_t batch = count - done < 200 ? count - done : 200;
        assert_int_equal(nats_letters_post(place.mailer, first + done, batch, value_bytes, POST_MS, NULL), batch);
    }
}

#define RUN(out, ...) cli_program_run(out, (const char *const[]){"dlq", __VA_ARGS__, NULL})
#define PIPED(...) RUN(CLI_PROGRAM_PIPE, __VA_ARGS__)
#define ON_TERMINAL(...) RUN(CLI_PROGRAM_TERMINAL, __VA_ARGS__)

/* Runs it, and says how many lines came; it must end well. */
#define LINES(...) lines_of(PIPED(__VA_ARGS__))
static size_t lines_of(struct cli_program program)
{
    cli_program_expect(&program, VERBS_EXIT_DONE);
    size_t lines = cli_program_lines(&program);
    cli_program_free(&program);
    return lines;
}

static void expect_code(struct cli_program program, int code, const char *words)
{
    cli_program_expect(&program, code);
    assert_non_null(program.errors);
    if (strstr(program.errors, words) == NULL) {
        fail_msg("\"%s\" does not stand in: %s", words, program.errors);
    }
    cli_program_free(&program);
}

static void assert_same(const struct letter *a, const struct letter *b)
{
    struct buffer one = buffer_new(64 << 20);
    struct buffer two = buffer_new(64 << 20);
    assert_true(letter_encode(&one, a, NULL) && letter_encode(&two, b, NULL));
    assert_true(span_equal(buffer_span(&one), buffer_span(&two)));
    buffer_free(&one);
    buffer_free(&two);
}

/* The letter of the nth line, read back. */
static struct letter letter_of_line(const char *text, size_t nth, struct buffer *room, enum letter_state *state)
{
    struct letter letter;
    struct error error = {ERROR_NONE, ""};
    for (; nth > 0; nth--) {
        text = strchr(text, '\n');
        assert_non_null(text);
        text++;
    }
    struct span line = {(const uint8_t *)text, strcspn(text, "\n")};
    if (!letter_json_read(line, room, &letter, state, &error)) {
        fail_msg("%s: %.*s", error.text, (int)line.length, (const char *)line.data);
    }
    return letter;
}

/* ---------------------------------------------------------------------------------------------------- D10, list */

static struct letter binary_letter(struct buffer *headers)
{
    struct letter letter = nats_letters_one(1, 10);
    letter.error = span_of_text("? what a broker says");
    letter.record.key = BINARY;
    letter.record.value = BINARY;
    letter.schedule_id = BINARY;
    letter_add_header(headers, BINARY, BINARY);
    letter_add_header(headers, span_of_text("null"), SPAN_ABSENT);
    letter_add_header(headers, span_of_text("null"), span_of_text(""));
    letter.record.headers = buffer_span(headers);
    return letter;
}

static void assert_harmless(const struct cli_program *program)
{
    for (size_t i = 0; i < program->length; i++) {
        unsigned char byte = (unsigned char)program->text[i];
        if (byte != '\n' && byte != '\r' && (byte < 0x20 || byte >= 0x7f)) {
            fail_msg("byte %02x at %zu of: %s", byte, i, program->text);
        }
    }
}

static void what_is_listed_is_exact(void **state)
{
    (void)state;
    struct buffer headers = buffer_new(4096);
    struct buffer room = buffer_new(1 << 20);
    enum letter_state read_state;
    struct letter waiting = binary_letter(&headers);
    struct letter parked = nats_letters_one(2, 300);
    parked.target = SPAN_ABSENT;
    post(&parked, LETTER_PARKED);
    post(&waiting, LETTER_WAITING);
    struct cli_program list = PIPED("list");
    cli_program_expect(&list, VERBS_EXIT_DONE);
    assert_int_equal(cli_program_lines(&list), 2);
    struct letter read = letter_of_line(list.text, 0, &room, &read_state);
    assert_int_equal(read_state, LETTER_WAITING);
    assert_same(&read, &waiting);
    read = letter_of_line(list.text, 1, &room, &read_state);
    assert_int_equal(read_state, LETTER_PARKED);
    assert_same(&read, &parked);
    cli_program_free(&list);
    buffer_free(&room);
    buffer_free(&headers);
}

static void a_terminal_gets_nothing_binary(void **state)
{
    (void)state;
    struct buffer headers = buffer_new(4096);
    struct letter letter = binary_letter(&headers);
    struct letter other = nats_letters_one(2, 10);
    post(&letter, LETTER_PARKED);
    post(&other, LETTER_PARKED);
    setenv("NO_COLOR", "1", 1);
    struct cli_program shown[] = {ON_TERMINAL("list"), ON_TERMINAL("get", letter.id), ON_TERMINAL("list", "-o", "json"),
                                  ON_TERMINAL("get", letter.id, "-o", "jsonl"), ON_TERMINAL("reasons", "--by", "error")};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        cli_program_expect(&shown[i], VERBS_EXIT_DONE);
        assert_true(shown[i].length > 20);
        assert_harmless(&shown[i]);
    }
    assert_non_null(strstr(shown[0].text, other.id)); /* one does not hide the other */
    assert_non_null(strstr(shown[1].text, "\\x1b[2J\\x00"));
    assert_non_null(strstr(shown[2].text, "base64"));
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        cli_program_free(&shown[i]);
    }
    unsetenv("NO_COLOR");
    struct cli_program coloured = ON_TERMINAL("list");
    assert_non_null(strstr(coloured.text, "\x1b[1m"));
    cli_program_free(&coloured);
    buffer_free(&headers);
}

static void raw_bytes_are_the_bytes(void **state)
{
    (void)state;
    struct buffer headers = buffer_new(4096);
    struct letter letter = binary_letter(&headers);
    struct letter text = nats_letters_one(2, 10);
    text.record.value = span_of_text("line 1\nline 2\n");
    text.record.key = SPAN_ABSENT;
    post(&letter, LETTER_WAITING);
    post(&text, LETTER_WAITING);
    struct cli_program raw = PIPED("get", letter.id, "--raw", "value");
    cli_program_expect(&raw, VERBS_EXIT_DONE);
    assert_int_equal(raw.length, sizeof binary);
    assert_memory_equal(raw.text, binary, sizeof binary);
    cli_program_free(&raw);
    expect_code(ON_TERMINAL("get", letter.id, "--raw", "value"), VERBS_EXIT_FAILED, "binary");
    struct cli_program plain = ON_TERMINAL("get", text.id, "--raw=value");
    cli_program_expect(&plain, VERBS_EXIT_DONE);
    assert_non_null(strstr(plain.text, "line 2"));
    cli_program_free(&plain);
    struct cli_program null = PIPED("get", text.id, "--raw", "key");
    assert_int_equal(null.length, 0);
    expect_code(null, VERBS_EXIT_DONE, "null");
    expect_code(PIPED("get", "no-such-id"), VERBS_EXIT_PARTLY, "no letter");
    expect_code(PIPED("get", "--id-base64", "G1sySgD//g0K", "-o", "json"), VERBS_EXIT_DONE, "");
    buffer_free(&headers);
}

static void a_damaged_message_hides_nothing(void **state)
{
    (void)state;
    post_many(0, 3, 10);
    uint64_t first = nats_client_first(place.client, "TARRY_DLQ");
    (void)nats_client_publish(place.client, "dlq.orders", NULL, "no letter", 9);
    (void)nats_client_publish(place.client, "dlq.orders", NULL, "", 0);
    post_many(3, 3, 10);
    struct cli_program list = PIPED("list");
    cli_program_expect(&list, VERBS_EXIT_PARTLY);
    assert_int_equal(cli_program_lines(&list), 6);
    assert_non_null(strstr(list.errors, nats_client_place(place.client, "TARRY_DLQ message ", "TARRY_DLQ", 4)));
    assert_non_null(strstr(list.errors, "2 messages could not be read"));
    cli_program_free(&list);
    (void)nats_client_publish(place.client, "nack.orders", NULL, "a nack is no letter", 19);
    nats_client_delete_message(place.client, "TARRY_DLQ", first + 3);
    nats_client_delete_message(place.client, "TARRY_DLQ", first + 4);
    assert_int_equal(LINES("list"), 6);
}

/* ------------------------------------------------------------------------------------------------- N16, filters */

static void filters_mean_whole_names(void **state)
{
    (void)state;
    static const char *const topics[] = {"a.b", "a_b", "a-b", "ab"};
    static const char *const ids[] = {"x y", "*", ">", "a..b", ".", "line\nend", "dlq.>"};
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        struct letter letter = nats_letters_one(i, 10);
        letter.target = span_of_text(topics[i]);
        post(&letter, i % 2 == 0 ? LETTER_WAITING : LETTER_PARKED);
    }
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        struct letter letter = nats_letters_one(100 + i, 10);
        letter.schedule_id = span_of_text(ids[i]);
        post(&letter, LETTER_WAITING);
    }
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        assert_int_equal(LINES("list", "--target", topics[i]), 1);
    }
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_int_equal(LINES("list", "--id", ids[i]), 1);
        assert_int_equal(LINES("get", ids[i]), 1);
    }
    assert_int_equal(LINES("list", "--target", "a.b", "--target", "a_b"), 2);
    assert_int_equal(LINES("list", "--state", "parked"), 2);
    assert_int_equal(LINES("list", "--id", "**"), 0);
    assert_int_equal(LINES("list", "--target", "_refused"), 0);
    expect_code(PIPED("list", "--target", "a.*"), VERBS_EXIT_USAGE, "no topic");
}

static void every_filter_reaches_the_letters(void **state)
{
    (void)state;
    struct buffer headers = buffer_new(4096);
    letter_add_header(&headers, span_of_text("type"), span_of_text("order"));
    post_many(0, 5, 10);
    struct letter letter = nats_letters_one(9, 10);
    letter.reason = LETTER_REASON_INVALID;
    letter.error = span_of_text("schema 17 is not known");
    letter.record.key = span_of_text("k-9");
    letter.record.headers = buffer_span(&headers);
    letter.last_failure_ms = await_wall_ms() - 120000;
    post(&letter, LETTER_PARKED);
    static const char *const meant[][2] = {
        {"--reason", "invalid"}, {"--error", "schema [0-9]+"}, {"--key", "k-9"}, {"--key-base64", "ay05"}, {"--header", "type=order"},
        {"--since", "10m"},      {"--state", "parked"},
    };
    for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++) {
        struct cli_program list = PIPED("list", meant[i][0], meant[i][1]);
        cli_program_expect(&list, VERBS_EXIT_DONE);
        if (cli_program_lines(&list) != 1 || strstr(list.text, letter.id) == NULL) {
            fail_msg("%s %s: %s", meant[i][0], meant[i][1], list.text);
        }
        cli_program_free(&list);
    }
    assert_int_equal(LINES("list", "--until", "1m"), 6);
    assert_int_equal(LINES("list", "--until", "10m"), 5);
    assert_int_equal(LINES("list", "--limit", "2"), 2);
    buffer_free(&headers);
}

/* ----------------------------------------------------------------------------------------------- reasons, pages */

static void reasons_add_up(void **state)
{
    (void)state;
    static const char *const errors[] = {"timed out after 17 ms at 10.0.0.1", "timed out after 4 ms at 10.0.0.23", "no such topic"};
    for (size_t i = 0; i < 6; i++) {
        struct letter letter = nats_letters_one(i, 10);
        letter.error = span_of_text(errors[i % 3]);
        letter.target = i < 2 ? span_of_text("payments") : letter.target;
        post(&letter, i < 4 ? LETTER_WAITING : LETTER_PARKED);
    }
    struct cli_program reasons = PIPED("reasons", "--by", "error");
    cli_program_expect(&reasons, VERBS_EXIT_DONE);
    assert_int_equal(cli_program_lines(&reasons), 2);
    static const char first[] = "{\"by\":\"error\",\"group\":\"timed out after N ms at N.N.N.N\",\"count\":4,\"share\":0.6667,\"waiting\":3,\"parked\":1,";
    assert_int_equal(strncmp(reasons.text, first, strlen(first)), 0);
    cli_program_free(&reasons);
    assert_int_equal(LINES("reasons"), 1);
    assert_int_equal(LINES("reasons", "--by", "target"), 2);
    assert_int_equal(LINES("reasons", "--by=source"), 1);
    assert_int_equal(LINES("reasons", "--by=hour"), 1);
    assert_int_equal(LINES("reasons", "--by=target", "--state", "parked"), 1);
    struct cli_program table = ON_TERMINAL("reasons", "--by", "hour");
    assert_non_null(strstr(table.text, "2023-11-14T22:00:00Z"));
    assert_non_null(strstr(table.text, "100.0%"));
    cli_program_free(&table);
    expect_code(PIPED("reasons", "--by", "colour"), VERBS_EXIT_USAGE, "--by");
}

/* N17: all of them are listed, none is dropped, in bounded memory; a terminal gets a page, and the next. */
static void twenty_thousand_are_listed(void **state)
{
    (void)state;
    post_many(0, 20000, 4096);
    struct cli_program list = PIPED("list");
    cli_program_expect(&list, VERBS_EXIT_DONE);
    assert_int_equal(cli_program_lines(&list), 20000);
    print_message("20,000 letters of 4 KB: %zu bytes of JSON, %lld KiB resident at most\n", list.length, (long long)list.rss_kib);
    assert_true(list.rss_kib < 256 * 1024 || getenv("ASAN_OPTIONS") != NULL);
    cli_program_free(&list);
    struct cli_program page = ON_TERMINAL("list");
    cli_program_expect(&page, VERBS_EXIT_DONE);
    assert_int_equal(cli_program_lines(&page), 51);
    assert_non_null(strstr(page.errors, nats_client_place(place.client, " more; go on with --after waiting:", "TARRY_DLQ", 50)));
    cli_program_free(&page);
    struct cli_program next = PIPED("list", "--no-payload", "--after", nats_client_place(place.client, "waiting:", "TARRY_DLQ", 19950));
    cli_program_expect(&next, VERBS_EXIT_DONE);
    assert_int_equal(cli_program_lines(&next), 50);
    assert_null(strstr(next.text, "\"value\""));
    cli_program_free(&next);
}

static void pages_cross_from_waiting_to_parked(void **state)
{
    (void)state;
    post_many(0, 3, 10);
    for (uint64_t i = 10; i < 13; i++) {
        struct letter letter = nats_letters_one(i, 10);
        post(&letter, LETTER_PARKED);
    }
    expect_code(PIPED("list", "--limit", "2"), VERBS_EXIT_DONE, nats_client_place(place.client, "4 more; go on with --after waiting:", "TARRY_DLQ", 2));
    expect_code(PIPED("list", "--limit", "2", "--after", nats_client_place(place.client, "waiting:", "TARRY_DLQ", 2)), VERBS_EXIT_DONE, nats_client_place(place.client, "2 more; go on with --after parked:", "TARRY_PARKED", 1));
    assert_int_equal(LINES("list", "--limit", "2", "--after", nats_client_place(place.client, "parked:", "TARRY_PARKED", 1)), 2);
    nats_client_delete_message(place.client, "TARRY_DLQ", nats_client_first(place.client, "TARRY_DLQ") + 1); /* a place that is gone is a place all the same */
    assert_int_equal(LINES("list", "--after", nats_client_place(place.client, "waiting:", "TARRY_DLQ", 2)), 4);
    assert_int_equal(LINES("list", "--after", nats_client_place(place.client, "parked:", "TARRY_PARKED", 99)), 0);
    expect_code(PIPED("list", "--after", "here:1"), VERBS_EXIT_USAGE, "--after");
}

/* ------------------------------------------------------------------------------- N04, and while others are at work */

static jsStreamState standing_of(const char *stream)
{
    jsStreamInfo *info = NULL;
    assert_true(nats_client_info(place.client, stream, &info));
    jsStreamState standing = info->State;
    jsStreamInfo_Destroy(info);
    return standing;
}

static bool has_no_consumers(void *stream)
{
    return nats_client_consumers(place.client, stream) == 0;
}

static void looking_changes_nothing(void **state)
{
    (void)state;
    enum { ROUNDS = 10, PARALLEL = 5 };
    char dlq[] = "TARRY_DLQ";
    char parked[] = "TARRY_PARKED";
    post_many(0, 20, 100);
    struct letter letter = nats_letters_one(99, 10);
    post(&letter, LETTER_PARKED);
    jsStreamState before = standing_of(dlq);
    for (int round = 0; round < ROUNDS; round++) {
        struct cli_program programs[2 * PARALLEL];
        for (int i = 0; i < PARALLEL; i++) {
            programs[2 * i] = cli_program_start(CLI_PROGRAM_PIPE, NULL, (const char *const[]){"dlq", "list", NULL});
            programs[2 * i + 1] = cli_program_start(CLI_PROGRAM_PIPE, NULL, (const char *const[]){"dlq", "get", letter.id, NULL});
        }
        for (int i = 0; i < 2 * PARALLEL; i++) {
            cli_program_finish(&programs[i]);
            cli_program_expect(&programs[i], VERBS_EXIT_DONE);
            assert_int_equal(cli_program_lines(&programs[i]), i % 2 == 0 ? 21 : 1);
            cli_program_free(&programs[i]);
        }
    }
    jsStreamState after = standing_of(dlq);
    assert_int_equal(after.Msgs, before.Msgs);
    assert_int_equal(after.FirstSeq, before.FirstSeq);
    assert_int_equal(after.LastSeq, before.LastSeq);
    assert_true(await_condition(has_no_consumers, dlq, 10000));
    assert_true(await_condition(has_no_consumers, parked, 10000));
}

/* Waits until it writes: it is in the midst of reading then, and cannot go on, as nobody takes what it writes. */
static struct cli_program start_and_block(void)
{
    struct cli_program list = cli_program_start(CLI_PROGRAM_PIPE, NULL, (const char *const[]){"dlq", "list", NULL});
    list.text = calloc(1, 2);
    assert_int_equal(read(list.out, list.text, 1), 1);
    list.length = 1;
    return list;
}

static void what_comes_later_is_not_listed(void **state)
{
    (void)state;
    post_many(0, 1000, 4096);
    struct cli_program list = start_and_block();
    post_many(5000, 10, 4096);
    for (uint64_t sequence = 901; sequence <= 1000; sequence++) {
        nats_client_delete_message(place.client, "TARRY_DLQ", nats_client_first(place.client, "TARRY_DLQ") + sequence - 1);
    }
    cli_program_finish(&list);
    cli_program_expect(&list, VERBS_EXIT_DONE);
    assert_int_equal(cli_program_lines(&list), 900);
    cli_program_free(&list);
}

static void a_server_that_restarts_costs_nothing(void **state)
{
    (void)state;
    post_many(0, 2000, 4096);
    struct cli_program list = start_and_block();
    nats_server_kill(place.server);
    nats_server_restart(place.server);
    cli_program_finish(&list);
    cli_program_expect(&list, VERBS_EXIT_DONE);
    assert_int_equal(cli_program_lines(&list), 2000);
    cli_program_free(&list);
}

static void a_server_that_goes_for_good_is_no_end(void **state)
{
    (void)state;
    post_many(0, 2000, 4096);
    struct cli_program list = start_and_block();
    nats_server_kill(place.server);
    cli_program_finish(&list);
    assert_true(cli_program_lines(&list) < 2000);
    expect_code(list, VERBS_EXIT_UNREACHABLE, "tarry dlq list: ");
    nats_server_restart(place.server);
}

/* ------------------------------------------------------------------------------------------------ large records */

static void what_stands_apart_is_found_and_loaded(void **state)
{
    (void)state;
    struct letter large = nats_letters_one(1, 3u << 20);
    struct letter small = nats_letters_one(2, 10);
    struct buffer room = buffer_new(64 << 20);
    enum letter_state read_state;
    large.record.key = span_of_text("large");
    post(&large, LETTER_PARKED);
    post(&small, LETTER_PARKED);
    struct cli_program table = ON_TERMINAL("list");
    assert_non_null(strstr(table.text, "(large record)"));
    cli_program_free(&table);
    assert_int_equal(LINES("list", "--key", "large"), 1);
    struct cli_program raw = PIPED("get", large.id, "--raw", "value");
    assert_int_equal(raw.length, large.record.value.length);
    assert_memory_equal(raw.text, large.record.value.data, raw.length);
    cli_program_free(&raw);
    struct cli_program export = PIPED("export");
    cli_program_expect(&export, VERBS_EXIT_DONE);
    struct letter read = letter_of_line(export.text, 0, &room, &read_state);
    assert_true(span_equal(read.record.value, large.record.value));
    cli_program_free(&export);
    nats_client_purge(place.client, "TARRY_DLQ_LARGE", NULL);
    export = PIPED("export");
    assert_int_equal(cli_program_lines(&export), 1); /* the other one; half a letter is not exported */
    expect_code(export, VERBS_EXIT_PARTLY, "1 record could not be loaded");
    struct cli_program list = PIPED("list");
    assert_int_equal(cli_program_lines(&list), 2);
    cli_program_free(&list);
    buffer_free(&room);
}

/* ----------------------------------------------------------------------------------------------- export, import */

static char *exported(void)
{
    struct cli_program export = PIPED("export");
    cli_program_expect(&export, VERBS_EXIT_DONE);
    char *text = memory_text(export.text, export.length);
    cli_program_free(&export);
    return text;
}

static char *write_file(const char *name, const char *text)
{
    char *path = temp_path(place.folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

static void what_was_exported_comes_back(void **state)
{
    (void)state;
    struct buffer headers = buffer_new(4096);
    struct letter one = binary_letter(&headers);
    post(&one, LETTER_PARKED);
    post_many(10, 300, 500);
    char *before = exported();
    char *file = temp_path(place.folder, "letters.jsonl");
    expect_code(PIPED("export", "-O", file), VERBS_EXIT_DONE, "301 letters written");
    expect_code(PIPED("export", "-O", file), VERBS_EXIT_FAILED, "choose another name");
    expect_code(PIPED("import", file, "--execute"), VERBS_EXIT_DONE, ""); /* all stand there */
    char *same = exported();
    assert_string_equal(same, before);
    nats_client_purge(place.client, "TARRY_DLQ", NULL);
    nats_client_purge(place.client, "TARRY_PARKED", NULL);
    struct cli_program dry = PIPED("import", file);
    cli_program_expect(&dry, VERBS_EXIT_DONE);
    assert_string_equal(dry.text, "{\"executed\":false,\"letters\":301,\"waiting\":300,\"parked\":1,\"imported\":0,\"already\":0,\"twice\":0,\"refused\":0}\n");
    cli_program_free(&dry);
    assert_int_equal(nats_client_count(place.client, "TARRY_DLQ", NULL) + nats_client_count(place.client, "TARRY_PARKED", NULL), 0);
    struct cli_program import = PIPED("import", file, "--execute");
    cli_program_expect(&import, VERBS_EXIT_DONE);
    assert_non_null(strstr(import.text, "\"imported\":301,\"already\":0"));
    cli_program_free(&import);
    char *after = exported();
    assert_string_equal(after, before);
    import = cli_program_start(CLI_PROGRAM_PIPE, file, (const char *const[]){"dlq", "import", "-", "--execute", NULL});
    cli_program_finish(&import);
    cli_program_expect(&import, VERBS_EXIT_DONE);
    assert_non_null(strstr(import.text, "\"imported\":0,\"already\":301"));
    cli_program_free(&import);
    expect_code(PIPED("import", file, "--as-new", "--execute"), VERBS_EXIT_DONE, "");
    assert_int_equal(LINES("list"), 602);
    free(after);
    free(same);
    free(before);
    free(file);
    buffer_free(&headers);
}

static void a_wrong_line_lets_nothing_in(void **state)
{
    (void)state;
    char *file = write_file("wrong.jsonl", "{\"origin\":{\"topic\":\"t\"},\"target\":\"orders\"}\n"
                                           "\n"
                                           "{\"origin\":{\"topic\":\"t\"},\"targets\":\"orders\"}\n"
                                           "{\"origin\":{\"topic\":\"t\"}}\n"
                                           "{\"origin\":{\"topic\":\"t\"},\"target\":\"a b\",\"state\":\"parked\"}\n"
                                           "not json\n");
    struct cli_program import = PIPED("import", file, "--execute");
    cli_program_expect(&import, VERBS_EXIT_FAILED);
    assert_non_null(strstr(import.errors, "wrong.jsonl:3: "));
    assert_non_null(strstr(import.errors, "wrong.jsonl:4: target"));
    assert_non_null(strstr(import.errors, "wrong.jsonl:5: target"));
    assert_non_null(strstr(import.errors, "wrong.jsonl:6: "));
    assert_non_null(strstr(import.errors, "4 lines are no letters: nothing was imported"));
    cli_program_free(&import);
    assert_int_equal(nats_client_count(place.client, "TARRY_DLQ", NULL), 0);
    char *good = write_file("good.jsonl", "{\"origin\":{\"topic\":\"t\"},\"target\":\"orders\"}\n{\"origin\":{\"topic\":\"t\"},\"target\":\"orders\"}");
    expect_code(PIPED("import", good, "--execute"), VERBS_EXIT_DONE, "");
    assert_int_equal(LINES("list"), 2); /* without an id each gets one of its own */
    expect_code(PIPED("import", "/no/such/file"), VERBS_EXIT_FAILED, "/no/such/file");
    expect_code(PIPED("import", good, "--state", "parked"), VERBS_EXIT_USAGE, "--state");
    free(good);
    free(file);
}

/* ---------------------------------------------------------------------------------------------------- exit codes */

static void exit_codes_say_what_is_wrong(void **state)
{
    (void)state;
    char *config = temp_path(place.folder, "other.yaml");
    expect_code(PIPED("lst"), VERBS_EXIT_USAGE, "did you mean list?");
    expect_code(PIPED("list", "--nothing"), VERBS_EXIT_USAGE, "tarry dlq list --help");
    expect_code(PIPED("get"), VERBS_EXIT_USAGE, "which letter");
    expect_code(PIPED("get", "a", "b"), VERBS_EXIT_USAGE, "one id");
    write_config(config, nats_server_url(place.server), ", nothing: 1");
    expect_code(PIPED("list", "-c", config), VERBS_EXIT_CONFIG, "other.yaml");
    write_config(config, "nats://127.0.0.1:1", "");
    expect_code(PIPED("list", "-c", config), VERBS_EXIT_UNREACHABLE, "127.0.0.1:1");
    FILE *file = fopen(config, "w");
    fprintf(file, "kafka: {bootstrap.servers: \"127.0.0.1:1\"}\nnats: {url: \"%s\"}\nhttp: {token_file: /no/such/token}\ninstance: \"not a name\"\n",
            nats_server_url(place.server));
    fclose(file);
    assert_int_equal(LINES("list", "-c", config), 0); /* what is wrong is the daemon's alone */
    expect_code(PIPED("export", "-O", "/dev/full"), VERBS_EXIT_FAILED, "/dev/full");
    expect_code(PIPED("export", "-O", "/no/such/folder/x"), VERBS_EXIT_FAILED, "/no/such/folder/x");
    free(config);
}

static void a_refused_login_has_its_code(void **state)
{
    (void)state;
    struct nats_server *guarded = nats_server_start("authorization { user: a, password: b }\n");
    char *config = temp_path(place.folder, "guarded.yaml");
    char *password = write_file("password", "c\n");
    char more[512];
    chmod(password, 0600);
    (void)snprintf(more, sizeof more, ", user: a, password_file: \"%s\"", password);
    write_config(config, nats_server_url(guarded), more);
    expect_code(PIPED("list", "-c", config), VERBS_EXIT_REFUSED, "refuses the login");
    FILE *file = fopen(password, "w");
    fputs("b\n", file);
    fclose(file);
    assert_int_equal(LINES("list", "-c", config), 0); /* no streams yet: no letters, and none are made by looking */
    free(password);
    free(config);
    nats_server_free(guarded);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_listed_is_exact),
        TEST(a_terminal_gets_nothing_binary),
        TEST(raw_bytes_are_the_bytes),
        TEST(a_damaged_message_hides_nothing),
        TEST(filters_mean_whole_names),
        TEST(every_filter_reaches_the_letters),
        TEST(reasons_add_up),
        TEST(twenty_thousand_are_listed),
        TEST(pages_cross_from_waiting_to_parked),
        TEST(looking_changes_nothing),
        TEST(what_comes_later_is_not_listed),
        TEST(a_server_that_restarts_costs_nothing),
        TEST(a_server_that_goes_for_good_is_no_end),
        TEST(what_stands_apart_is_found_and_loaded),
        TEST(what_was_exported_comes_back),
        TEST(a_wrong_line_lets_nothing_in),
        TEST(exit_codes_say_what_is_wrong),
        TEST(a_refused_login_has_its_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
