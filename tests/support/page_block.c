/* See page_block.h. */
#include "tests/support/page_block.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/span.h"
#include "bridge/decimal.h"
#include "bridge/delay_text.h"
#include "bridge/time_text.h"

void page_block_fail(const struct page_block *block, const char *format, ...)
{
    char text[512];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    fail_msg("%s:%d: %s", block->page, block->line, text);
    abort(); /* fail_msg does not return */
}

void page_block_found(struct page_block *block, const char *format, ...)
{
    if (block->found_count == PAGE_BLOCK_LINES) {
        page_block_fail(block, "more than %d lines follow", PAGE_BLOCK_LINES);
    }
    va_list values;
    va_start(values, format);
    (void)vsnprintf(block->found[block->found_count++], PAGE_BLOCK_LINE, format, values);
    va_end(values);
}

const char *page_block_value(const struct page_block *block, const char *name)
{
    for (int i = 0; i < block->given_count; i++) {
        if (strncmp(block->given[i], name, strlen(name)) == 0) {
            return block->given[i] + strlen(name);
        }
    }
    return NULL;
}

static bool begins_with_one(const char *line, va_list names)
{
    for (const char *name = va_arg(names, const char *); name != NULL; name = va_arg(names, const char *)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            return true;
        }
    }
    return false;
}

void page_block_only(const struct page_block *block, ...)
{
    for (int i = 0; i < block->given_count; i++) {
        va_list names;
        va_start(names, block);
        bool known = begins_with_one(block->given[i], names);
        va_end(names);
        if (!known) {
            page_block_fail(block, "not understood: %s", block->given[i]);
        }
    }
}

int64_t page_block_moment(const struct page_block *block, const char *text)
{
    int64_t ms;
    if (text == NULL || !time_text_parse(span_of_text(text), &ms)) {
        page_block_fail(block, "no moment: %s", text == NULL ? "(missing)" : text);
    }
    return ms;
}

int64_t page_block_span(const struct page_block *block, const char *text)
{
    int64_t ms;
    if (text == NULL || delay_text_parse(span_of_text(text), &ms) != DECIMAL_READ) {
        page_block_fail(block, "no span of time: %s", text == NULL ? "(missing)" : text);
    }
    return ms;
}

uint64_t page_block_number(const struct page_block *block, const char *text)
{
    int64_t number;
    if (text == NULL || decimal_parse(span_of_text(text), &number) != DECIMAL_READ) {
        page_block_fail(block, "no number: %s", text == NULL ? "(missing)" : text);
    }
    return (uint64_t)number;
}

/* ------------------------------------------------------------------------------------------------- reading */

static void take_line(struct page_block *block, const char *line)
{
    bool result = strncmp(line, "-> ", 3) == 0;
    int *count = result ? &block->result_count : &block->given_count;
    if (*count == PAGE_BLOCK_LINES || strlen(line) >= PAGE_BLOCK_LINE) {
        page_block_fail(block, "too long: %s", line);
    }
    if (!result && block->result_count > 0) {
        page_block_fail(block, "what is given stands before all results: %s", line);
    }
    const char *text = line + (result ? 3 : 0);
    memcpy(result ? block->results[*count] : block->given[*count], text, strlen(text) + 1); /* it fits: above */
    *count += 1;
}

/* The next block of the kind; false: there is none. */
static bool read_block(FILE *file, const char *kind, struct page_block *block, int *number)
{
    char line[4096];
    char fence[64];
    bool inside = false;
    (void)snprintf(fence, sizeof(fence), "```%s", kind);
    while (fgets(line, sizeof(line), file) != NULL) {
        *number += 1;
        line[strcspn(line, "\n")] = '\0';
        if (!inside && strcmp(line, fence) == 0) {
            inside = true;
            *block = (struct page_block){.page = block->page, .line = *number};
        } else if (inside && strcmp(line, "```") == 0) {
            return true;
        } else if (inside) {
            take_line(block, line);
        }
    }
    if (inside) {
        page_block_fail(block, "has no end");
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------ checking */

/* The first result that is not what was found, and is wrong therefore; -1: all are right. */
static int find_wrong(struct page_block *block, page_block_check *check)
{
    block->found_count = 0;
    check(block);
    int count = block->found_count > block->result_count ? block->found_count : block->result_count;
    for (int i = 0; i < count; i++) {
        if (i >= block->result_count || i >= block->found_count || strcmp(block->results[i], block->found[i]) != 0) {
            return i;
        }
    }
    return -1;
}

/* Another number, or another word: a minute later, another record, not so. */
static void falsify(char result[PAGE_BLOCK_LINE])
{
    size_t length = strlen(result);
    size_t digit = length;
    while (digit > 0 && strchr("0123456789", result[digit - 1]) == NULL) {
        digit--;
    }
    if (digit > 0) {
        result[digit - 1] = result[digit - 1] == '1' ? '2' : '1';
    } else {
        (void)snprintf(result + length, PAGE_BLOCK_LINE - length, " not");
    }
}

static void check_falsified(const struct page_block *block, page_block_check *check)
{
    static struct page_block wrong;
    for (int i = 0; i < block->result_count; i++) {
        wrong = *block;
        falsify(wrong.results[i]);
        if (find_wrong(&wrong, check) != i) {
            page_block_fail(block, "nobody notices that it is not so: -> %s", wrong.results[i]);
        }
    }
}

int page_block_check_all(const char *folder, const char *page, const char *kind, page_block_check *check)
{
    static struct page_block block;
    char path[1024];
    int count = 0;
    int number = 0;
    (void)snprintf(path, sizeof(path), "%s/%s", folder, page);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    block.page = page;
    while (read_block(file, kind, &block, &number)) {
        int wrong = block.result_count > 0 ? find_wrong(&block, check) : 0;
        for (int i = 0; wrong >= 0 && i < block.found_count; i++) {
            print_message("it is: -> %s\n", block.found[i]);
        }
        if (wrong >= 0) {
            page_block_fail(&block, "it is not so: -> %s", wrong < block.result_count ? block.results[wrong] : "(more follows)");
        }
        check_falsified(&block, check);
        count++;
    }
    (void)fclose(file);
    return count;
}
