/* Help fits a screen; docs/cli.md, the commands in man/tarry.1 and docs/man/ say what the table of verbs says. TARRY_UPDATE_DOCS=1 writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "cli/verb_completion.h"
#include "cli/verb_docs.h"
#include "cli/verb_help.h"

#define DOCUMENT_MAX ((size_t)8 * 1024 * 1024)
#define BEGIN ".\\\" BEGIN: made from the table of verbs"
#define END ".\\\" END\n"

/* ---------------------------------------------------------------------------------------------------------- pages */

static void assert_fits(const struct buffer *page, const char *name)
{
    size_t lines = 0;
    size_t column = 0;
    for (size_t i = 0; i < page->length; i++) {
        column = page->data[i] == '\n' ? 0 : column + 1;
        lines += page->data[i] == '\n';
        if (column > VERB_HELP_COLUMNS) {
            fail_msg("%s: line %zu is longer than %d columns", name, lines + 1, VERB_HELP_COLUMNS);
        }
    }
    assert_int_equal(column, 0);
    if (lines > VERB_HELP_LINES) {
        fail_msg("%s: %zu lines, a screen has %d", name, lines, VERB_HELP_LINES);
    }
}

static void test_every_page_fits_a_screen(void **state)
{
    (void)state;
    struct buffer page = buffer_new(DOCUMENT_MAX);
    verb_help_overview(&page);
    assert_fits(&page, "overview");
    for (size_t i = 0; i < verb_table_count(); i++) {
        buffer_clear(&page);
        verb_help_verb(verb_table_at(i), &page);
        assert_fits(&page, verb_table_at(i)->name);
    }
    for (size_t i = 0; i < VERB_GROUPS; i++) {
        const struct verb_group *group = verb_table_group((enum verb_group_index)i);
        buffer_clear(&page);
        verb_help_group(group, &page);
        assert_fits(&page, group->name);
    }
    buffer_free(&page);
}

static void check_flag(const struct verb *verb, const struct verb_flag *flag)
{
    const struct verb_flag *other = NULL;
    assert_true(strncmp(flag->name, "--", 2) == 0 && strlen(flag->name) > 3);
    bool and_so_on = strlen(flag->meaning) > 4 && strcmp(flag->meaning + strlen(flag->meaning) - 3, "...") == 0;
    assert_true(and_so_on || flag->meaning[strlen(flag->meaning) - 1] != '.');
    for (size_t i = 0; (other = verb_table_flag_at(verb, i)) != NULL && other != flag; i++) {
        if (strcmp(other->name, flag->name) == 0 || (flag->letter != '\0' && other->letter == flag->letter)) {
            fail_msg("tarry %s: %s is there twice", verb->name, flag->name);
        }
    }
}

static void test_the_table_holds_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < verb_table_count(); i++) {
        const struct verb *verb = verb_table_at(i);
        char command[64];
        const struct verb_flag *flag = NULL;
        (void)snprintf(command, sizeof command, "tarry %s", verb->name);
        if (strstr(verb->example, command) == NULL) {
            fail_msg("%s: its example does not show it", verb->name);
        }
        assert_ptr_equal(verb_table_find(verb->name), verb);
        assert_true(strlen(verb->brief) <= 28 && verb->meaning[0] >= 'A' && verb->meaning[0] <= 'Z');
        assert_true((verb->run == NULL) == (verb_table_child_at(verb, 0) != NULL));
        for (size_t k = 0; (flag = verb_table_flag_at(verb, k)) != NULL; k++) {
            check_flag(verb, flag);
        }
    }
}

static void test_completion_names_every_verb_and_flag(void **state)
{
    (void)state;
    void (*const make[])(struct buffer *) = {verb_completion_bash, verb_completion_zsh, verb_completion_fish};
    for (size_t shell = 0; shell < sizeof make / sizeof make[0]; shell++) {
        struct buffer script = buffer_new(DOCUMENT_MAX);
        make[shell](&script);
        buffer_add(&script, "", 1);
        assert_false(script.full);
        for (size_t i = 0; i < verb_table_count(); i++) {
            const struct verb_flag *flag = NULL;
            assert_non_null(strstr((const char *)script.data, verb_table_at(i)->name));
            for (size_t k = 0; (flag = verb_table_flag_at(verb_table_at(i), k)) != NULL; k++) {
                assert_non_null(strstr((const char *)script.data, flag->name + 2));
            }
        }
        buffer_free(&script);
    }
}

/* -------------------------------------------------------------------------------------------------------- documents */

