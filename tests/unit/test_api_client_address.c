/* Addresses of daemons, paths and queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/api_client_address.h"
#include "cli/api_client_path.h"

static void test_good_ones(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *url;
        const char *socket;
    } cases[] = {
        {"127.0.0.1:7411", "http://127.0.0.1:7411", ""},
        {"host", "http://host:7411", ""},
        {"my-host.example_1:80", "http://my-host.example_1:80", ""},
        {"[::1]", "http://[::1]:7411", ""},
        {"[fe80::1]:65535", "http://[fe80::1]:65535", ""},
        {"http://host", "http://host", ""},
        {"http://host:1/", "http://host:1", ""},
        {"https://host/tarry//", "https://host/tarry", ""},
        {"https://[::1]:8443/a/b", "https://[::1]:8443/a/b", ""},
        {"unix:/run/tarry/http.sock", "http://localhost", "/run/tarry/http.sock"},
        {"unix:relative", "http://localhost", "relative"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct api_client_address address;
        struct error error = {ERROR_NONE, ""};
        assert_true(api_client_address_parse(cases[i].text, &address, &error));
        assert_string_equal(address.url, cases[i].url);
        assert_string_equal(address.socket_path, cases[i].socket);
        assert_int_equal(address.https, strncmp(cases[i].text, "https:", 6) == 0);
    }
}

static void test_bad_ones(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "http://", "https:///x", "ftp://h", "h:", "h:0", "h:65536", "h:1x", "h:-1", "h:99999999999999999999", "u@h", "http://u:p@h/", "h/x", "http://h?x",
                                        "http://h#x", "http://h/a b", "http://h/\n", "h\n", "[::1", "[::1]x", "[]", "[g::]", "::1", "unix:", "a b", "h:1:2", "http:/h"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct api_client_address address;
        struct error error = {ERROR_NONE, ""};
        if (api_client_address_parse(texts[i], &address, &error)) {
            fail_msg("'%s' is taken as %s", texts[i], address.url);
        }
        assert_int_equal(error.code, ERROR_INVALID);
        assert_null(strstr(error.text, "u:p"));
    }
}

static void test_owners(void **state)
{
    (void)state;
    struct api_client_address asked;
    struct api_client_address owner;
    struct error error = {ERROR_NONE, ""};
    assert_true(api_client_address_parse("https://one/prefix", &asked, &error));
    assert_true(api_client_address_owner(&asked, "two:7411", &owner));
    assert_string_equal(owner.url, "https://two:7411");
    assert_true(api_client_address_parse("unix:/x", &asked, &error));
    assert_true(api_client_address_owner(&asked, "[::1]:7411", &owner));
    assert_string_equal(owner.url, "http://[::1]:7411");
    assert_string_equal(owner.socket_path, "");
    static const char *const bad[] = {"", "two", "two:", "http://two:1", "u@two:1", "two:1/x", "two:1\r\n", " two:1", "unix:/x", "two:1?x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(api_client_address_owner(&asked, bad[i], &owner));
    }
}

static void test_paths(void **state)
{
    (void)state;
    struct buffer path = buffer_new(API_CLIENT_PATH_MAX);
    buffer_add_text(&path, "/x");
    api_client_path_segment(&path, span_of_text("a/b.c~d_e-f"));
    api_client_path_query(&path, "one", NULL);
    api_client_path_query(&path, "two", "&=?");
    api_client_path_query(&path, "three", "");
    assert_string_equal(api_client_path_text(&path), "/x/a%2Fb.c~d_e-f?two=%26%3D%3F&three=");
    buffer_clear(&path);
    api_client_path_segment(&path, (struct span){(const uint8_t *)"\0\xff", 2});
    api_client_path_segment(&path, span_of_text(".."));
    assert_string_equal(api_client_path_text(&path), "/%00%FF/%2E%2E");
    buffer_clear(&path);
    for (int i = 0; i < 3000; i++) {
        api_client_path_segment(&path, span_of_text("........................."));
    }
    assert_null(api_client_path_text(&path));
    buffer_free(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_ones),
        cmocka_unit_test(test_bad_ones),
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
