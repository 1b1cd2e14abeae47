#include "cli/dlq_import_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct dlq_import_index_entry {
    char id[LETTER_ID_SIZE];
    uint8_t state;
    bool stands;
    uint32_t attempt;
    uint32_t replays;
    uint64_t line;
};

void dlq_import_index_free(struct dlq_import_index *index)
{
    free(index->entries);
    *index = (struct dlq_import_index){0};
}

static struct dlq_import_index_entry entry_of(const struct letter *letter, enum letter_state state, uint64_t line)
{
    struct dlq_import_index_entry entry = {
        .state = (uint8_t)state, .attempt = letter->attempt, .replays = letter->replays, .line = line};
    memcpy(entry.id, letter->id, sizeof entry.id);
    return entry;
}

bool dlq_import_index_add(struct dlq_import_index *index, const struct letter *letter, enum letter_state state, uint64_t line)
{
    if (index->count == DLQ_IMPORT_INDEX_MAX) {
        return false;
    }
    if (index->count == index->capacity) {
        index->capacity = index->capacity == 0 ? 1024 : index->capacity * 2;
        index->entries = memory_resize(index->entries, index->capacity, sizeof *index->entries);
    }
    index->entries[index->count] = entry_of(letter, state, line);
    index->count += 1;
    return true;
}

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_letters(const struct dlq_import_index_entry *a, const struct dlq_import_index_entry *b)
{
    int by_id = strcmp(a->id, b->id);
    int by_state = by_id != 0 ? by_id : order(a->state, b->state);
    int by_attempt = by_state != 0 ? by_state : order(a->attempt, b->attempt);
    return by_attempt != 0 ? by_attempt : order(a->replays, b->replays);
}

static int compare(const void *a, const void *b)
{
    const struct dlq_import_index_entry *one = a;
    const struct dlq_import_index_entry *two = b;
    int by_letter = compare_letters(one, two);
    return by_letter != 0 ? by_letter : order(one->line, two->line);
}

void dlq_import_index_sort(struct dlq_import_index *index)
{
    if (index->count > 1) {
        qsort(index->entries, index->count, sizeof *index->entries, compare);
    }
}

/* The first entry that is not before this one. */
static size_t lower_bound(const struct dlq_import_index *index, const struct dlq_import_index_entry *wanted)
{
    size_t least = 0;
    size_t end = index->count;
    while (least < end) {
        size_t middle = least + (end - least) / 2;
        if (compare(&index->entries[middle], wanted) < 0) {
            least = middle + 1;
        } else {
            end = middle;
        }
    }
    return least;
}

void dlq_import_index_stands(struct dlq_import_index *index, const char *id)
{
    struct dlq_import_index_entry wanted = {.state = 0};
    memcpy(wanted.id, id, sizeof wanted.id);
    for (size_t i = lower_bound(index, &wanted); i < index->count && strcmp(index->entries[i].id, id) == 0; i++) {
        index->entries[i].stands = true;
    }
}

enum dlq_import_index_fate dlq_import_index_fate(const struct dlq_import_index *index, const struct letter *letter, enum letter_state state, uint64_t line)
{
    struct dlq_import_index_entry wanted = entry_of(letter, state, line);
    size_t place = lower_bound(index, &wanted);
    if (place == index->count || compare(&index->entries[place], &wanted) != 0) {
        return DLQ_IMPORT_INDEX_NEW; /* it was not added: it has no id of its own */
    }
    if (index->entries[place].stands) {
        return DLQ_IMPORT_INDEX_STANDS;
    }
    bool again = place > 0 && compare_letters(&index->entries[place - 1], &wanted) == 0;
    return again ? DLQ_IMPORT_INDEX_AGAIN : DLQ_IMPORT_INDEX_NEW;
}