static void read_file(const char *path, struct buffer *content)
{
    char block[65536];
    size_t count = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("%s is not there", path);
    }
    while ((count = fread(block, 1, sizeof block, file)) > 0) {
        buffer_add(content, block, count);
    }
    assert_int_equal(fclose(file), 0);
    assert_false(content->full);
}

/* Compares, or with TARRY_UPDATE_DOCS writes first. */
static void assert_file_is(const char *path, struct span expected)
{
    struct buffer found = buffer_new(DOCUMENT_MAX);
    if (getenv("TARRY_UPDATE_DOCS") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(expected.data, 1, expected.length, file), expected.length);
        assert_int_equal(fclose(file), 0);
    }
    read_file(path, &found);
    if (found.length != expected.length || memcmp(found.data, expected.data, found.length) != 0) {
        fail_msg("%s is not what the tables say: run this test with TARRY_UPDATE_DOCS=1", path);
    }
    buffer_free(&found);
}

static void test_markdown(void **state)
{
    (void)state;
    struct buffer document = buffer_new(DOCUMENT_MAX);
    verb_docs_markdown(&document);
    assert_file_is(SOURCE_DIR "/docs/cli.md", buffer_span(&document));
    buffer_free(&document);
}

static void test_commands_of_the_manual(void **state)
{
    (void)state;
    struct buffer page = buffer_new(DOCUMENT_MAX);
    struct buffer expected = buffer_new(DOCUMENT_MAX);
    read_file(SOURCE_DIR "/man/tarry.1", &page);
    buffer_add(&page, "", 1);
    const char *begin = strstr((const char *)page.data, BEGIN);
    assert_non_null(begin);
    begin = strchr(begin, '\n') + 1;
    const char *end = strstr(begin, END);
    assert_non_null(end);
    buffer_add(&expected, page.data, (size_t)(begin - (const char *)page.data));
    verb_docs_mdoc(&expected);
    buffer_add_text(&expected, end);
    assert_file_is(SOURCE_DIR "/man/tarry.1", buffer_span(&expected));
    buffer_free(&page);
    buffer_free(&expected);
}

/* tarry-dlq(1) is written by hand: no flag of the verbs that it describes is missing there. */
static void test_manual_of_letters_names_every_flag(void **state)
{
    (void)state;
    struct buffer page = buffer_new(DOCUMENT_MAX);
    read_file(SOURCE_DIR "/man/tarry-dlq.1", &page);
    buffer_add(&page, "", 1);
    const struct verb *verb = NULL;
    for (size_t i = 0; (verb = verb_table_child_at(verb_table_find("dlq"), i)) != NULL; i++) {
        const struct verb_flag *flag = NULL;
        for (size_t k = 0; (flag = verb_table_flag_at(verb, k)) != NULL; k++) {
            char macro[64];
            (void)snprintf(macro, sizeof macro, "Fl Fl %s", flag->name + 2);
            if (strstr((const char *)page.data, macro) == NULL) {
                fail_msg("man/tarry-dlq.1 does not name %s of tarry %s", flag->name, verb->name);
            }
        }
    }
    buffer_free(&page);
}

/* Without what makes letters bold or underlined on a printer: x, backspace, x. */
static void take_off_overstrikes(struct buffer *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->length; i++) {
        if (i + 1 < text->length && text->data[i + 1] == '\b') {
            i += 1;
            continue;
        }
        text->data[kept++] = text->data[i];
    }
    text->length = kept;
}

static void check_rendered(const char *name)
{
    char command[512];
    char path[512];
    char block[65536];
    size_t count = 0;
    struct buffer text = buffer_new(DOCUMENT_MAX);
    (void)snprintf(command, sizeof command, "mandoc -I os=tarry -T ascii -O width=78 %s/man/%s", SOURCE_DIR, name);
    (void)snprintf(path, sizeof path, "%s/docs/man/%s.txt", SOURCE_DIR, name);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while ((count = fread(block, 1, sizeof block, pipe)) > 0) {
        buffer_add(&text, block, count);
    }
    assert_int_equal(pclose(pipe), 0);
    assert_true(text.length > 1000 && !text.full);
    take_off_overstrikes(&text);
    assert_file_is(path, buffer_span(&text));
    buffer_free(&text);
}

/* After test_commands_of_the_manual, which may have written one of them. */
static void test_manuals_as_text(void **state)
{
    (void)state;
    check_rendered("tarry.1");
    check_rendered("tarry-dlq.1");
    check_rendered("tarry.yaml.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_page_fits_a_screen),
        cmocka_unit_test(test_the_table_holds_together),
        cmocka_unit_test(test_completion_names_every_verb_and_flag),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_commands_of_the_manual),
        cmocka_unit_test(test_manual_of_letters_names_every_flag),
        cmocka_unit_test(test_manuals_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
