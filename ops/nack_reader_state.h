/* One nack on its way to a letter. For nack_reader.c and its tests. Pure. */
#ifndef TARRY_OPS_NACK_READER_STATE_H
#define TARRY_OPS_NACK_READER_STATE_H

#include "bridge/nack_source.h"
#include "dlq/nack_family.h"
#include "ops/config.h"

/* Zeroed = new. The letter borrows from the rest, and from the record. */
struct nack_reader_item {
    struct buffer headers; /* of the record, encoded */
    struct nack_family_room room;
    char error[LETTER_ERROR_MAX];
    struct letter letter;
    enum letter_state state;
    bool kept; /* JetStream has it */
};

/* Both are borrowed. */
struct nack_reader_rules {
    const struct config *opened;   /* that the source was opened with: record->match indexes its `nack`; group, what is allowed as a target */
    const struct config *policies; /* as last reloaded: of it only the targets' retry is read, the rest waits for a restart */
};

/*
 * Makes the letter of a record of a nack topic that was read now: by the family of opened->nacks[record->match], the policy of the target and the
 * record's own delay. Parked at once: no origin (BAD_NACK), an origin that is no target of ours (TARGET_NOT_ALLOWED), and when no redelivery is left.
 * The same record makes a letter of the same id and attempt.
 */
void nack_reader_item_make(struct nack_reader_item *item, const struct nack_reader_rules *rules, const struct nack_source_record *record, int64_t now_ms);

/* Zeroed again. */
void nack_reader_item_free(struct nack_reader_item *item);

#endif
