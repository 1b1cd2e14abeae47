/*
 * How answers are printed: tables for people, JSON for programs.
 *
 *   -o, --output json|jsonl|table    else: a table on a terminal, one JSON object a line (jsonl) when piped. json: one array.
 *
 * Tables show relative times and nothing but printable characters; colours only on a terminal without NO_COLOR and with a TERM that is not "dumb". JSON is
 * UTF-8, with bytes that are not in base64 (dlq/letter_json.h). Data goes to stdout, all else to stderr.
 */
#ifndef TARRY_CLI_OUTPUT_H
#define TARRY_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/span.h"
#include "cli/options.h"

enum output_format { OUTPUT_AUTO, OUTPUT_TABLE, OUTPUT_JSONL, OUTPUT_JSON };

struct output {
    const char *verb;          /* for messages */
    enum output_format format; /* AUTO until output_settle */
    bool terminal;             /* stdout is one */
    bool coloured;
    size_t columns;            /* of the terminal; 0: none, cut nothing */
    int64_t now_ms;            /* for relative times */
    uint64_t items;            /* JSON: printed so far */
};

struct output output_new(const char *verb, int64_t now_ms);

/* Takes -o or --output with its value; as options_take. */
enum options_result output_take(struct output *output, int argc, char **argv, int *index);

/* After the flags: looks at stdout and the environment. */
void output_settle(struct output *output);

/* Prints one item of a list as JSON or JSON lines: `json` is one document without a line end. Not for tables. */
void output_item(struct output *output, struct span json);

/* Ends a list (closes JSON's array) and flushes. False: the output could not be written whole (told). */
bool output_end(struct output *output);

/* "now", "12s", "3m", "5h", "2d" since then, "in 3m" for what is to come, "-" for a negative (unknown) time. */
#define OUTPUT_AGE_SIZE 32
void output_age(const struct output *output, int64_t ms, char age[OUTPUT_AGE_SIZE]);

/* A time for a person: relative on a terminal, RFC 3339 else; "-" when negative. */
#define OUTPUT_TIME_SIZE 48
void output_time(const struct output *output, int64_t ms, char time[OUTPUT_TIME_SIZE]);

/* Whole numbers with a comma at each third digit: 20,000. */
#define OUTPUT_COUNT_SIZE 32
void output_count(uint64_t count, char text[OUTPUT_COUNT_SIZE]);

#endif
