/* The link: found whenever the server comes, up again after every end, and silent about secrets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dlq/link.h"
#include "tests/support/await.h"
#include "tests/support/nats_client.h"
#include "tests/support/nats_letters.h"
#include "tests/support/nats_server.h"

#define WAIT_MS 20000
#define SECRET "open-sesame-17"

static struct link *open_link(const struct link_options *options)
{
    struct link *link = NULL;
    struct error error;
    if (!link_open(options, &link, &error)) {
        fail_msg("link_open: %s", error.text);
    }
    return link;
}

static bool is_down(void *context)
{
    return !link_up(context, NULL, 0);
}

static void a_server_may_come_later(void **state)
{
    (void)state;
    struct nats_server *server = nats_server_prepare(NULL);
    int64_t before_ms = await_mono_ms();
    struct link *link = open_link(&(struct link_options){.url = nats_server_url(server)});
    assert_true(await_mono_ms() - before_ms < 1000);
    struct error error;
    assert_false(link_wait(link, 500, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(error.text, nats_server_address(server)));
    assert_non_null(strstr(error.text, "nats.url"));
    assert_int_equal(link_max_payload(link), 0);
    nats_server_restart(server);
    assert_true(link_wait(link, WAIT_MS, &error));
    assert_true(link_up(link, NULL, 0));
    assert_int_equal(link_max_payload(link), 1048576);
    link_close(link);
    nats_server_free(server);
}

static void it_comes_back_after_every_end(void **state)
{
    (void)state;
    struct nats_server *server = nats_server_start(NULL);
    struct link *link = nats_letters_link(nats_server_url(server));
    for (int i = 0; i < 3; i++) {
        i == 1 ? nats_server_kill(server) : nats_server_stop(server);
        assert_true(await_condition(is_down, link, WAIT_MS));
        char text[256];
        assert_false(link_up(link, text, sizeof text));
        assert_true(text[0] != '\0');
        if (i == 2) {
            nats_server_configure(server, "max_payload: 2MB\n");
        }
        nats_server_restart(server);
        struct error error;
        assert_true(link_wait(link, WAIT_MS, &error));
    }
    assert_int_equal(link_max_payload(link), 2097152);
    link_close(link);
    nats_server_free(server);
}

static void a_silent_server_is_left(void **state)
{
    (void)state;
    struct nats_server *server = nats_server_start(NULL);
    struct link *link = nats_letters_link(nats_server_url(server));
    nats_server_freeze(server);
    assert_true(await_condition(is_down, link, 40000));
    nats_server_thaw(server);
    struct error error;
    assert_true(link_wait(link, WAIT_MS, &error));
    link_close(link);
    nats_server_free(server);
}

static void a_wrong_password_is_told_and_forgiven(void **state)
{
    (void)state;
    struct nats_server *server = nats_server_start("authorization { user: u, password: other }\n");
    struct link *link = open_link(&(struct link_options){.url = nats_server_url(server), .user = "u", .password = SECRET});
    struct error error;
    /* more tries than nats.c would make: it ends for good at the second */
    assert_false(link_wait(link, 6000, &error));
    assert_non_null(strstr(error.text, "refuses the login"));
    assert_non_null(strstr(error.text, "nats.password_file"));
    assert_null(strstr(error.text, SECRET));
    nats_server_configure(server, "authorization { user: u, password: \"" SECRET "\" }\n");
    assert_true(link_wait(link, WAIT_MS, &error));
    link_close(link);
    nats_server_free(server);
}

static void a_password_withdrawn_under_us_is_told_and_forgiven(void **state)
{
    (void)state;
    struct nats_server *server = nats_server_start("authorization { user: u, password: \"" SECRET "\" }\n");
    struct link *link = open_link(&(struct link_options){.url = nats_server_url(server), .user = "u", .password = SECRET});
    struct error error;
    assert_true(link_wait(link, WAIT_MS, &error));
    nats_server_configure(server, "authorization { user: u, password: other }\n");
    assert_true(await_condition(is_down, link, WAIT_MS));
    assert_false(link_wait(link, 3000, &error));
    assert_non_null(strstr(error.text, "refuses the login"));
    nats_server_configure(server, "authorization { user: u, password: \"" SECRET "\" }\n");
    assert_true(link_wait(link, WAIT_MS, &error));
    link_close(link);
    nats_server_free(server);
}

