/* Letters in the outbox, with all that they borrow. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dlq/outbox_state.h"

#define SPANS 8

static void spans_of(struct letter *letter, struct span *spans[SPANS])
{
    struct span *all[SPANS] = {&letter->error, &letter->target, &letter->origin.topic, &letter->group, &letter->schedule_id,
                               &letter->record.key, &letter->record.value, &letter->record.headers};
    memcpy(spans, all, sizeof all);
}

/* Present and empty stays present: each span that is there points into the room. */
struct outbox_entry *outbox_entry_new(const struct letter *letter, enum letter_state state, void *token)
{
    struct letter copy = *letter;
    struct span *spans[SPANS];
    spans_of(&copy, spans);
    size_t size = 0;
    for (size_t i = 0; i < SPANS; i++) {
        size += spans[i]->length; /* lengths in memory: no overflow */
    }
    struct outbox_entry *entry = memory_new(1, sizeof *entry + size);
    uint8_t *room = (uint8_t *)(entry + 1);
    for (size_t i = 0; i < SPANS; i++) {
        if (spans[i]->data != NULL) {
            memcpy(room, spans[i]->data, spans[i]->length);
            spans[i]->data = room;
            room += spans[i]->length;
        }
    }
    entry->letter = copy;
    entry->size = sizeof *entry + size;
    entry->state = state;
    entry->report.token = token;
    return entry;
}

void outbox_entry_list_init(struct outbox_list *list)
{
    list->first = NULL;
    list->end = &list->first;
}

void outbox_entry_list_add(struct outbox_list *list, struct outbox_entry *entry)
{
    entry->next = NULL;
    *list->end = entry;
    list->end = &entry->next;
}

struct outbox_entry *outbox_entry_list_take(struct outbox_list *list)
{
    struct outbox_entry *entry = list->first;
    if (entry != NULL) {
        list->first = entry->next;
        if (list->first == NULL) {
            list->end = &list->first;
        }
    }
    return entry;
}
