/* Letters in groups: by what, under which name a letter counts, and a group as JSON. Pure; one thread at a time. */
#ifndef TARRY_DLQ_REASONS_H
#define TARRY_DLQ_REASONS_H

#include "base/buffer.h"
#include "dlq/letter.h"
#include "dlq/reasons_table.h"

enum reasons_by { REASONS_BY_REASON, REASONS_BY_ERROR, REASONS_BY_TARGET, REASONS_BY_SOURCE, REASONS_BY_HOUR };

#define REASONS_NAME_MAX ((size_t)4096) /* bytes of a name: for the buffer it is built in */

/* "reason", "error", "target", "source", "hour", in the order of the enum; NULL at the end. */
extern const char *const reasons_by_names[];

/* Appends the name of the group in which the letter counts; never empty but for a source that is. `error`: its text, with N for numbers and ids; `target`: _refused for none; `hour`: of the last failure, UTC,
 * "2026-01-31T12:00:00Z". O(length of the text). */
void reasons_name(enum reasons_by by, const struct letter *letter, struct buffer *name);

/*
 * Appends one group as a JSON object, without a line end; `letters`: of all groups, at least 1.
 *   {"by":"reason","group":"no_time","count":3,"share":0.7500,"waiting":1,"parked":2,"first":"2026-...","last":null,"example":"32 hex digits"}
 */
void reasons_json(enum reasons_by by, const struct reasons_table_group *group, uint64_t letters, struct buffer *json);

#endif
