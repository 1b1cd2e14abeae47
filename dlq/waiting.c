/*
 * A binary heap of entries, and an open-addressed table of ids whose cells are positions in the heap; each entry knows its cell, so that a move in one is
 * a store in the other. Deleting from the table shifts back what follows: no tombstones.
 */
#include "dlq/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define NONE UINT32_MAX
#define CELLS_FIRST 1024u
#define ROOM_FIRST 512u

struct node {
    struct waiting_entry entry;
    uint32_t cell;
};

struct waiting {
    struct node *nodes;
    size_t count;
    size_t room;
    size_t most;
    uint32_t *cells; /* position in nodes, NONE: empty */
    size_t cell_count; /* a power of two, at least twice the room */
};

static int hex_value(char digit)
{
    return digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static bool parse_hex(const char *text, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < 16; i++) {
        int digit = hex_value(text[i]);
        if (digit < 0) {
            return false;
        }
        *value = *value << 4 | (uint64_t)digit;
    }
    return true;
}

struct waiting_id waiting_id_of(const char *id)
{
    struct waiting_id number = {0xcbf29ce484222325u, 0x84222325cbf29ce4u};
    if (strlen(id) == LETTER_ID_SIZE - 1 && parse_hex(id, &number.high) && parse_hex(id + 16, &number.low)) {
        return number;
    }
    number = (struct waiting_id){0xcbf29ce484222325u, 0x84222325cbf29ce4u}; /* FNV-1a, with two beginnings */
    for (const char *at = id; *at != '\0'; at++) {
        number.high = (number.high ^ (uint8_t)*at) * 0x100000001b3u;
        number.low = (number.low ^ (uint8_t)*at) * 0x100000001b3u;
    }
    return number;
}

struct waiting *waiting_new(size_t most)
{
    struct waiting *waiting = memory_new(1, sizeof *waiting);
    waiting->most = most < NONE / 4 ? most : NONE / 4;
    return waiting;
}

void waiting_clear(struct waiting *waiting)
{
    free(waiting->nodes);
    free(waiting->cells);
    *waiting = (struct waiting){.most = waiting->most};
}

void waiting_free(struct waiting *waiting)
{
    if (waiting != NULL) {
        waiting_clear(waiting);
        free(waiting);
    }
}

size_t waiting_count(const struct waiting *waiting)
{
    return waiting->count;
}

/* ------------------------------------------------------------------------------------------------- the table */

static size_t home_of(const struct waiting *waiting, struct waiting_id id)
{
    return (size_t)((id.high ^ id.low * 0x9e3779b97f4a7c15u) & (waiting->cell_count - 1));
}

static bool same_id(struct waiting_id a, struct waiting_id b)
{
    return a.high == b.high && a.low == b.low;
}

/* The cell of this id, or the empty one where it belongs. */
static size_t find_cell(const struct waiting *waiting, struct waiting_id id)
{
    size_t cell = home_of(waiting, id);
    while (waiting->cells[cell] != NONE && !same_id(waiting->nodes[waiting->cells[cell]].entry.id, id)) {
        cell = (cell + 1) & (waiting->cell_count - 1);
    }
    return cell;
}

static void set_cell(struct waiting *waiting, size_t cell, uint32_t position)
{
    waiting->cells[cell] = position;
    waiting->nodes[position].cell = (uint32_t)cell;
}

/* Empties a cell; those behind it that would not be found any more move up. */
static void clear_cell(struct waiting *waiting, size_t hole)
{
    size_t mask = waiting->cell_count - 1;
    for (size_t next = (hole + 1) & mask; waiting->cells[next] != NONE; next = (next + 1) & mask) {
        size_t home = home_of(waiting, waiting->nodes[waiting->cells[next]].entry.id);
        if (((next - home) & mask) >= ((next - hole) & mask)) {
            set_cell(waiting, hole, waiting->cells[next]);
            hole = next;
        }
    }
    waiting->cells[hole] = NONE;
}

static void grow(struct waiting *waiting)
{
    if (waiting->count < waiting->room) {
        return;
    }
    waiting->room = waiting->room == 0 ? ROOM_FIRST : waiting->room * 2;
    waiting->nodes = memory_resize(waiting->nodes, waiting->room, sizeof *waiting->nodes);
    free(waiting->cells);
    waiting->cell_count = waiting->room * 2 < CELLS_FIRST ? CELLS_FIRST : waiting->room * 2;
    waiting->cells = memory_new(waiting->cell_count, sizeof *waiting->cells);
    memset(waiting->cells, 0xff, waiting->cell_count * sizeof *waiting->cells);
    for (size_t i = 0; i < waiting->count; i++) {
        set_cell(waiting, find_cell(waiting, waiting->nodes[i].entry.id), (uint32_t)i);
    }
}

