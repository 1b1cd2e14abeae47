/* See link_spent.h. */
#include "dlq/link_spent.h"

void link_spent_clear(struct link_spent *spent)
{
    for (size_t i = 0; i < spent->count; i++) {
        natsMsg_Destroy(spent->messages[i]);
    }
    spent->count = 0;
    spent->bytes = 0;
}

void link_spent_add(struct link_spent *spent, natsMsg *message)
{
    if (message == NULL) {
        return;
    }
    spent->messages[spent->count++] = message;
    spent->bytes += (size_t)natsMsg_GetDataLength(message);
    if (spent->count == LINK_SPENT_MESSAGES || spent->bytes >= LINK_SPENT_BYTES) {
        link_spent_clear(spent);
    }
}
