/*
 * The log fields of one record: where it stands, its id, and the trace that it belongs to.
 *
 * A producer's bytes go in; what comes out is bounded and printable. Never a key, a value or another header. Pure; any thread.
 */
#ifndef TARRY_OPS_LOG_RECORD_H
#define TARRY_OPS_LOG_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/span.h"
#include "bridge/record.h"
#include "bridge/row.h"
#include "dlq/letter.h"

#define LOG_RECORD_FIELDS 12
#define LOG_RECORD_ID_SIZE 201 /* ids of up to 4,096 bytes are cut */
#define LOG_RECORD_TRACE_SIZE 33

/* Fields point into it: it stays where it is until the line is written. */
struct log_record {
    char topic[256]; /* of a letter: the others borrow */
    char id[LOG_RECORD_ID_SIZE];
    char trace_id[LOG_RECORD_TRACE_SIZE];
    size_t traceparents; /* headers of that name so far */
    struct log_field fields[LOG_RECORD_FIELDS];
    size_t count;
};

/* The trace id of a W3C traceparent header: 32 lower-case hexadecimal digits, not all zero. False: the header is malformed, which is to be ignored, and
 * trace_id is "". Of versions above 00 what follows the flags is not looked at. */
bool log_record_trace_id(struct span traceparent, char trace_id[LOG_RECORD_TRACE_SIZE]);

/* Empties it, with topic (borrowed; NULL: not known), partition and offset (-1: not known). */
void log_record_begin(struct log_record *record, const char *topic, int32_t partition, int64_t offset);

/* Adds a field that the caller has; one beyond LOG_RECORD_FIELDS is left out. Its texts are borrowed. */
void log_record_add(struct log_record *record, struct log_field field);

/* Sets the id, once for a record; absent: it has none. Control characters and bytes that are not UTF-8 are escaped, and it is cut. */
void log_record_id(struct log_record *record, struct span id);

/* Looks at a header of the record: at traceparent, and, while there is no id, at tarry-id. More than one traceparent is malformed: then there is no trace. */
void log_record_header(struct log_record *record, struct span name, struct span value);

/* All headers of a record as it was read, or of a row with its id. O(headers). */
void log_record_headers(struct log_record *record, const struct record *given);
void log_record_row(struct log_record *record, const struct row *row);

/* Begins with a letter: where its record came from, the letter's own id, the schedule's, the trace. O(headers); those of a record that stands apart are not
 * looked at before it was loaded. */
void log_record_letter(struct log_record *record, const struct letter *letter);

/* Last, before the line is written: makes fields of id and trace. */
void log_record_end(struct log_record *record);

#endif
