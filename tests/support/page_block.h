/*
 * Examples in the pages of docs/: fenced blocks of a kind, ```KIND, whose lines are what is given and, behind "-> ", what follows from it.
 *
 * A check works out what follows, as lines of text, and these have to be the block's. So that a block which states a wrong result fails, each is also checked with
 * each of its results made a wrong one.
 */
#ifndef TARRY_TESTS_PAGE_BLOCK_H
#define TARRY_TESTS_PAGE_BLOCK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_BLOCK_LINES 48
#define PAGE_BLOCK_LINE 200

struct page_block {
    const char *page;
    int line; /* of the page: where it begins */
    char given[PAGE_BLOCK_LINES][PAGE_BLOCK_LINE];
    int given_count;
    char results[PAGE_BLOCK_LINES][PAGE_BLOCK_LINE]; /* without "-> " */
    int result_count;
    char found[PAGE_BLOCK_LINES][PAGE_BLOCK_LINE]; /* what the check has worked out */
    int found_count;
};

/* Works out what follows: page_block_found for each line. What cannot be understood fails the running test: page_block_fail. */
typedef void page_block_check(struct page_block *block);

/* A line of what follows, as printf. */
void page_block_found(struct page_block *block, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The rest of the given line that begins with `name`, or NULL. */
const char *page_block_value(const struct page_block *block, const char *name);

/* Fails when a given line begins with none of these names. Ended by NULL. */
void page_block_only(const struct page_block *block, ...) __attribute__((sentinel));

void page_block_fail(const struct page_block *block, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* Milliseconds of `2026-11-29T12:00:00Z`, of `1h30m`; a number. What is none, and NULL, fails. */
int64_t page_block_moment(const struct page_block *block, const char *text);
int64_t page_block_span(const struct page_block *block, const char *text);
uint64_t page_block_number(const struct page_block *block, const char *text);

/* Every block of that kind in docs/PAGE, as it is and falsified; how many there are. */
int page_block_check_all(const char *folder, const char *page, const char *kind, page_block_check *check);

#endif
