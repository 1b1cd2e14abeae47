/* The streams: made, numbered, compared key by key, never changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "dlq/streams.h"
#include "tests/support/await.h"
#include "tests/support/nats_client.h"
#include "tests/support/nats_letters.h"
#include "tests/support/nats_server.h"

#define WAIT_MS 10000

struct scene {
    struct nats_server *server;
    struct nats_client *client;
    struct link *link;
    struct streams_options options;
    struct streams_findings findings;
    struct error error;
    char name[32];   /* of the dead-letter stream, once next_name gave it one */
    char parked[32];
    int names;
};

static int open_scene(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    scene->server = nats_server_start(NULL);
    scene->client = nats_client_open(nats_server_url(scene->server));
    scene->link = nats_letters_link(nats_server_url(scene->server));
    scene->options = nats_letters_options();
    *state = scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;
    link_close(scene->link);
    nats_client_close(scene->client);
    nats_server_free(scene->server);
    free(scene);
    return 0;
}

static bool ensure(struct scene *scene)
{
    return streams_ensure(scene->link, &scene->options, WAIT_MS, &scene->findings, &scene->error);
}

static void delete_if_there(struct scene *scene, const char *stream)
{
    jsStreamInfo *info = NULL;
    if (nats_client_info(scene->client, stream, &info)) {
        jsStreamInfo_Destroy(info);
        nats_client_delete_stream(scene->client, stream);
    }
}

/* Deletes the four streams and names others: nats-server 2.15.1 may bring messages of a deleted stream back into one made at once under its name. */
static void next_name(struct scene *scene)
{
    static const char *const rest[] = {"", "_LARGE", "_JOBS"};
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", scene->options.stream, rest[i]);
        delete_if_there(scene, name);
    }
    delete_if_there(scene, scene->options.parked_stream);
    scene->names++;
    snprintf(scene->name, sizeof scene->name, "TARRY_%d", scene->names);
    snprintf(scene->parked, sizeof scene->parked, "TARRY_PARKED_%d", scene->names);
    scene->options.stream = scene->name;
    scene->options.parked_stream = scene->parked;
}

/* The finding that has all of these words; NULL: none. */
static const struct streams_finding *finding_with(const struct scene *scene, const char *stream, const char *key, const char *is, const char *should)
{
    for (size_t i = 0; i < scene->findings.count; i++) {
        const struct streams_finding *finding = &scene->findings.items[i];
        if (strstr(finding->text, stream) == finding->text && strstr(finding->text, key) != NULL && strstr(finding->text, is) != NULL &&
            strstr(finding->text, should) != NULL) {
            return finding;
        }
    }
    return NULL;
}

static void print_findings(const struct scene *scene)
{
    for (size_t i = 0; i < scene->findings.count; i++) {
        print_message("%s %s\n", scene->findings.items[i].unusable ? "unusable:" : "finding:", scene->findings.items[i].text);
    }
}

static void assert_finding(const struct scene *scene, bool unusable, const char *stream, const char *key, const char *is, const char *should)
{
    const struct streams_finding *finding = finding_with(scene, stream, key, is, should);
    if (finding == NULL) {
        print_findings(scene);
        fail_msg("no finding of %s %s: %s, not %s", stream, key, is, should);
        return;
    }
    assert_int_equal(finding->unusable, unusable);
    assert_true(strstr(finding->text, "nats stream edit") != NULL || strstr(finding->text, "name another stream") != NULL);
}

