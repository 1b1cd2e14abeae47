/* Room-internal: Entries of the outbox, and lists of them. Included by outbox_state.h. */
#ifndef TARRY_DLQ_OUTBOX_ENTRY_H
#define TARRY_DLQ_OUTBOX_ENTRY_H

#include "dlq/outbox_state.h"

void outbox_entry_list_add(struct outbox_list *list, struct outbox_entry *entry);

void outbox_entry_list_init(struct outbox_list *list);

struct outbox_entry *outbox_entry_list_take(struct outbox_list *list); /* NULL: empty */

#endif
