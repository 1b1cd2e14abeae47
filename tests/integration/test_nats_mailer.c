/* The mailer: each letter has its result, and what was answered stands in the stream once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "dlq/mailer.h"
#include "dlq/reader.h"
#include "dlq/subject.h"
#include "tests/support/await.h"
#include "tests/support/nats_client.h"
#include "tests/support/nats_letters.h"
#include "tests/support/nats_server.h"

#define WAIT_MS 30000

struct scene {
    struct nats_server *server;
    struct nats_client *client;
    struct link *link;
    struct streams_options options;
    struct mailer *mailer;
};

static int open_scene(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    scene->server = nats_server_start(NULL);
    scene->client = nats_client_open(nats_server_url(scene->server));
    scene->link = nats_letters_link(nats_server_url(scene->server));
    scene->options = nats_letters_options();
    nats_letters_streams(scene->link, &scene->options);
    scene->mailer = mailer_new(scene->link, &scene->options);
    *state = scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;
    mailer_free(scene->mailer);
    link_close(scene->link);
    nats_client_close(scene->client);
    nats_server_free(scene->server);
    free(scene);
    return 0;
}

/* Letters posted by a thread, while this one does something to the server. (Not the other way round: a server dies with the thread that starts it.) */
struct posting {
    pthread_t thread;
    struct mailer *mailer;
    size_t kept;
    struct mailer_item items[2000];
};

static void *post_all(void *context)
{
    struct posting *posting = context;
    posting->kept = nats_letters_post(posting->mailer, 1, 2000, 2000, WAIT_MS, posting->items);
    return NULL;
}

static bool some_are_there(void *context)
{
    struct scene *scene = context;
    return nats_client_count(scene->client, "TARRY_DLQ", NULL) >= 300;
}

/* Begins to post 2,000 letters, and returns when some hundreds are there. */
static struct posting *start_posting(struct scene *scene)
{
    struct posting *posting = memory_new(1, sizeof *posting);
    posting->mailer = scene->mailer;
    assert_int_equal(pthread_create(&posting->thread, NULL, post_all, posting), 0);
    assert_true(await_condition(some_are_there, scene, WAIT_MS));
    return posting;
}

static void assert_all_kept(struct posting *posting)
{
    pthread_join(posting->thread, NULL);
    for (size_t i = 0; i < 2000; i++) {
        if (posting->items[i].result != MAILER_KEPT) {
            fail_msg("%zu kept; of letter %zu: %s", posting->kept, i, posting->items[i].error);
        }
    }
    assert_int_equal(posting->kept, 2000);
    free(posting);
}

static void a_batch_is_kept_in_its_order(void **state)
{
    struct scene *scene = *state;
    struct mailer_item items[100];
    uint64_t first = nats_client_first(scene->client, "TARRY_DLQ");
    assert_int_equal(nats_letters_post(scene->mailer, 1, 100, 200, WAIT_MS, items), 100);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(items[i].sequence, first + i);
        assert_false(items[i].duplicate);
    }
    natsMsg *message = nats_client_message(scene->client, "TARRY_DLQ", first + 6);
    assert_string_equal(natsMsg_GetSubject(message), "dlq.orders");
    struct letter letter;
    assert_true(letter_decode((struct span){(const uint8_t *)natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message)}, &letter, NULL));
    assert_string_equal(letter.id, nats_letters_one(7, 200).id);
    natsMsg_Destroy(message);
    assert_int_equal(nats_letters_post(scene->mailer, 1, 0, 0, WAIT_MS, NULL), 0);
}

