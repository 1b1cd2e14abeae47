/* The reader: all of a stream in order, nothing left behind on the server, and no silence where a message could be missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "dlq/reader.h"
#include "tests/support/await.h"
#include "tests/support/nats_client.h"
#include "tests/support/nats_letters.h"
#include "tests/support/nats_server.h"

#define WAIT_MS 10000
#define STREAM "TARRY_DLQ"

struct scene {
    struct nats_server *server;
    struct nats_client *client;
    struct link *link;
    struct streams_options options;
    struct mailer *mailer;
    uint64_t first; /* sequence of the first message there will be */
    struct reader *reader; /* of now: closed at the end also when the test fails, as the link waits for it */
};

static int open_scene(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    scene->server = nats_server_start(NULL);
    scene->client = nats_client_open(nats_server_url(scene->server));
    scene->link = nats_letters_link(nats_server_url(scene->server));
    scene->options = nats_letters_options();
    nats_letters_streams(scene->link, &scene->options);
    scene->first = nats_client_first(scene->client, STREAM);
    scene->mailer = mailer_new(scene->link, &scene->options);
    *state = scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;
    reader_close(scene->reader);
    mailer_free(scene->mailer);
    link_close(scene->link);
    nats_client_close(scene->client);
    nats_server_free(scene->server);
    free(scene);
    return 0;
}

static struct reader *open_reader(struct scene *scene, const char *filter, uint64_t from)
{
    struct error error = {0};
    reader_close(scene->reader);
    scene->reader = NULL;
    if (!reader_open(scene->link, STREAM, filter, from, &scene->reader, &error)) {
        fail_msg("%s", error.text);
    }
    return scene->reader;
}

static struct reader *open_since(struct scene *scene, int64_t since_ms)
{
    struct error error = {0};
    reader_close(scene->reader);
    scene->reader = NULL;
    if (!reader_open_since(scene->link, STREAM, NULL, since_ms, &scene->reader, &error)) {
        fail_msg("%s", error.text);
    }
    return scene->reader;
}

static void close_reader(struct scene *scene)
{
    reader_close(scene->reader);
    scene->reader = NULL;
}

/* Reads to the end; returns how many, each of a greater sequence than the one before. */
static size_t read_to_end(struct reader *reader, uint64_t *last)
{
    size_t count = 0;
    struct reader_message message;
    struct error error = {0};
    enum reader_result result;
    while ((result = reader_next(reader, 0, &message, &error)) == READER_MESSAGE) {
        assert_true(message.sequence > *last);
        assert_true(message.stored_ms > 1600000000000);
        *last = message.sequence;
        count++;
    }
    if (result == READER_FAILED) {
        fail_msg("%s", error.text);
    }
    return count;
}

/* Messages until it fails; false when it never does. */
static bool fails(struct reader *reader, struct error *error)
{
    struct reader_message message;
    int64_t end_ms = await_mono_ms() + 20000;
    enum reader_result result = READER_NOTHING;
    while (result != READER_FAILED && await_mono_ms() < end_ms) {
        result = reader_next(reader, 100, &message, error);
    }
    return result == READER_FAILED;
}

static bool no_consumers(void *context)
{
    const struct scene *scene = context;
    return nats_client_consumers(scene->client, STREAM) == 0;
}

static void test_all_in_order(void **state)
{
    struct scene *scene = *state;
    enum { MANY = 5000 };
    uint64_t last = 0;
    struct reader *reader = open_reader(scene, NULL, 0);
    assert_int_equal(read_to_end(reader, &last), 0);
    assert_int_equal(nats_letters_post(scene->mailer, 0, MANY, 100, WAIT_MS, NULL), MANY);
    assert_int_equal(read_to_end(reader, &last), MANY);
    assert_int_equal(nats_letters_post(scene->mailer, MANY, 3, 100, WAIT_MS, NULL), 3);
    assert_int_equal(read_to_end(reader, &last), 3);
    close_reader(scene);

    reader = open_reader(scene, "dlq.orders", scene->first + MANY - 10);
    last = scene->first + MANY - 11;
    assert_int_equal(read_to_end(reader, &last), 13);
    close_reader(scene);
    reader = open_reader(scene, "dlq.others", 1);
    assert_int_equal(read_to_end(reader, &last), 0);
    close_reader(scene);
    reader = open_reader(scene, NULL, scene->first + MANY + 100);
    assert_int_equal(read_to_end(reader, &last), 0);
    close_reader(scene);
    assert_true(await_condition(no_consumers, scene, WAIT_MS)); /* their removal is not waited for */
}