/* ------------------------------------------------------------------------------------------------- the heap */

static bool before(const struct waiting_entry *a, const struct waiting_entry *b)
{
    return a->not_before_ms != b->not_before_ms ? a->not_before_ms < b->not_before_ms : a->sequence < b->sequence;
}

static void place(struct waiting *waiting, size_t position, const struct node *node)
{
    waiting->nodes[position] = *node;
    waiting->cells[node->cell] = (uint32_t)position;
}

static void rise(struct waiting *waiting, size_t position)
{
    struct node node = waiting->nodes[position];
    while (position > 0 && before(&node.entry, &waiting->nodes[(position - 1) / 2].entry)) {
        place(waiting, position, &waiting->nodes[(position - 1) / 2]);
        position = (position - 1) / 2;
    }
    place(waiting, position, &node);
}

static void sink_down(struct waiting *waiting, size_t position)
{
    struct node node = waiting->nodes[position];
    for (;;) {
        size_t child = position * 2 + 1;
        if (child + 1 < waiting->count && before(&waiting->nodes[child + 1].entry, &waiting->nodes[child].entry)) {
            child++;
        }
        if (child >= waiting->count || !before(&waiting->nodes[child].entry, &node.entry)) {
            break;
        }
        place(waiting, position, &waiting->nodes[child]);
        position = child;
    }
    place(waiting, position, &node);
}

static void take_out(struct waiting *waiting, size_t position)
{
    clear_cell(waiting, waiting->nodes[position].cell);
    size_t last = --waiting->count;
    if (position != last) {
        place(waiting, position, &waiting->nodes[last]);
        rise(waiting, position);
        sink_down(waiting, position);
    }
}

static void insert(struct waiting *waiting, const struct waiting_entry *entry)
{
    grow(waiting);
    size_t cell = find_cell(waiting, entry->id);
    size_t position = waiting->count++;
    waiting->nodes[position].entry = *entry;
    set_cell(waiting, cell, (uint32_t)position);
    rise(waiting, position);
}

/* Its position, or NONE. */
static uint32_t find(const struct waiting *waiting, struct waiting_id id)
{
    return waiting->count == 0 ? NONE : waiting->cells[find_cell(waiting, id)];
}

/* ------------------------------------------------------------------------------------------------- calls */

static bool is_later(const struct waiting_entry *a, const struct waiting_entry *b)
{
    if (a->replays != b->replays) {
        return a->replays > b->replays;
    }
    return a->attempt != b->attempt ? a->attempt > b->attempt : a->sequence < b->sequence;
}

enum waiting_result waiting_put(struct waiting *waiting, const struct waiting_entry *entry, struct waiting_entry *removed)
{
    uint32_t known = find(waiting, entry->id);
    if (known == NONE) {
        if (waiting->count >= waiting->most) {
            return WAITING_FULL;
        }
        insert(waiting, entry);
        return WAITING_PUT;
    }
    if (waiting->nodes[known].entry.sequence == entry->sequence) {
        return WAITING_KNOWN;
    }
    if (!is_later(entry, &waiting->nodes[known].entry)) {
        return WAITING_OUTDATED;
    }
    *removed = waiting->nodes[known].entry;
    take_out(waiting, known);
    insert(waiting, entry);
    return WAITING_REPLACED;
}

bool waiting_first(const struct waiting *waiting, struct waiting_entry *entry)
{
    if (waiting->count == 0) {
        return false;
    }
    *entry = waiting->nodes[0].entry;
    return true;
}

bool waiting_take(struct waiting *waiting, int64_t now_ms, struct waiting_entry *entry)
{
    if (!waiting_first(waiting, entry) || entry->not_before_ms > now_ms) {
        return false;
    }
    take_out(waiting, 0);
    return true;
}

bool waiting_find(const struct waiting *waiting, struct waiting_id id, struct waiting_entry *entry)
{
    uint32_t position = find(waiting, id);
    if (position != NONE) {
        *entry = waiting->nodes[position].entry;
    }
    return position != NONE;
}

bool waiting_remove(struct waiting *waiting, struct waiting_id id)
{
    uint32_t position = find(waiting, id);
    if (position != NONE) {
        take_out(waiting, position);
    }
    return position != NONE;
}

bool waiting_sound(const struct waiting *waiting)
{
    size_t used = 0;
    for (size_t cell = 0; cell < waiting->cell_count; cell++) {
        used += waiting->cells[cell] != NONE;
    }
    for (size_t i = 0; i < waiting->count; i++) {
        const struct node *node = &waiting->nodes[i];
        if (waiting->cells[node->cell] != i || find(waiting, node->entry.id) != i ||
            (i > 0 && before(&node->entry, &waiting->nodes[(i - 1) / 2].entry))) {
            return false;
        }
    }
    return used == waiting->count;
}