static void the_same_failure_makes_one_letter(void **state)
{
    struct scene *scene = *state;
    struct mailer_item items[10];
    uint64_t first = nats_client_first(scene->client, "TARRY_DLQ");
    assert_int_equal(nats_letters_post(scene->mailer, 1, 10, 200, WAIT_MS, items), 10);
    assert_int_equal(nats_letters_post(scene->mailer, 1, 10, 200, WAIT_MS, items), 10);
    for (size_t i = 0; i < 10; i++) {
        assert_true(items[i].duplicate);
        assert_int_equal(items[i].sequence, first + i);
    }
    /* found again later: other times, the same failure */
    struct letter later = nats_letters_one(1, 200);
    later.last_failure_ms += 60000;
    struct mailer_item item = {.letter = &later, .state = LETTER_WAITING};
    mailer_post(scene->mailer, &item, 1, WAIT_MS);
    assert_int_equal(item.result, MAILER_KEPT);
    assert_true(item.duplicate);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 10);
    /* the next failure, and parking, are others */
    struct letter next = later;
    next.attempt = 2;
    struct mailer_item others[2] = {{.letter = &next, .state = LETTER_WAITING}, {.letter = &next, .state = LETTER_PARKED}};
    mailer_post(scene->mailer, others, 2, WAIT_MS);
    assert_int_equal(others[0].result, MAILER_KEPT);
    assert_int_equal(others[1].result, MAILER_KEPT);
    assert_false(others[0].duplicate || others[1].duplicate);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 11);
    assert_int_equal(nats_client_count(scene->client, "TARRY_PARKED", "parked.orders"), 1);
}

static void a_duplicate_that_is_gone_is_published_afresh(void **state)
{
    struct scene *scene = *state;
    struct mailer_item items[3];
    uint64_t first = nats_client_first(scene->client, "TARRY_DLQ");
    assert_int_equal(nats_letters_post(scene->mailer, 1, 3, 200, WAIT_MS, items), 3);
    nats_client_delete_message(scene->client, "TARRY_DLQ", first + 1);
    assert_int_equal(nats_letters_post(scene->mailer, 1, 3, 200, WAIT_MS, items), 3);
    assert_true(items[0].duplicate);
    assert_false(items[1].duplicate);
    assert_int_equal(items[1].sequence, first + 3);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 3);
    /* and once more: the fresh one's id is taken now, too */
    nats_client_purge(scene->client, "TARRY_DLQ", NULL);
    assert_int_equal(nats_letters_post(scene->mailer, 1, 3, 200, WAIT_MS, items), 3);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 3);
}

static void an_id_that_another_record_has_is_no_duplicate(void **state)
{
    struct scene *scene = *state;
    struct letter first = nats_letters_one(1, 100);
    struct letter second = nats_letters_one(1, 100);
    second.record.value = span_of_text("another record");
    struct mailer_item one = {.letter = &first, .state = LETTER_WAITING};
    struct mailer_item two = {.letter = &second, .state = LETTER_WAITING};
    mailer_post(scene->mailer, &one, 1, WAIT_MS);
    mailer_post(scene->mailer, &two, 1, WAIT_MS);
    assert_int_equal(one.result, MAILER_KEPT);
    assert_int_equal(two.result, MAILER_KEPT);
    assert_false(two.duplicate);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 2);
}

static void a_restart_in_the_middle_loses_and_doubles_nothing(void **state)
{
    struct scene *scene = *state;
    struct posting *posting = start_posting(scene);
    nats_server_kill(scene->server);
    nats_server_restart(scene->server);
    assert_all_kept(posting);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 2000);
    nats_server_stop(scene->server);
    nats_server_restart(scene->server);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 2000);
}

static void a_silence_of_six_seconds_doubles_nothing(void **state)
{
    struct scene *scene = *state;
    struct posting *posting = start_posting(scene);
    nats_server_freeze(scene->server);
    await_pause_ms(6000); /* the server's silence is what is tested */
    nats_server_thaw(scene->server);
    assert_all_kept(posting);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 2000);
}