static void test_what_is_read_is_what_was_written(void **state)
{
    struct scene *scene = *state;
    static const char *const headers[] = {"Tarry-Error: it is broken", NULL};
    struct reader_message message;
    struct error error;
    struct letter letter;
    assert_int_equal(nats_letters_post(scene->mailer, 7, 1, 1000, WAIT_MS, NULL), 1);
    assert_int_equal(nats_client_publish(scene->client, "nack.a%2Eb", headers, "", 0), scene->first + 1);
    struct reader *reader = open_reader(scene, NULL, 1);
    assert_int_equal(reader_next(reader, 0, &message, &error), READER_MESSAGE);
    assert_string_equal(message.subject, "dlq.orders");
    assert_true(letter_decode(message.bytes, &letter, &error));
    struct letter expected = nats_letters_one(7, 1000);
    assert_string_equal(letter.id, expected.id);
    assert_true(span_equal(letter.record.value, expected.record.value));
    assert_int_equal(reader_next(reader, 0, &message, &error), READER_MESSAGE);
    assert_string_equal(message.subject, "nack.a%2Eb");
    assert_int_equal(message.bytes.length, 0);
    assert_non_null(message.bytes.data);
    const char *value = NULL;
    assert_int_equal(natsMsgHeader_Get((natsMsg *)(uintptr_t)message.handle, "Tarry-Error", &value), NATS_OK);
    assert_string_equal(value, "it is broken");
    close_reader(scene);

    struct reader_one *one = NULL;
    assert_true(reader_take(scene->link, STREAM, scene->first + 1, WAIT_MS, &one, &error));
    assert_string_equal(reader_one_message(one)->subject, "nack.a%2Eb");
    assert_int_equal(reader_one_message(one)->sequence, scene->first + 1);
    assert_true(reader_one_message(one)->stored_ms > 1600000000000);
    assert_int_equal(natsMsgHeader_Get((natsMsg *)(uintptr_t)reader_one_message(one)->handle, "Tarry-Error", &value), NATS_OK);
    reader_one_free(one);
    assert_false(reader_take(scene->link, STREAM, scene->first + 2, WAIT_MS, &one, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
}

static int64_t stored_ms(const struct scene *scene, uint64_t sequence)
{
    struct reader_one *one = NULL;
    struct error error;
    assert_true(reader_take(scene->link, STREAM, sequence, WAIT_MS, &one, &error));
    int64_t ms = reader_one_message(one)->stored_ms;
    reader_one_free(one);
    return ms;
}

static bool second_is_over(void *ms)
{
    return await_wall_ms() / 1000 > *(const int64_t *)ms / 1000;
}

/* The last is stored when a second has just begun: nats.c writes such a time wrongly (reader_open_since). */
static void test_since(void **state)
{
    struct scene *scene = *state;
    struct reader_message message;
    struct error error;
    assert_int_equal(nats_letters_post(scene->mailer, 0, 10, 100, WAIT_MS, NULL), 10);
    int64_t tenth_ms = stored_ms(scene, scene->first + 9);
    assert_true(await_condition(second_is_over, &tenth_ms, WAIT_MS));
    assert_int_equal(nats_letters_post(scene->mailer, 10, 1, 100, WAIT_MS, NULL), 1);
    struct reader *reader = open_since(scene, stored_ms(scene, scene->first + 10));
    assert_int_equal(reader_next(reader, 0, &message, &error), READER_MESSAGE);
    assert_int_equal(message.sequence, scene->first + 10);
    assert_int_equal(reader_next(reader, 0, &message, &error), READER_NOTHING);
    close_reader(scene);
    reader = open_since(scene, 0);
    uint64_t last = 0;
    assert_int_equal(read_to_end(reader, &last), 11);
    close_reader(scene);
}

static void test_poll_does_not_wait(void **state)
{
    struct scene *scene = *state;
    struct reader_message message;
    struct error error;
    struct reader *reader = open_reader(scene, NULL, 1);
    int64_t start_ms = await_mono_ms();
    for (int i = 0; i < 20; i++) {
        assert_int_equal(reader_poll(reader, 0, &message, &error), READER_NOTHING);
    }
    assert_true(await_mono_ms() - start_ms < 10000); /* each would wait 2 s for the end of its request */
    assert_int_equal(nats_letters_post(scene->mailer, 0, 1, 100, WAIT_MS, NULL), 1);
    assert_int_equal(reader_poll(reader, WAIT_MS, &message, &error), READER_MESSAGE);
    assert_int_equal(message.sequence, scene->first);
    /* longer than a request lives: it is followed by another */
    start_ms = await_mono_ms();
    while (await_mono_ms() - start_ms < 5000) {
        assert_int_equal(reader_poll(reader, 300, &message, &error), READER_NOTHING);
    }
    assert_int_equal(nats_letters_post(scene->mailer, 1, 1, 100, WAIT_MS, NULL), 1);
    assert_int_equal(reader_poll(reader, WAIT_MS, &message, &error), READER_MESSAGE);
    close_reader(scene);
}

/* The stream as it is now; borrowed until the next call. */
static const struct reader_stream *stream_now(const struct scene *scene)
{
    static struct reader_stream stream;
    struct streams_state state;
    struct error error;
    assert_true(streams_state(scene->link, STREAM, WAIT_MS, &state, &error));
    stream = (struct reader_stream){STREAM, state.created_ms};
    return &stream;
}

static void test_removed_while_reading(void **state)
{
    struct scene *scene = *state;
    enum { MANY = 1000 };
    struct reader_message message;
    struct error error;
    uint64_t sequences[MANY];
    bool gone[MANY];
    size_t count = 0;
    assert_int_equal(nats_letters_post(scene->mailer, 0, MANY, 100, WAIT_MS, NULL), MANY);
    struct reader *reader = open_reader(scene, NULL, 1);
    assert_int_equal(reader_next(reader, 0, &message, &error), READER_MESSAGE);
    for (uint64_t n = 499; n < MANY - 1; n += 2) {
        sequences[count++] = scene->first + n;
    }
    assert_true(reader_remove(scene->link, stream_now(scene), sequences, count, WAIT_MS, gone, &error));
    uint64_t last = scene->first;
    assert_int_equal(read_to_end(reader, &last), MANY - 1 - count);
    assert_int_equal(last, scene->first + MANY - 1);
    close_reader(scene);
}

static void test_remove(void **state)
{
    struct scene *scene = *state;
    enum { MANY = 3000 };
    static uint64_t sequences[MANY];
    static bool gone[MANY];
    struct error error;
    struct buffer bytes = buffer_new(100000);
    assert_int_equal(nats_letters_post(scene->mailer, 0, 100, 100, WAIT_MS, NULL), 100);
    for (size_t i = 0; i < MANY; i++) {
        sequences[i] = scene->first + 1 + i; /* most of them are not there */
    }
    assert_true(reader_get(scene->link, STREAM, scene->first + 1, WAIT_MS, &bytes, &error));
    assert_true(bytes.length > 0);
    assert_true(reader_remove(scene->link, stream_now(scene), sequences, MANY, WAIT_MS, gone, &error));
    for (size_t i = 0; i < MANY; i++) {
        assert_true(gone[i]);
    }
    assert_int_equal(nats_client_count(scene->client, STREAM, NULL), 1);
    assert_false(reader_get(scene->link, STREAM, scene->first + 1, WAIT_MS, &bytes, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_true(reader_remove(scene->link, stream_now(scene), sequences, 1, WAIT_MS, gone, &error)); /* again is fine */
    sequences[0] = scene->first;
    assert_true(reader_remove(scene->link, stream_now(scene), sequences, 1, WAIT_MS, gone, &error)); /* the last one */
    assert_true(gone[0]);
    assert_true(reader_remove(scene->link, stream_now(scene), sequences, 1, WAIT_MS, gone, &error)); /* of an empty stream */
    assert_false(reader_remove(scene->link, &(struct reader_stream){"NO_SUCH", 1}, sequences, 1, WAIT_MS, gone, &error));
    assert_false(gone[0]);
    struct reader_stream stream = *stream_now(scene);
    stream.created_ms--; /* it was another one that the caller saw */
    assert_int_equal(nats_letters_post(scene->mailer, 200, 1, 100, WAIT_MS, NULL), 1);
    sequences[0] = scene->first + 100;
    assert_true(reader_get(scene->link, STREAM, sequences[0], WAIT_MS, &bytes, &error));
    assert_false(reader_remove(scene->link, &stream, sequences, 1, WAIT_MS, gone, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    assert_false(gone[0]);
    assert_false(reader_remove_before(scene->link, &stream, NULL, sequences[0] + 1, WAIT_MS, &error));
    assert_true(reader_get(scene->link, STREAM, sequences[0], WAIT_MS, &bytes, &error));
    stream.created_ms++;
    assert_true(reader_remove_before(scene->link, &stream, NULL, sequences[0] + 1, WAIT_MS, &error));
    assert_false(reader_get(scene->link, STREAM, sequences[0], WAIT_MS, &bytes, &error));
    nats_server_kill(scene->server);
    assert_false(reader_remove(scene->link, &stream, sequences, 1, WAIT_MS, gone, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    buffer_free(&bytes);
}

/* nats.c 3.4.1 uses a subscription after it was freed when a message comes in meanwhile: link_session_unsubscribe. */
static void test_closed_while_messages_come(void **state)
{
    struct scene *scene = *state;
    struct reader_message message;
    struct error error;
    assert_int_equal(nats_letters_post(scene->mailer, 0, 2000, 2000, WAIT_MS, NULL), 2000);
    for (int i = 0; i < 300; i++) {
        struct reader *reader = NULL;
        assert_true(reader_open(scene->link, STREAM, NULL, 1, &reader, &error));
        enum reader_result result = reader_next(reader, WAIT_MS, &message, &error);
        reader_close(reader);
        assert_int_equal(result, READER_MESSAGE);
    }
}

static void test_no_stream(void **state)
{
    struct scene *scene = *state;
    struct reader *reader = NULL;
    struct error error;
    struct buffer bytes = buffer_new(1000);
    assert_false(reader_open(scene->link, "NO_SUCH", NULL, 1, &reader, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(error.text, "NO_SUCH"));
    assert_false(reader_get(scene->link, "NO_SUCH", 1, WAIT_MS, &bytes, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
}

static void test_stream_deleted(void **state)
{
    struct scene *scene = *state;
    struct error error = {0};
    assert_int_equal(nats_letters_post(scene->mailer, 0, 500, 100, WAIT_MS, NULL), 500);
    struct reader *reader = open_reader(scene, NULL, 1);
    struct reader_message message;
    assert_int_equal(reader_next(reader, 0, &message, &error), READER_MESSAGE);
    nats_client_delete_stream(scene->client, STREAM);
    nats_letters_streams(scene->link, &scene->options); /* another one of that name */
    assert_true(fails(reader, &error));
    assert_non_null(strstr(error.text, STREAM));
    close_reader(scene);
}

/* As an operator's `nats consumer rm` does, or the server when we said nothing for a minute. */
static void test_consumer_deleted(void **state)
{
    struct scene *scene = *state;
    struct error error = {0};
    struct reader *reader = open_reader(scene, NULL, 1);
    uint64_t last = 0;
    assert_int_equal(read_to_end(reader, &last), 0);
    jsConsumerNamesList *names = NULL;
    assert_int_equal(js_ConsumerNames(&names, nats_client_jetstream(scene->client), STREAM, NULL, NULL), NATS_OK);
    assert_int_equal(names->Count, 1);
    assert_int_equal(js_DeleteConsumer(nats_client_jetstream(scene->client), STREAM, names->List[0], NULL, NULL), NATS_OK);
    jsConsumerNamesList_Destroy(names);
    assert_true(fails(reader, &error));
    close_reader(scene);
}

static void test_server_killed(void **state)
{
    struct scene *scene = *state;
    struct error error = {0};
    assert_int_equal(nats_letters_post(scene->mailer, 0, 500, 100, WAIT_MS, NULL), 500);
    struct reader *reader = open_reader(scene, NULL, 1);
    struct reader_message message;
    assert_int_equal(reader_next(reader, 0, &message, &error), READER_MESSAGE);
    nats_server_kill(scene->server);
    nats_server_restart(scene->server);
    assert_true(fails(reader, &error));
    close_reader(scene);
    assert_true(link_wait(scene->link, 30000, &error));
    reader = open_reader(scene, NULL, scene->first + 1);
    uint64_t last = scene->first;
    assert_int_equal(read_to_end(reader, &last), 499);
    close_reader(scene);
}

/* A server that is there and says nothing: found out by the deadline. */
static void test_server_frozen(void **state)
{
    struct scene *scene = *state;
    struct error error = {0};
    struct reader *reader = open_reader(scene, NULL, 1);
    nats_server_freeze(scene->server);
    bool failed = fails(reader, &error);
    nats_server_thaw(scene->server);
    assert_true(failed);
    close_reader(scene);
}

/* The first part is of as many bytes, of which one is another. */
static void damage_part(struct scene *scene)
{
    natsMsg *part = nats_client_message(scene->client, STREAM "_LARGE", nats_client_first(scene->client, STREAM "_LARGE"));
    assert_non_null(part);
    size_t length = (size_t)natsMsg_GetDataLength(part);
    char *bytes = memory_new(length, 1);
    memcpy(bytes, natsMsg_GetData(part), length);
    bytes[length / 2] ^= 1;
    nats_client_publish(scene->client, natsMsg_GetSubject(part), NULL, bytes, length);
    free(bytes);
    natsMsg_Destroy(part);
}

/* A record that stands apart, and what is wrong with one. */
static void test_load(void **state)
{
    struct scene *scene = *state;
    struct mailer_item item;
    struct error error;
    struct letter letter;
    struct buffer bytes = buffer_new(1 << 20);
    struct buffer room = buffer_new(64 << 20);
    struct letter large = nats_letters_one(3, 3 << 20);
    assert_int_equal(nats_letters_post(scene->mailer, 3, 1, 3 << 20, WAIT_MS, &item), 1);
    assert_true(reader_get(scene->link, STREAM, item.sequence, WAIT_MS, &bytes, &error));
    assert_true(letter_decode(buffer_span(&bytes), &letter, &error));
    assert_true(letter.parts > 1);
    assert_true(reader_load(scene->link, &scene->options, &letter, &room, &error));
    assert_true(span_equal(letter.record.value, large.record.value));
    letter.parts_hash ^= 1; /* another record: none of its parts is there */
    assert_false(reader_load(scene->link, &scene->options, &letter, &room, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    letter.parts_hash ^= 1;
    letter.parts_bytes ^= 1;
    assert_false(reader_load(scene->link, &scene->options, &letter, &room, &error));
    assert_int_equal(error.code, ERROR_CORRUPT);
    letter.parts_bytes ^= 1;
    damage_part(scene);
    assert_false(reader_load(scene->link, &scene->options, &letter, &room, &error));
    assert_int_equal(error.code, ERROR_CORRUPT);
    assert_true(mailer_forget_large(scene->mailer, letter.id, &error));
    assert_false(reader_load(scene->link, &scene->options, &letter, &room, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    letter.parts = 0;
    assert_true(reader_load(scene->link, &scene->options, &letter, &room, &error));
    buffer_free(&bytes);
    buffer_free(&room);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_scene, close_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_all_in_order),    TEST(test_what_is_read_is_what_was_written),
        TEST(test_since),           TEST(test_poll_does_not_wait),
        TEST(test_removed_while_reading), TEST(test_remove),
        TEST(test_closed_while_messages_come),
        TEST(test_no_stream),       TEST(test_stream_deleted),
        TEST(test_consumer_deleted), TEST(test_server_killed),
        TEST(test_server_frozen),   TEST(test_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