static void the_four_are_made_once_and_as_they_should_be(void **state)
{
    struct scene *scene = *state;
    assert_true(ensure(scene));
    assert_true(scene->findings.made);
    assert_true(ensure(scene));
    assert_false(scene->findings.made);
    print_findings(scene);
    assert_int_equal(scene->findings.count, 0);
    jsStreamInfo *info = NULL;
    assert_true(nats_client_info(scene->client, "TARRY_DLQ", &info));
    assert_int_equal(info->Config->Retention, js_LimitsPolicy);
    assert_int_equal(info->Config->Storage, js_FileStorage);
    assert_int_equal(info->Config->Discard, js_DiscardNew);
    assert_int_equal(info->Config->MaxAge, 0);
    assert_int_equal(info->Config->MaxBytes, 256 << 20);
    assert_int_equal(info->Config->SubjectsLen, 2);
    jsStreamInfo_Destroy(info);
    assert_true(nats_client_info(scene->client, "TARRY_DLQ_JOBS", &info));
    assert_int_equal(info->Config->Discard, js_DiscardOld);
    assert_int_equal(info->Config->MaxMsgsPerSubject, 1);
    jsStreamInfo_Destroy(info);
    assert_true(nats_client_info(scene->client, "TARRY_PARKED", &info));
    jsStreamInfo_Destroy(info);
    assert_true(nats_client_info(scene->client, "TARRY_DLQ_LARGE", &info));
    jsStreamInfo_Destroy(info);
}

static void edit_harmless(jsStreamConfig *config)
{
    config->MaxBytes = 1 << 20;
    config->MaxMsgs = 1000;
    config->MaxMsgSize = 2048;
    config->Duplicates = 30LL * 1000000000;
}

static void what_differs_is_said_with_both_values(void **state)
{
    struct scene *scene = *state;
    assert_true(ensure(scene));
    nats_client_edit(scene->client, "TARRY_DLQ", edit_harmless);
    assert_true(ensure(scene));
    assert_int_equal(scene->findings.count, 4);
    assert_finding(scene, false, "TARRY_DLQ:", "max_bytes", "1048576", "268435456");
    assert_finding(scene, false, "TARRY_DLQ:", "max_msgs ", "1000", "-1");
    assert_finding(scene, false, "TARRY_DLQ:", "max_msg_size", "2048", "-1");
    assert_finding(scene, false, "TARRY_DLQ:", "duplicate_window", "30s", "120s");
    jsStreamInfo *info = NULL;
    assert_true(nats_client_info(scene->client, "TARRY_DLQ", &info)); /* and it was not touched */
    assert_int_equal(info->Config->MaxBytes, 1 << 20);
    jsStreamInfo_Destroy(info);
}

static void edit_age(jsStreamConfig *config)
{
    config->MaxAge = 20LL * 1000000000;
    config->Duplicates = 20LL * 1000000000;
}

static void edit_discard(jsStreamConfig *config)
{
    config->Discard = js_DiscardOld;
}

static void edit_per_subject(jsStreamConfig *config)
{
    config->MaxMsgsPerSubject = 10;
}

static void edit_subjects(jsStreamConfig *config)
{
    static const char *subjects[] = {"dlq.>", "other.>"};
    config->Subjects = subjects;
    config->SubjectsLen = 2;
}

static void assert_unusable(struct scene *scene, void (*edit)(jsStreamConfig *), const char *key, const char *is, const char *should)
{
    next_name(scene);
    assert_true(ensure(scene));
    nats_client_publish(scene->client, "dlq.orders", NULL, "x", 1);
    nats_client_edit(scene->client, scene->name, edit);
    assert_false(ensure(scene));
    assert_int_equal(scene->error.code, ERROR_INVALID);
    assert_non_null(strstr(scene->error.text, key));
    assert_finding(scene, true, scene->name, key, is, should);
    assert_int_equal(nats_client_count(scene->client, scene->name, NULL), 1);
}

static void what_would_lose_letters_is_refused(void **state)
{
    struct scene *scene = *state;
    assert_true(ensure(scene));
    assert_unusable(scene, edit_age, "max_age", "20s", "0");
    assert_unusable(scene, edit_discard, "discard", "old", "new");
    assert_unusable(scene, edit_per_subject, "max_msgs_per_subject", "10", "-1");
    assert_unusable(scene, edit_subjects, "subjects", "dlq.>", "nack.>");
    assert_finding(scene, false, scene->name, "subjects", "other.>", "not ours alone");
}

