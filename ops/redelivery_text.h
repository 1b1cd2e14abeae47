/*
 * Which letters a transaction delivered, as the text that is committed with it: "letters 1 <stream created, ms> <sequence>:<check> ...".
 *
 * A person can read it with Kafka's own tools. Pure.
 */
#ifndef TARRY_OPS_REDELIVERY_TEXT_H
#define TARRY_OPS_REDELIVERY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "dlq/letter.h"
#include "scheduler/metadata.h"

#define REDELIVERY_TEXT_SIZE (METADATA_MAX + 1)

/* A letter's message, and a check of id, replays and attempt: a server that lost power may give a sequence to another one. */
struct redelivery_text_letter {
    uint64_t sequence;
    uint32_t check;
};

/* The check of this letter. */
uint32_t redelivery_text_check(const struct letter *letter);

/* How many fit at most when no sequence is greater than `greatest`. */
size_t redelivery_text_room(uint64_t greatest);

/* False: they do not fit. */
bool redelivery_text_write(int64_t created_ms, const struct redelivery_text_letter *letters, size_t count, char text[REDELIVERY_TEXT_SIZE]);

/* Reads it back; strict. "" is none: created_ms -1, count 0. ERROR_INVALID: not ours; ERROR_TOO_NEW: of a later version; ERROR_FULL: more than `most`. */
bool redelivery_text_read(const char *text, int64_t *created_ms, struct redelivery_text_letter *letters, size_t most, size_t *count, struct error *error);

#endif
