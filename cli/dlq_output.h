/*
 * How answers are printed: tables for people, JSON for programs.
 *
 *   -o, --output json|jsonl|table    else: a table on a terminal, one JSON object a line (jsonl) when piped. json: one array.
 *
 * Tables show relative times and nothing but printable characters; colours only on a terminal without NO_COLOR and with a TERM that is not "dumb". JSON is
 * UTF-8, with bytes that are not in base64 (dlq/letter_json.h). Data goes to stdout, all else to stderr.
 */
#ifndef TARRY_CLI_DLQ_OUTPUT_H
#define TARRY_CLI_DLQ_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/span.h"
#include "cli/options.h"

enum dlq_output_format { DLQ_OUTPUT_AUTO, DLQ_OUTPUT_TABLE, DLQ_OUTPUT_JSONL, DLQ_OUTPUT_JSON };

struct dlq_output {
    const char *verb;              /* for messages */
    enum dlq_output_format format; /* AUTO until dlq_output_settle */
    bool terminal;                 /* stdout is one */
    bool coloured;
    size_t columns;                /* of the terminal; 0: none, cut nothing */
    int64_t now_ms;                /* for relative times */
    uint64_t items;                /* JSON: printed so far */
};

struct dlq_output dlq_output_new(const char *verb, int64_t now_ms);

/* Takes -o or --output with its value; as options_take. */
enum options_result dlq_output_take(struct dlq_output *output, int argc, char **argv, int *index);

/* After the flags: looks at stdout and the environment. */
void dlq_output_settle(struct dlq_output *output);

/* Prints one item of a list as JSON or JSON lines: `json` is one document without a line end. Not for tables. */
void dlq_output_item(struct dlq_output *output, struct span json);

/* Ends a list (closes JSON's array) and flushes. False: the output could not be written whole (told). */
bool dlq_output_end(struct dlq_output *output);

/* "now", "12s", "3m", "5h", "2d" since then, "in 3m" for what is to come, "-" for a negative (unknown) time. */
#define DLQ_OUTPUT_AGE_SIZE 32
void dlq_output_age(const struct dlq_output *output, int64_t ms, char age[DLQ_OUTPUT_AGE_SIZE]);

/* A time for a person: relative on a terminal, RFC 3339 else; "-" when negative. */
#define DLQ_OUTPUT_TIME_SIZE 48
void dlq_output_time(const struct dlq_output *output, int64_t ms, char time[DLQ_OUTPUT_TIME_SIZE]);

/* Whole numbers with a comma at each third digit: 20,000. */
#define DLQ_OUTPUT_COUNT_SIZE 32
void dlq_output_count(uint64_t count, char text[DLQ_OUTPUT_COUNT_SIZE]);

#endif
