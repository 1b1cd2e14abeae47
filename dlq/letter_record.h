/* What letter.c and letter_record.c share: the record's part of a letter's bytes, and their beginning and end. Room-internal. */
#ifndef TARRY_DLQ_LETTER_RECORD_H
#define TARRY_DLQ_LETTER_RECORD_H

#include "dlq/letter.h"
#include "base/packed.h"

void letter_record_put(struct buffer *buffer, const struct letter_record *record);
void letter_record_get(struct packed_reader *reader, struct letter_record *record);

bool letter_record_headers_readable(struct span headers);

/* Adds the checksum of what was appended since `start`. ERROR_FULL: takes it off again. */
bool letter_record_finish(struct buffer *buffer, size_t start, struct error *error);

/* Checks version and checksum; the reader stands behind the version and ends before the checksum. */
bool letter_record_start(struct span bytes, struct packed_reader *reader, struct error *error);

/* Sets ERROR_CORRUPT. */
bool letter_record_damaged(struct span bytes, struct error *error);

#endif
