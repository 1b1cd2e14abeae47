/* The table of routes: that each row can be answered, and that docs/http.md says the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/http_problem.h"
#include "ops/http_route.h"

static const char *const methods[METRICS_METHOD_OTHER] = {
    [METRICS_METHOD_GET] = "GET", [METRICS_METHOD_HEAD] = "HEAD",     [METRICS_METHOD_POST] = "POST",
    [METRICS_METHOD_PUT] = "PUT", [METRICS_METHOD_DELETE] = "DELETE", [METRICS_METHOD_OPTIONS] = "OPTIONS"};

static char *read_docs(void)
{
    FILE *file = fopen(HTTP_DOCS, "re");
    char *text = calloc(1, (size_t)1 << 20);
    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, ((size_t)1 << 20) - 1, file) > 0);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void test_rows(void **state)
{
    (void)state;
    size_t count;
    const struct http_route *routes = http_route_all(&count);
    for (size_t i = 0; i < count; i++) {
        const struct http_route *route = &routes[i];
        const struct http_route *found = NULL;
        struct span parameter;
        bool owner = route->answerer == HTTP_ANSWERER_OWNER;
        bool stream = route->answerer == HTTP_ANSWERER_STREAM;
        assert_int_equal(route->owner != NULL, owner);
        assert_int_equal(route->worker != NULL, !owner && !stream);
        assert_int_equal(route->wait_ms > 0, !owner && !stream);
        assert_int_equal(route->access != HTTP_ACCESS_OPEN, http_route_guarded(route->path));
        assert_int_equal(route->access == HTTP_ACCESS_WRITE, route->method != METRICS_METHOD_GET); /* so no page of another site has it done */
        assert_int_equal(http_route_find(route->path, route->method, &found, &parameter), HTTP_ROUTE_FOUND);
        assert_ptr_equal(found, route); /* "{id}" is a name like any other: no row before stands in its way */
        assert_int_equal(parameter.data != NULL, strchr(route->path, '{') != NULL);
        assert_true(strlen(route->meaning) > 0);
    }
}

#define HEAD "| request | access | answer |\n|---|---|---|\n"

/* The rows as they have to be. Free it. */
static char *new_rows(void)
{
    static const char *const access[] = {[HTTP_ACCESS_OPEN] = "open", [HTTP_ACCESS_READ] = "read", [HTTP_ACCESS_WRITE] = "write"};
    size_t count;
    size_t length = 0;
    size_t size = (size_t)1 << 16;
    char *rows = calloc(1, size);
    const struct http_route *routes = http_route_all(&count);
    assert_non_null(rows);
    for (size_t i = 0; i < count; i++) {
        length += (size_t)snprintf(rows + length, size - length, "| `%s %s` | %s | %s |\n", methods[routes[i].method], routes[i].path, access[routes[i].access], routes[i].meaning);
        assert_true(length < size);
    }
    return rows;
}

/* Where the table ends that begins at `rows`. */
static const char *end_of(const char *rows)
{
    while (rows[0] == '|') {
        rows += strcspn(rows, "\n");
        rows += rows[0] == '\n' ? 1 : 0;
    }
    return rows;
}

/* With TARRY_UPDATE_DOCS set the table is written anew. */
static void test_docs_routes(void **state)
{
    (void)state;
    char *docs = read_docs();
    char *rows = new_rows();
    const char *at = strstr(docs, HEAD);
    assert_non_null(at);
    at += strlen(HEAD);
    const char *end = end_of(at);
    if (getenv("TARRY_UPDATE_DOCS") != NULL) {
        FILE *file = fopen(HTTP_DOCS, "w");
        assert_non_null(file);
        assert_true(fprintf(file, "%.*s%s%s", (int)(at - docs), docs, rows, end) > 0);
        assert_int_equal(fclose(file), 0);
    } else if ((size_t)(end - at) != strlen(rows) || strncmp(at, rows, strlen(rows)) != 0) {
        print_error("docs/http.md has other routes than ops/http_route_table.c: write its table anew with TARRY_UPDATE_DOCS=1 test_http_table\n");
        fail();
    }
    free(rows);
    free(docs);
}

static void test_docs_problems(void **state)
{
    (void)state;
    char *docs = read_docs();
    for (int i = 0; i < HTTP_PROBLEMS; i++) {
        char row[128];
        (void)snprintf(row, sizeof(row), "\n| %u | `%s` | ", http_problem_status((enum http_problem)i), http_problem_code((enum http_problem)i));
        if (strstr(docs, row) == NULL) {
            print_error("docs/http.md has no row%s\n", row);
            fail();
        }
    }
    free(docs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_docs_routes), cmocka_unit_test(test_docs_problems)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