/* ------------------------------------------------------------------------------------------------- many at once */

#define LABEL "tarry letters of cluster/group"
#define MAKERS 6

struct maker {
    pthread_t thread;
    struct scene *scene;
    struct link *link;
    struct nats_client *client;
    struct streams_findings findings;
    struct error error;
    bool ok;
    uint64_t sequence; /* of the letter that it stored once it had made sure of the streams */
};

static void *make_and_store(void *context)
{
    struct maker *maker = context;
    maker->ok = streams_ensure(maker->link, &maker->scene->options, WAIT_MS, &maker->findings, &maker->error);
    jsPubAck *ack = NULL;
    if (maker->ok && js_Publish(&ack, nats_client_jetstream(maker->client), "dlq.orders", "x", 1, NULL, NULL) == NATS_OK) {
        maker->sequence = ack->Sequence;
        jsPubAck_Destroy(ack);
    }
    return NULL;
}

/* Each stores a letter as soon as it may: none of the others may purge it. */
static void many_may_make_them_at_once(void **state)
{
    struct scene *scene = *state;
    struct maker makers[MAKERS] = {0};
    for (int i = 0; i < MAKERS; i++) {
        makers[i].scene = scene;
        makers[i].link = nats_letters_link(nats_server_url(scene->server));
        makers[i].client = nats_client_open(nats_server_url(scene->server));
    }
    for (int round = 0; round < 8; round++) {
        next_name(scene);
        for (int i = 0; i < MAKERS; i++) {
            assert_int_equal(pthread_create(&makers[i].thread, NULL, make_and_store, &makers[i]), 0);
        }
        for (int i = 0; i < MAKERS; i++) {
            assert_int_equal(pthread_join(makers[i].thread, NULL), 0);
        }
        uint64_t first = nats_client_first(scene->client, scene->name);
        for (int i = 0; i < MAKERS; i++) {
            if (!makers[i].ok) {
                fail_msg("%s", makers[i].error.text);
            }
            assert_int_equal(makers[i].findings.count, 0);
            assert_true(makers[i].sequence >= first);
        }
        assert_int_equal(nats_client_count(scene->client, scene->name, NULL), MAKERS);
    }
    for (int i = 0; i < MAKERS; i++) {
        link_close(makers[i].link);
        nats_client_close(makers[i].client);
    }
}

/* ------------------------------------------------------------------------------------------------- owner */

static void streams_of_another_owner_are_not_used(void **state)
{
    struct scene *scene = *state;
    assert_true(ensure(scene));
    scene->options.owner = "other-cluster/group";
    assert_false(ensure(scene));
    assert_int_equal(scene->error.code, ERROR_INVALID);
    assert_int_equal(scene->findings.count, 4);
    assert_finding(scene, true, "TARRY_DLQ:", "dlq.subject_prefix", "cluster/group", "other-cluster/group");
    static const char *const words[] = {" of cluster/group, not of other-cluster/group", "dlq.stream, dlq.parked_stream, dlq.subject_prefix",
                                        "nats stream edit TARRY_DLQ --description \"tarry letters of other-cluster/group\""};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        assert_non_null(strstr(scene->error.text, words[i]));
    }
    scene->options.owner = NULL; /* who does not know it, does not ask */
    assert_true(ensure(scene));
    assert_int_equal(scene->findings.count, 0);
    scene->options.owner = "cluster/group";
    assert_true(ensure(scene));
}

static void edit_label(jsStreamConfig *config)
{
    config->Description = "tarry letters of other/group";
}

static void the_remedy_for_another_owner_helps(void **state)
{
    struct scene *scene = *state;
    static const char *const streams[] = {"TARRY_DLQ", "TARRY_PARKED", "TARRY_DLQ_LARGE", "TARRY_DLQ_JOBS"};
    assert_true(ensure(scene));
    uint64_t sequence = nats_client_publish(scene->client, "dlq.orders", NULL, "x", 1);
    scene->options.owner = "other/group";
    for (int i = 0; i < 4; i++) {
        assert_false(ensure(scene));
        nats_client_edit(scene->client, streams[i], edit_label);
    }
    assert_true(ensure(scene));
    assert_int_equal(scene->findings.count, 0);
    assert_int_equal(nats_client_first(scene->client, "TARRY_DLQ"), sequence);
}