static void what_timed_out_was_stored_once_when_posted_again(void **state)
{
    struct scene *scene = *state;
    nats_server_freeze(scene->server);
    struct mailer_item item;
    int64_t before_ms = await_mono_ms();
    assert_int_equal(nats_letters_post(scene->mailer, 1, 1, 500, 3000, &item), 0);
    assert_true(await_mono_ms() - before_ms < 12000);
    assert_int_equal(item.result, MAILER_UNAVAILABLE);
    assert_true(item.error[0] != '\0');
    nats_server_thaw(scene->server);
    assert_int_equal(nats_letters_post(scene->mailer, 1, 1, 500, WAIT_MS, &item), 1);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 1);
    /* a late answer to the first call was never taken for one to the next */
    assert_int_equal(nats_letters_post(scene->mailer, 2, 50, 500, WAIT_MS, NULL), 50);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 51);
}

static void with_the_link_down_it_returns_at_once(void **state)
{
    struct scene *scene = *state;
    nats_server_stop(scene->server);
    struct mailer_item item;
    nats_letters_post(scene->mailer, 1, 1, 500, 1, &item); /* the first may be what finds it */
    while (link_up(scene->link, NULL, 0)) {
        await_pause_ms(10);
    }
    int64_t before_ms = await_mono_ms();
    assert_int_equal(nats_letters_post(scene->mailer, 1, 1, 500, WAIT_MS, &item), 0);
    assert_true(await_mono_ms() - before_ms < 2000);
    assert_int_equal(item.result, MAILER_UNAVAILABLE);
    assert_non_null(strstr(item.error, "NATS"));
    nats_server_restart(scene->server);
    assert_true(link_wait(scene->link, WAIT_MS, NULL));
    assert_int_equal(nats_letters_post(scene->mailer, 1, 1, 500, WAIT_MS, &item), 1);
}

static void edit_small(jsStreamConfig *config)
{
    config->MaxBytes = 65536;
}

static void a_full_stream_takes_the_rest_after_a_purge(void **state)
{
    struct scene *scene = *state;
    nats_client_edit(scene->client, "TARRY_DLQ", edit_small);
    struct mailer_item items[100];
    size_t kept = nats_letters_post(scene->mailer, 1, 100, 2000, WAIT_MS, items);
    assert_true(kept > 10 && kept < 100);
    for (size_t i = 0; i < 100; i++) {
        assert_true(items[i].result == (i < kept ? MAILER_KEPT : MAILER_FULL));
        assert_true(i < kept || strstr(items[i].error, "maximum bytes") != NULL);
    }
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), kept);
    size_t total = kept;
    while (total < 100) {
        nats_client_purge(scene->client, "TARRY_DLQ", NULL);
        size_t more = nats_letters_post(scene->mailer, 1 + total, 100 - total, 2000, WAIT_MS, NULL);
        assert_true(more > 0);
        total += more;
    }
    assert_int_equal(total, 100);
}

static void edit_messages(jsStreamConfig *config)
{
    config->MaxMsgs = 5;
}

static void edit_message_size(jsStreamConfig *config)
{
    config->MaxMsgSize = 1000;
}

static void what_the_stream_will_never_take_is_refused(void **state)
{
    struct scene *scene = *state;
    struct mailer_item items[10];
    nats_client_edit(scene->client, "TARRY_DLQ", edit_messages);
    assert_int_equal(nats_letters_post(scene->mailer, 1, 10, 100, WAIT_MS, items), 5);
    assert_int_equal(items[9].result, MAILER_FULL);
    nats_client_edit(scene->client, "TARRY_PARKED", edit_message_size);
    struct letter letter = nats_letters_one(1, 5000);
    struct mailer_item item = {.letter = &letter, .state = LETTER_PARKED};
    mailer_post(scene->mailer, &item, 1, WAIT_MS);
    assert_int_equal(item.result, MAILER_REFUSED);
    assert_non_null(strstr(item.error, "size"));
}

