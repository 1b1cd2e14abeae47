/*
 * Subjects of the streams: <prefix>dlq.<topic>, <prefix>parked.<topic>, <prefix>large.<id>.<hash>-<parts>.<n>, <prefix>nack.<topic>.
 *
 * A topic is one token: '.' becomes "%2E", so that a.b, a_b and a-b differ and no topic can be a wildcard; a refused record's is "_refused". (No topic
 * of Kafka may contain '%'.) Pure.
 */
#ifndef TARRY_DLQ_SUBJECT_H
#define TARRY_DLQ_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "dlq/letter.h"

#define SUBJECT_SIZE 900 /* a prefix of at most 100, a topic of at most 249 characters, all of them dots */
#define SUBJECT_REFUSED "_refused"

enum subject_kind { SUBJECT_DLQ, SUBJECT_PARKED, SUBJECT_NACK };

/* Writes the subject. target absent: _refused. A topic that is no legal Kafka name (only from a damaged letter): its odd bytes become %XX too. */
void subject_of(char subject[SUBJECT_SIZE], const char *prefix, enum subject_kind kind, struct span target);

/* The subject of part n of the record that stands apart: by the letter's id, parts_hash and parts, so that other bytes, or the same ones divided otherwise,
 * take no subject that an older letter of this id refers to. */
void subject_large(char subject[SUBJECT_SIZE], const char *prefix, const struct letter *letter, uint32_t n);

/* Of all parts of all records that stand apart under this id: a wildcard. */
void subject_large_all(char subject[SUBJECT_SIZE], const char *prefix, const char *id);

/* All subjects of a kind: "<prefix>dlq.>". */
void subject_all(char subject[SUBJECT_SIZE], const char *prefix, enum subject_kind kind);

/* The kind and topic of a subject; of a nack also when its dots were not encoded. false: not one of ours. topic: decoded, with NUL, "" for _refused. */
bool subject_read(const char *subject, const char *prefix, enum subject_kind *kind, char topic[SUBJECT_SIZE]);

#endif