static void edit_no_label(jsStreamConfig *config)
{
    config->Description = NULL;
}

static void edit_own_words(jsStreamConfig *config)
{
    config->Description = "what failed in the shop";
}

static void a_stream_without_owner_is_told_and_used(void **state)
{
    struct scene *scene = *state;
    void (*const edits[])(jsStreamConfig *) = {edit_no_label, edit_own_words};
    assert_true(ensure(scene));
    for (size_t i = 0; i < 2; i++) {
        nats_client_edit(scene->client, "TARRY_PARKED", edits[i]);
        assert_true(ensure(scene));
        assert_int_equal(scene->findings.count, 1);
        assert_finding(scene, false, "TARRY_PARKED:", "description", "whose letters", "--description \"" LABEL "\"");
    }
}

static void without_an_owner_none_is_made(void **state)
{
    struct scene *scene = *state;
    jsStreamInfo *info = NULL;
    scene->options.owner = NULL;
    assert_false(ensure(scene));
    assert_int_equal(scene->error.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(scene->error.text, "TARRY_DLQ"));
    assert_false(nats_client_info(scene->client, "TARRY_DLQ", &info));
}

static void odd_owners_are_labels_too(void **state)
{
    struct scene *scene = *state;
    scene->options.owner = "cl\"us\\ter/gr\tou\xc3\xbcp";
    assert_true(ensure(scene));
    assert_true(ensure(scene));
    assert_int_equal(scene->findings.count, 0);
    jsStreamInfo *info = NULL;
    assert_true(nats_client_info(scene->client, "TARRY_DLQ", &info));
    assert_string_equal(info->Config->Description, "tarry letters of cl_us_ter/gr_ou\xc3\xbcp");
    jsStreamInfo_Destroy(info);
}

static void add_foreign(struct scene *scene, jsRetentionPolicy retention, jsStorageType storage)
{
    static const char *subjects[] = {"parked.>"};
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = "TARRY_PARKED";
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.Discard = js_DiscardNew;
    config.Retention = retention;
    config.Storage = storage;
    jsErrCode code = 0;
    assert_int_equal(js_AddStream(NULL, nats_client_jetstream(scene->client), &config, NULL, &code), NATS_OK);
}

static void what_cannot_be_changed_is_refused(void **state)
{
    struct scene *scene = *state;
    add_foreign(scene, js_WorkQueuePolicy, js_FileStorage);
    assert_false(ensure(scene));
    assert_finding(scene, true, "TARRY_PARKED:", "retention", "workqueue", "limits");
    nats_client_delete_stream(scene->client, "TARRY_PARKED");
    add_foreign(scene, js_LimitsPolicy, js_MemoryStorage);
    assert_false(ensure(scene));
    assert_finding(scene, true, "TARRY_PARKED:", "storage", "memory", "file");
    nats_client_delete_stream(scene->client, "TARRY_PARKED");
    assert_true(ensure(scene));
}

static void subjects_that_are_taken_are_told(void **state)
{
    struct scene *scene = *state;
    nats_client_add_stream(scene->client, "SOMEBODY", "dlq.>", -1, 1);
    assert_false(ensure(scene));
    assert_int_equal(scene->error.code, ERROR_INVALID);
    assert_non_null(strstr(scene->error.text, "TARRY_DLQ"));
    assert_non_null(strstr(scene->error.text, "overlap"));
    assert_non_null(strstr(scene->error.text, "dlq.subject_prefix"));
}