static void a_token_is_a_login_too(void **state)
{
    (void)state;
    struct nats_server *server = nats_server_start("authorization { token: \"" SECRET "\" }\n");
    struct link *link = open_link(&(struct link_options){.url = nats_server_url(server), .token = SECRET});
    struct error error;
    assert_true(link_wait(link, WAIT_MS, &error));
    link_close(link);
    nats_server_free(server);
}

static void secrets_in_an_address_are_never_shown(void **state)
{
    (void)state;
    struct nats_server *server = nats_server_start("authorization { user: u, password: other }\n");
    char url[128];
    snprintf(url, sizeof url, "nats://u:" SECRET "@%s", nats_server_address(server));
    struct link *link = open_link(&(struct link_options){.url = url});
    struct error error;
    assert_false(link_wait(link, 2000, &error));
    assert_null(strstr(error.text, SECRET));
    assert_null(strstr(error.text, "u:"));
    nats_server_stop(server);
    char text[256];
    link_up(link, text, sizeof text);
    assert_null(strstr(text, SECRET));
    link_close(link);
    nats_server_free(server);

    static const char *const wrong[] = {"http://u:" SECRET "@h:1", "nats://u:" SECRET "@", "u:" SECRET "@:4222", "tls://u:" SECRET "@h/x", "", " , "};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct link *none = NULL;
        assert_false(link_open(&(struct link_options){.url = wrong[i]}, &none, &error));
        assert_int_equal(error.code, ERROR_INVALID);
        assert_non_null(strstr(error.text, "nats.url"));
        assert_null(strstr(error.text, SECRET));
    }
}

static void files_that_are_not_there_are_named(void **state)
{
    (void)state;
    struct link *link = NULL;
    struct error error;
    assert_false(link_open(&(struct link_options){.url = "tls://127.0.0.1:1", .tls_ca_file = "/nowhere/ca.pem"}, &link, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "nats.tls.ca_file"));
}

static void of_several_addresses_the_one_that_answers_is_taken(void **state)
{
    (void)state;
    struct nats_server *dead = nats_server_prepare(NULL);
    struct nats_server *server = nats_server_start(NULL);
    char urls[256];
    snprintf(urls, sizeof urls, "%s, %s", nats_server_url(dead), nats_server_url(server));
    struct link *link = nats_letters_link(urls);
    link_close(link);
    nats_server_free(server);
    nats_server_free(dead);
}

static void closing_is_quick_whatever_the_server_does(void **state)
{
    (void)state;
    struct nats_server *server = nats_server_start(NULL);
    struct link *up = nats_letters_link(nats_server_url(server));
    nats_server_freeze(server);
    struct link *never_up = open_link(&(struct link_options){.url = nats_server_url(server)});
    int64_t before_ms = await_mono_ms();
    link_close(up);
    link_close(never_up);
    link_close(NULL);
    assert_true(await_mono_ms() - before_ms < 15000);
    nats_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_may_come_later),
        cmocka_unit_test(it_comes_back_after_every_end),
        cmocka_unit_test(a_silent_server_is_left),
        cmocka_unit_test(a_wrong_password_is_told_and_forgiven),
        cmocka_unit_test(a_password_withdrawn_under_us_is_told_and_forgiven),
        cmocka_unit_test(a_token_is_a_login_too),
        cmocka_unit_test(secrets_in_an_address_are_never_shown),
        cmocka_unit_test(files_that_are_not_there_are_named),
        cmocka_unit_test(of_several_addresses_the_one_that_answers_is_taken),
        cmocka_unit_test(closing_is_quick_whatever_the_server_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