static void a_stream_that_is_gone_is_unavailable(void **state)
{
    struct scene *scene = *state;
    struct mailer_item item;
    nats_client_delete_stream(scene->client, "TARRY_DLQ");
    assert_int_equal(nats_letters_post(scene->mailer, 1, 1, 100, 1000, &item), 0);
    assert_int_equal(item.result, MAILER_UNAVAILABLE);
    assert_non_null(strstr(item.error, "no stream takes it"));
    /* another stream that has its subject now is not ours */
    nats_client_add_stream(scene->client, "SOMEBODY", "dlq.>", -1, 1);
    assert_int_equal(nats_letters_post(scene->mailer, 1, 1, 100, WAIT_MS, &item), 0);
    assert_int_equal(item.result, MAILER_UNAVAILABLE);
    assert_non_null(strstr(item.error, "another stream"));
    nats_client_delete_stream(scene->client, "SOMEBODY");
    nats_letters_streams(scene->link, &scene->options);
    assert_int_equal(nats_letters_post(scene->mailer, 1, 1, 100, WAIT_MS, &item), 1);
}

static void *make_stream_soon(void *context)
{
    await_pause_ms(700); /* while the call under test asks again and again */
    struct scene *scene = context;
    nats_client_add_stream(scene->client, "TARRY_DLQ", "dlq.> nack.>", -1, 1);
    return NULL;
}

static void no_stream_for_a_while_is_waited_for(void **state)
{
    struct scene *scene = *state;
    nats_client_delete_stream(scene->client, "TARRY_DLQ");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, make_stream_soon, scene), 0);
    assert_int_equal(nats_letters_post(scene->mailer, 1, 100, 100, WAIT_MS, NULL), 100);
    pthread_join(thread, NULL);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 100);
}

static void a_missing_permission_is_told(void **state)
{
    struct scene *scene = *state;
    nats_server_configure(scene->server, "authorization { users: [{user: u, password: secret99, permissions: {publish: {deny: \"dlq.>\"}}}] }\n");
    struct link *link = NULL;
    assert_true(link_open(&(struct link_options){.url = nats_server_url(scene->server), .user = "u", .password = "secret99"}, &link, NULL));
    assert_true(link_wait(link, WAIT_MS, NULL));
    struct mailer *mailer = mailer_new(link, &scene->options);
    struct mailer_item item;
    assert_int_equal(nats_letters_post(mailer, 1, 1, 100, 2500, &item), 0);
    assert_int_equal(item.result, MAILER_UNAVAILABLE);
    if (strcasestr(item.error, "permissions violation") == NULL) {
        fail_msg("%s", item.error);
    }
    assert_null(strstr(item.error, "secret99"));
    mailer_free(mailer);
    link_close(link);
}

static void a_record_larger_than_a_message_stands_apart(void **state)
{
    struct scene *scene = *state;
    struct letter large = nats_letters_one(9, 3000000);
    struct letter small = nats_letters_one(10, 100);
    struct mailer_item items[2] = {{.letter = &large, .state = LETTER_WAITING}, {.letter = &small, .state = LETTER_WAITING}};
    mailer_post(scene->mailer, items, 2, WAIT_MS);
    if (items[0].result != MAILER_KEPT) {
        fail_msg("%s", items[0].error);
    }
    assert_int_equal(items[1].result, MAILER_KEPT);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 3);
    struct buffer bytes = buffer_new(16 << 20);
    struct buffer room = buffer_new(16 << 20);
    struct error error;
    struct letter read;
    assert_true(reader_get(scene->link, "TARRY_DLQ", items[0].sequence, WAIT_MS, &bytes, &error));
    assert_true(bytes.length < 2000);
    assert_true(letter_decode(buffer_span(&bytes), &read, &error));
    assert_int_equal(read.parts, 3);
    if (!reader_load(scene->link, &scene->options, &read, &room, &error)) {
        fail_msg("%s", error.text);
    }
    assert_true(span_equal(read.record.value, large.record.value));
    assert_true(span_equal(read.record.key, large.record.key));
    /* once more: nothing is stored twice */
    mailer_post(scene->mailer, items, 1, WAIT_MS);
    assert_int_equal(items[0].result, MAILER_KEPT);
    assert_true(items[0].duplicate);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 3);
    /* the next letter of it refers to the same parts */
    read.attempt = 2;
    struct mailer_item next = {.letter = &read, .state = LETTER_PARKED};
    mailer_post(scene->mailer, &next, 1, WAIT_MS);
    assert_int_equal(next.result, MAILER_KEPT);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 3);
    /* forgotten and posted again while JetStream still knows the parts' ids */
    assert_true(mailer_forget_large(scene->mailer, large.id, &error));
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 0);
    assert_true(mailer_forget_large(scene->mailer, large.id, &error));
    mailer_post(scene->mailer, items, 1, WAIT_MS);
    assert_int_equal(items[0].result, MAILER_KEPT);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 3);
    buffer_free(&bytes);
    buffer_free(&room);
}

