/*
 * Which letters: the flags that every verb on letters takes.
 *
 *   --state waiting|parked       --reason REASON        --error REGEX (POSIX extended, of the error text)
 *   --target TOPIC|_refused      --key TEXT             --key-base64 BYTES
 *   --header NAME[=VALUE]        --header-base64 NAME=BYTES
 *   --since TIME --until TIME    of the last failure: RFC 3339, epoch milliseconds, `now`, or `10m`: that long ago. since <= time < until
 *   --id ID                      the letter's id, or its schedule id (--id-base64 BYTES)
 *   --limit N                    the first N that match, in the streams' order
 *
 * A flag given several times means any of its values, of --header all of them; flags together mean all of them. All compare whole bytes exactly: no
 * wildcards, no prefixes. No flag: every letter.
 */
#ifndef TARRY_CLI_DLQ_FILTER_H
#define TARRY_CLI_DLQ_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "cli/options.h"
#include "dlq/letter.h"

#define DLQ_FILTER_TERMS_MAX 1000
#define DLQ_FILTER_EXPRESSION_MAX 256 /* bytes of one --error */

struct dlq_filter_term; /* one flag */

struct dlq_filter {
    const char *verb; /* for messages: "dlq list" */
    int64_t now_ms;   /* what `now` and `10m` count from; wall clock */
    struct dlq_filter_term *terms;
    size_t count;
    int64_t since_ms; /* INT64_MIN: not given */
    int64_t until_ms; /* INT64_MAX: not given, and no letter is from then */
    int64_t limit;    /* 0: none */
};

/* Matches every letter. Nothing is allocated yet. */
struct dlq_filter dlq_filter_new(const char *verb, int64_t now_ms);
void dlq_filter_free(struct dlq_filter *filter);

/* Takes the flag at argv[*index] with its value, if it is one of ours; OPTIONS_WRONG was told on stderr. Copies what it keeps. */
enum options_result dlq_filter_take(struct dlq_filter *filter, int argc, char **argv, int *index);

/* As `--id ID` would: for verbs that take ids as arguments. False: told (too many). */
bool dlq_filter_add_id(struct dlq_filter *filter, const char *id);

/* True when no flag narrows it (--limit counts as one). */
bool dlq_filter_is_all(const struct dlq_filter *filter);

/* True when letters of this state can match. */
bool dlq_filter_wants(const struct dlq_filter *filter, enum letter_state state);

/* True when matching looks into the record, so that one that stands apart must be loaded first. */
bool dlq_filter_needs_record(const struct dlq_filter *filter);

/* True when this letter matches, the limit aside. When the filter needs the record, it is loaded. O(flags * lengths); a regular expression has no
 * backreference, hence no exponential time. */
bool dlq_filter_matches(const struct dlq_filter *filter, const struct letter *letter, enum letter_state state);

/* The only target that can match, or absent. */
struct span dlq_filter_only_target(const struct dlq_filter *filter);

/*
 * The filter as arguments that make the same filter at any later time: "--reason=no_time", "--since=2026-11-29T14:12:54.123Z", each valid UTF-8 without NUL.
 * For a job's record: add them to an array there, and give them to dlq_filter_take again. Calls `each` for each in turn.
 */
void dlq_filter_arguments(const struct dlq_filter *filter, void (*each)(void *context, const char *argument), void *context);

/* The same for a person: arguments with blanks between them, quoted for a shell, printable. "all letters" when there are none. */
void dlq_filter_text(const struct dlq_filter *filter, struct buffer *text);

/* A time as the flags take it. False: it is none (the text for a person is the caller's). */
bool dlq_filter_time(const char *text, int64_t now_ms, int64_t *ms);

#endif