static void more_bytes_than_the_server_has_are_told(void **state)
{
    struct scene *scene = *state;
    scene->options.max_bytes = 1LL << 60;
    assert_false(ensure(scene));
    assert_int_equal(scene->error.code, ERROR_INVALID);
    assert_non_null(strstr(scene->error.text, "dlq.max_bytes"));
    scene->options.max_bytes = 1 << 20;
    scene->options.replicas = 3;
    assert_false(ensure(scene)); /* no cluster */
    assert_int_equal(scene->error.code, ERROR_INVALID);
    assert_non_null(strstr(scene->error.text, "dlq.replicas"));
}

static void two_prefixes_live_on_one_server(void **state)
{
    struct scene *scene = *state;
    assert_true(ensure(scene));
    scene->options.stream = "OTHER_DLQ";
    scene->options.parked_stream = "OTHER_PARKED";
    scene->options.prefix = "other.";
    assert_true(ensure(scene));
    assert_true(scene->findings.made);
    assert_int_equal(scene->findings.count, 0);
}

static void a_server_without_jetstream_is_told(void **state)
{
    struct scene *scene = *state;
    link_close(scene->link);
    /* an account without it: as a server that has none */
    nats_server_stop(scene->server);
    nats_server_configure(scene->server, "accounts { A { users: [{user: a, password: a}] } }\n");
    nats_server_restart_soon(scene->server);
    struct link *link = NULL;
    assert_true(link_open(&(struct link_options){.url = nats_server_url(scene->server), .user = "a", .password = "a"}, &link, NULL));
    scene->link = link;
    assert_true(link_wait(link, WAIT_MS, &scene->error));
    assert_false(streams_ensure(link, &scene->options, 1000, &scene->findings, &scene->error));
    assert_int_equal(scene->error.code, ERROR_UNAVAILABLE);
    if (strstr(scene->error.text, "JetStream") == NULL) {
        fail_msg("%s", scene->error.text);
    }
}

static void the_state_is_what_stands_there(void **state)
{
    struct scene *scene = *state;
    struct streams_state found;
    assert_false(streams_state(scene->link, "TARRY_DLQ", WAIT_MS, &found, &scene->error));
    assert_int_equal(scene->error.code, ERROR_NOT_FOUND);
    assert_true(ensure(scene));
    assert_true(streams_state(scene->link, "TARRY_DLQ", WAIT_MS, &found, &scene->error));
    assert_int_equal(found.messages, 0);
    assert_int_equal(found.oldest_ms, -1);
    int64_t created_ms = found.created_ms;
    uint64_t first = nats_client_first(scene->client, "TARRY_DLQ");
    for (int i = 0; i < 3; i++) {
        nats_client_publish(scene->client, "dlq.orders", NULL, "x", 1);
    }
    nats_client_delete_message(scene->client, "TARRY_DLQ", first);
    assert_true(streams_state(scene->link, "TARRY_DLQ", WAIT_MS, &found, &scene->error));
    assert_int_equal(found.messages, 2);
    assert_int_equal(found.first_sequence, first + 1);
    assert_int_equal(found.last_sequence, first + 2);
    assert_true(found.bytes > 0);
    assert_true(found.oldest_ms >= created_ms);
    assert_int_equal(found.created_ms, created_ms);
    nats_client_delete_stream(scene->client, "TARRY_DLQ");
    assert_true(ensure(scene));
    assert_true(streams_state(scene->link, "TARRY_DLQ", WAIT_MS, &found, &scene->error));
    assert_true(found.created_ms > created_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_four_are_made_once_and_as_they_should_be, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(what_differs_is_said_with_both_values, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(what_would_lose_letters_is_refused, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(what_cannot_be_changed_is_refused, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(many_may_make_them_at_once, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(streams_of_another_owner_are_not_used, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(the_remedy_for_another_owner_helps, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_stream_without_owner_is_told_and_used, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(without_an_owner_none_is_made, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(odd_owners_are_labels_too, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(subjects_that_are_taken_are_told, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(more_bytes_than_the_server_has_are_told, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(two_prefixes_live_on_one_server, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_server_without_jetstream_is_told, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(the_state_is_what_stands_there, open_scene, close_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