/* The letter that stands there, its record loaded, has this value. Returns the number of its parts. */
static uint32_t assert_loads(struct scene *scene, uint64_t sequence, struct span value)
{
    struct buffer bytes = buffer_new(16 << 20);
    struct buffer room = buffer_new(16 << 20);
    struct error error;
    struct letter read;
    if (!reader_get(scene->link, "TARRY_DLQ", sequence, WAIT_MS, &bytes, &error) || !letter_decode(buffer_span(&bytes), &read, &error) ||
        !reader_load(scene->link, &scene->options, &read, &room, &error)) {
        fail_msg("%s", error.text);
    }
    assert_true(span_equal(read.record.value, value));
    uint32_t parts = read.parts;
    buffer_free(&bytes);
    buffer_free(&room);
    return parts;
}

static struct mailer_item post_one(struct scene *scene, const struct letter *letter, int64_t timeout_ms)
{
    struct mailer_item item = {.letter = letter, .state = LETTER_WAITING};
    mailer_post(scene->mailer, &item, 1, timeout_ms);
    return item;
}

static struct mailer_item post_kept(struct scene *scene, const struct letter *letter)
{
    struct mailer_item item = post_one(scene, letter, WAIT_MS);
    if (item.result != MAILER_KEPT) {
        fail_msg("%s", item.error);
    }
    return item;
}

/* The three parts stand there as if stored so long ago that JetStream knows their ids no more: published again without any. */
static void age_parts(struct scene *scene)
{
    natsMsg *parts[3];
    uint64_t first = nats_client_first(scene->client, "TARRY_DLQ_LARGE");
    for (size_t i = 0; i < 3; i++) {
        parts[i] = nats_client_message(scene->client, "TARRY_DLQ_LARGE", first + i);
        assert_non_null(parts[i]);
    }
    nats_client_purge(scene->client, "TARRY_DLQ_LARGE", NULL);
    for (size_t i = 0; i < 3; i++) {
        nats_client_publish(scene->client, natsMsg_GetSubject(parts[i]), NULL, natsMsg_GetData(parts[i]), (size_t)natsMsg_GetDataLength(parts[i]));
        natsMsg_Destroy(parts[i]);
    }
}

static void parts_that_stand_are_not_stored_again(void **state)
{
    struct scene *scene = *state;
    struct letter large = nats_letters_one(9, 3000000);
    nats_client_delete_stream(scene->client, "TARRY_DLQ"); /* the parts are taken, the letter is not */
    assert_int_equal(post_one(scene, &large, 1500).result, MAILER_UNAVAILABLE);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 3);
    age_parts(scene);
    assert_int_equal(post_one(scene, &large, 1500).result, MAILER_UNAVAILABLE);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 3);
    nats_letters_streams(scene->link, &scene->options);
    assert_int_equal(assert_loads(scene, post_kept(scene, &large).sequence, large.record.value), 3);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 3);
    /* one that is gone, and one that is not what it should be, are stored */
    uint64_t first = nats_client_first(scene->client, "TARRY_DLQ_LARGE");
    natsMsg *last = nats_client_message(scene->client, "TARRY_DLQ_LARGE", first + 2);
    nats_client_delete_message(scene->client, "TARRY_DLQ_LARGE", first + 1);
    nats_client_publish(scene->client, natsMsg_GetSubject(last), NULL, "cut", 3);
    natsMsg_Destroy(last);
    large.attempt = 2;
    assert_int_equal(assert_loads(scene, post_kept(scene, &large).sequence, large.record.value), 3);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 5);
}

