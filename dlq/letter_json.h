/*
 * A letter as one JSON object, exact to the byte both ways: what `tarry dlq` lists, exports and imports, and what a consumer may nack.
 *
 *   { "id": "32 hex digits", "state": "waiting" | "parked", "target": "orders", "reason": "undeliverable", "error": "...", "attempt": 1, "replays": 0,
 *     "first_failure": "2026-01-31T12:00:00.000Z", "last_failure": ..., "not_before": ...,
 *     "origin": {"topic": "delays", "partition": 3, "offset": 9223372036854775807, "timestamp": "2026-..."},
 *     "group": "tarry", "schedule_id": BYTES, "due": "2026-...", "target_partition": null,
 *     "key": BYTES, "value": BYTES, "headers": [{"name": BYTES, "value": BYTES}, ...] }
 *   BYTES: {"encoding": "utf8", "data": "text"} or {"encoding": "base64", "data": "AP8="}, null for a Kafka null
 *
 * Base64 where the bytes are not UTF-8, or have control characters other than \t \n \r (so no \u0000 is ever needed). Absent texts and unknown numbers and
 * times (-1) are null. A text (target, error, group, origin.topic) that is no such UTF-8 is BYTES too; a time outside the years 0001 to 9999 is the number of
 * milliseconds. Pure; any thread.
 */
#ifndef TARRY_DLQ_LETTER_JSON_H
#define TARRY_DLQ_LETTER_JSON_H

#include "dlq/letter.h"

#define LETTER_JSON_ROOM 64 /* bytes more than the text that reading takes */

/* Appends the object in one line, without a line end. `payload` false: without key, value and headers. A record that stands apart is loaded before
 * (reader_load). ERROR_FULL: the buffer's bound; what was appended is taken off again. O(length). */
bool letter_json_write(struct buffer *out, const struct letter *letter, enum letter_state state, bool payload, struct error *error);

/*
 * Reads one object (white space around it is allowed). The letter borrows from `room`, which is cleared first and must take text.length +
 * LETTER_JSON_ROOM bytes.
 * Fields that are not given: id "" (the caller makes one, letter_id), state waiting, reason unknown, error empty, attempt 1, replays 0, times and numbers -1,
 * the rest absent; origin.topic must be there. ERROR_INVALID names the field: no JSON, a field unknown or twice, of a wrong type or out of range, a text
 * that is no UTF-8, \u0000 in a text (take base64). ERROR_FULL: room. Whatever comes, nothing is read outside; time and memory O(text.length).
 */
bool letter_json_read(struct span text, struct buffer *room, struct letter *letter, enum letter_state *state, struct error *error);

/* "waiting", "parked". */
const char *letter_json_state(enum letter_state state);

/* Appends a JSON string, with its quotes, of text; what is no UTF-8 becomes U+FFFD. For fields around a letter. */
void letter_json_add_text(struct buffer *out, struct span text);

#endif