static void divisions_and_records_of_one_id_stand_side_by_side(void **state)
{
    struct scene *scene = *state;
    struct letter large = nats_letters_one(9, 3000000);
    uint64_t few = post_kept(scene, &large).sequence;
    nats_server_stop(scene->server);
    nats_server_configure(scene->server, "max_payload: 256KB\n");
    nats_server_restart(scene->server);
    while (link_max_payload(scene->link) != 262144) {
        await_pause_ms(20);
    }
    large.attempt = 2;
    uint64_t many = post_kept(scene, &large).sequence;
    struct letter other = large; /* other bytes, as many */
    other.record.value = nats_letters_one(10, 3000000).record.value;
    assert_false(span_equal(other.record.value, large.record.value));
    other.attempt = 3;
    uint64_t edited = post_kept(scene, &other).sequence;
    assert_int_equal(assert_loads(scene, few, large.record.value), 3);
    assert_int_equal(assert_loads(scene, many, large.record.value), 12);
    assert_int_equal(assert_loads(scene, edited, other.record.value), 12);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 27);
    assert_true(mailer_forget_large(scene->mailer, large.id, NULL));
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 0);
}

static void a_smaller_max_payload_is_kept_to_after_a_restart(void **state)
{
    struct scene *scene = *state;
    struct mailer_item item;
    assert_int_equal(nats_letters_post(scene->mailer, 1, 1, 900000, WAIT_MS, &item), 1);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 0);
    nats_server_stop(scene->server);
    nats_server_configure(scene->server, "max_payload: 256KB\n");
    nats_server_restart(scene->server);
    while (link_max_payload(scene->link) != 262144) {
        await_pause_ms(20);
    }
    assert_int_equal(nats_letters_post(scene->mailer, 2, 1, 900000, WAIT_MS, &item), 1);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL), 4);
}

static void two_prefixes_do_not_mix(void **state)
{
    struct scene *scene = *state;
    struct streams_options other = {"OTHER_DLQ", "OTHER_PARKED", "other.", 1, 1 << 20, "cluster/group"};
    nats_letters_streams(scene->link, &other);
    struct mailer *mailer = mailer_new(scene->link, &other);
    assert_int_equal(nats_letters_post(mailer, 1, 3, 100, WAIT_MS, NULL), 3);
    assert_int_equal(nats_letters_post(scene->mailer, 1, 4, 100, WAIT_MS, NULL), 4);
    struct letter letter = nats_letters_one(1, 100);
    struct mailer_item item = {.letter = &letter, .state = LETTER_PARKED};
    mailer_post(mailer, &item, 1, WAIT_MS);
    assert_int_equal(item.result, MAILER_KEPT);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 4);
    assert_int_equal(nats_client_count(scene->client, "TARRY_PARKED", NULL), 0);
    assert_int_equal(nats_client_count(scene->client, "OTHER_DLQ", "other.dlq.orders"), 3);
    assert_int_equal(nats_client_count(scene->client, "OTHER_PARKED", "other.parked.orders"), 1);
    mailer_free(mailer);
}

static void hostile_values_stand_where_they_belong(void **state)
{
    struct scene *scene = *state;
    static const char *const targets[] = {"a.b", "a_b", "a-b", "*", ">", "a b", "a\r\nPUB x", "%", "..", NULL};
    static const char *const ids[] = {"x y", "*", ">", "a..b", ".", "line\nfeed", "\xff\xfe", "", "\r\n\r\n"};
    size_t kept = 0;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        for (size_t j = 0; j < sizeof ids / sizeof ids[0]; j++) {
            struct letter letter = nats_letters_one(1000 + i * 100 + j, 10);
            letter.target = span_of_text(targets[i]);
            letter.schedule_id = span_of_text(ids[j]);
            struct mailer_item item = {.letter = &letter, .state = j % 2 == 0 ? LETTER_WAITING : LETTER_PARKED};
            mailer_post(scene->mailer, &item, 1, WAIT_MS);
            if (item.result != MAILER_KEPT) {
                fail_msg("target %zu, id %zu: %s", i, j, item.error);
            }
            kept++;
        }
    }
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL) + nats_client_count(scene->client, "TARRY_PARKED", NULL), kept);
    char subject[SUBJECT_SIZE];
    subject_of(subject, "", SUBJECT_DLQ, span_of_text("a.b"));
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", subject), 5);
}

static void post_to_cluster(struct link *link, struct mailer *mailer, uint64_t first)
{
    struct mailer_item items[300];
    assert_true(link_wait(link, WAIT_MS, NULL)); /* with the link down it would return at once */
    nats_letters_post(mailer, first, 300, 500, 60000, items);
    for (size_t i = 0; i < 300; i++) {
        if (items[i].result != MAILER_KEPT) {
            fail_msg("letter %zu from %d on: %s", i, (int)first, items[i].error);
        }
    }
}

static void three_servers_of_which_one_restarts(void **state)
{
    (void)state;
    if (!nats_server_is_new()) {
        return; /* once is enough: with the version that people run in clusters */
    }
    struct nats_cluster cluster;
    nats_cluster_start(&cluster);
    struct nats_client *client = nats_client_open(cluster.urls);
    struct link *link = nats_letters_link(cluster.urls);
    struct streams_options options = nats_letters_options();
    options.replicas = 3;
    nats_letters_streams(link, &options);
    struct mailer *mailer = mailer_new(link, &options);
    post_to_cluster(link, mailer, 1);
    for (int i = 0; i < NATS_CLUSTER_SIZE; i++) { /* one of them leads the stream, one has our connection */
        nats_server_kill(cluster.servers[i]);
        post_to_cluster(link, mailer, 301 + (uint64_t)i * 600);
        nats_server_restart_soon(cluster.servers[i]);
        post_to_cluster(link, mailer, 601 + (uint64_t)i * 600);
        nats_server_wait_ready(cluster.servers[i]);
    }
    assert_int_equal(nats_client_count(client, "TARRY_DLQ", NULL), 2100);
    mailer_free(mailer);
    link_close(link);
    nats_client_close(client);
    nats_cluster_free(&cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_batch_is_kept_in_its_order, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(the_same_failure_makes_one_letter, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_duplicate_that_is_gone_is_published_afresh, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(an_id_that_another_record_has_is_no_duplicate, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_restart_in_the_middle_loses_and_doubles_nothing, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_silence_of_six_seconds_doubles_nothing, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(what_timed_out_was_stored_once_when_posted_again, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(with_the_link_down_it_returns_at_once, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_full_stream_takes_the_rest_after_a_purge, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(what_the_stream_will_never_take_is_refused, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_stream_that_is_gone_is_unavailable, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(no_stream_for_a_while_is_waited_for, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_missing_permission_is_told, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_record_larger_than_a_message_stands_apart, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(parts_that_stand_are_not_stored_again, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(divisions_and_records_of_one_id_stand_side_by_side, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_smaller_max_payload_is_kept_to_after_a_restart, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(two_prefixes_do_not_mix, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(hostile_values_stand_where_they_belong, open_scene, close_scene),
        cmocka_unit_test(three_servers_of_which_one_restarts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
