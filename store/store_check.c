/* Is data.mdb what LMDB will take it for? Follows LMDB 0.9's file format: two meta pages, then B+ trees of numbered
 * pages. */
#include "store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define MAGIC 0xBEEFC0DEu
#define VERSION 1u
#define PAGE_HEADER 16u
#define NODE_HEADER 8u
#define PAGE_BRANCH 0x01u
#define PAGE_LEAF 0x02u
#define PAGE_META 0x08u
#define NODE_BIG 0x01u     /* the value has pages of its own */
#define NODE_SUBTREE 0x02u /* the value describes a database */
#define TREE_BYTES 48u
#define DEPTH_MOST 16 /* of 2-child trees: 65,000 pages and more; LMDB itself allows 32 */
#define NO_PAGE UINT64_MAX

/* Bytes of leaves that are read; inner pages are always read. What lies beyond is checked for its place in the file. */
#define LEAF_BYTES_MOST ((uint64_t)512 * 1024 * 1024)

struct check {
    int fd;
    uint64_t page_bytes;
    uint64_t pages; /* that the file has, and its head knows of */
    uint64_t last_page;
    uint64_t leaf_bytes_left;
    uint8_t *buffers; /* a page for each depth, and twice for databases within the main one */
    const char *what; /* the first thing that is wrong */
    uint64_t where;
};

struct tree {
    uint16_t depth;
    uint64_t root;
};

/* The file is in the machine's own byte order. */
static uint64_t native(const uint8_t *at, size_t bytes)
{
    uint64_t wide = 0;
    uint32_t middle = 0;
    uint16_t narrow = 0;
    switch (bytes) {
    case 2:
        memcpy(&narrow, at, 2);
        return narrow;
    case 4:
        memcpy(&middle, at, 4);
        return middle;
    default:
        memcpy(&wide, at, 8);
        return wide;
    }
}

static bool wrong(struct check *check, uint64_t page, const char *what)
{
    if (check->what == NULL) {
        check->what = what;
        check->where = page;
    }
    return false;
}

static bool in_file(struct check *check, uint64_t page, uint64_t count)
{
    return (page < check->pages && count <= check->pages - page) ||
           wrong(check, page, "lies beyond the end of the file");
}

static bool read_page(struct check *check, uint64_t page, uint8_t *buffer)
{
    if (!in_file(check, page, 1)) {
        return false;
    }
    ssize_t got = pread(check->fd, buffer, check->page_bytes, (off_t)(page * check->page_bytes));
    return got == (ssize_t)check->page_bytes || wrong(check, page, "cannot be read");
}

static struct tree read_tree(const uint8_t *at)
{
    return (struct tree){(uint16_t)native(at + 6, 2), native(at + 40, 8)};
}

static uint64_t node_count(const uint8_t *page)
{
    return (native(page + 12, 2) - PAGE_HEADER) / 2;
}

static bool check_header(struct check *check, uint64_t number, const uint8_t *page, uint64_t kind)
{
    uint64_t lower = native(page + 12, 2);
    uint64_t upper = native(page + 14, 2);
    if (native(page, 8) != number || native(page + 10, 2) != kind) {
        return wrong(check, number, "is not the page that its tree expects");
    }
    return (lower >= PAGE_HEADER + 2 && lower % 2 == 0 && lower <= upper && upper <= check->page_bytes) ||
           wrong(check, number, "has a broken header");
}

/* The node at an index, or NULL when it does not lie within the page. */
static const uint8_t *node_at(struct check *check, uint64_t number, const uint8_t *page, uint64_t index)
{
    uint64_t place = native(page + PAGE_HEADER + 2 * index, 2);
    if (place < native(page + 14, 2) || place + NODE_HEADER > check->page_bytes) {
        (void)wrong(check, number, "has a node outside of itself");
        return NULL;
    }
    const uint8_t *node = page + place;
    uint64_t bytes = NODE_HEADER + native(node + 6, 2);
    if (native(page + 10, 2) == PAGE_LEAF) {
        bytes += (native(node + 4, 2) & NODE_BIG) != 0 ? 8 : native(node, 4);
    }
    if (bytes > check->page_bytes - place) {
        (void)wrong(check, number, "has a node longer than itself");
        return NULL;
    }
    return node;
}

static uint64_t child_of(const uint8_t *node)
{
    return native(node, 4) | native(node + 4, 2) << 32;
}

static bool check_big(struct check *check, const uint8_t *node)
{
    const uint8_t *data = node + NODE_HEADER + native(node + 6, 2);
    uint64_t pages = (native(node, 4) + PAGE_HEADER + check->page_bytes - 1) / check->page_bytes;
    return in_file(check, native(data, 8), pages);
}

static bool check_tree(struct check *check, struct tree tree, bool main);

static bool check_subtree(struct check *check, uint64_t number, const uint8_t *node)
{
    if (native(node, 4) != TREE_BYTES) {
        return wrong(check, number, "describes a database in a way that is none");
    }
    return check_tree(check, read_tree(node + NODE_HEADER + native(node + 6, 2)), false);
}

static bool check_leaf(struct check *check, uint64_t number, const uint8_t *page, bool main)
{
    for (uint64_t i = 0; i < node_count(page); i++) {
        const uint8_t *node = node_at(check, number, page, i);
        if (node == NULL) {
            return false;
        }
        uint64_t flags = native(node + 4, 2);
        if ((flags & ~(uint64_t)(NODE_BIG | (main ? NODE_SUBTREE : 0))) != 0) {
            return wrong(check, number, "has a node of an unknown kind");
        }
        bool ok = (flags & NODE_BIG) == 0 || check_big(check, node);
        if (!ok || ((flags & NODE_SUBTREE) != 0 && !check_subtree(check, number, node))) {
            return false;
        }
    }
    return true;
}

static bool check_page(struct check *check, uint64_t number, uint16_t depth, bool main)
{
    if (depth == 1) {
        if (check->leaf_bytes_left < check->page_bytes) {
            return in_file(check, number, 1);
        }
        check->leaf_bytes_left -= check->page_bytes;
    }
    uint8_t *page = check->buffers + (size_t)(depth + (main ? DEPTH_MOST : 0)) * check->page_bytes;
    if (!read_page(check, number, page) || !check_header(check, number, page, depth == 1 ? PAGE_LEAF : PAGE_BRANCH)) {
        return false;
    }
    if (depth == 1) {
        return check_leaf(check, number, page, main);
    }
    for (uint64_t i = 0; i < node_count(page); i++) {
        const uint8_t *node = node_at(check, number, page, i);
        if (node == NULL || !check_page(check, child_of(node), (uint16_t)(depth - 1), main)) {
            return false;
        }
    }
    return true;
}

static bool check_tree(struct check *check, struct tree tree, bool main)
{
    if (tree.root == NO_PAGE) {
        return true;
    }
    if (tree.depth == 0 || tree.depth >= DEPTH_MOST) {
        return wrong(check, tree.root, "is the root of a tree of impossible depth");
    }
    return check_page(check, tree.root, tree.depth, main);
}

/* Both meta pages must be in order: LMDB reads both and takes the later. */
static bool check_metas(struct check *check, struct tree *freed, struct tree *main, bool *newer)
{
    uint64_t latest = 0;
    for (uint64_t i = 0; i < 2; i++) {
        uint8_t page[PAGE_HEADER + 136];
        ssize_t got = pread(check->fd, page, sizeof(page), (off_t)(i * check->page_bytes));
        const uint8_t *meta = page + PAGE_HEADER;
        if (got != (ssize_t)sizeof(page) || native(page + 10, 2) != PAGE_META || native(meta, 4) != MAGIC) {
            return wrong(check, i, "is not a head of an LMDB file");
        }
        *newer = native(meta + 4, 4) != VERSION;
        if (*newer || (i == 1 && native(meta + 24, 4) != check->page_bytes)) {
            return wrong(check, i, "has another version or page size");
        }
        check->page_bytes = native(meta + 24, 4);
        if (check->page_bytes < 512 || check->page_bytes > 65536 ||
            (check->page_bytes & (check->page_bytes - 1)) != 0) {
            return wrong(check, i, "has an impossible page size");
        }
        uint64_t transaction = native(meta + 128, 8);
        if (i == 0 || transaction > latest) {
            latest = transaction;
            *freed = read_tree(meta + 24);
            *main = read_tree(meta + 24 + TREE_BYTES);
            check->last_page = native(meta + 120, 8);
        }
    }
    return true;
}

static bool check_all(struct check *check, uint64_t file_bytes, bool *newer)
{
    struct tree freed = {0, NO_PAGE};
    struct tree main = {0, NO_PAGE};
    if (!check_metas(check, &freed, &main, newer)) {
        return false;
    }
    check->pages = file_bytes / check->page_bytes;
    check->pages = check->last_page < check->pages ? check->last_page + 1 : check->pages;
    check->leaf_bytes_left = LEAF_BYTES_MOST;
    check->buffers = memory_new((size_t)2 * DEPTH_MOST, check->page_bytes);
    bool ok = check_tree(check, main, true) && check_tree(check, freed, false);
    free(check->buffers);
    return ok;
}

bool store_check_file(const char *file, struct error *error)
{
    struct check check = {.fd = open(file, O_RDONLY | O_CLOEXEC), .page_bytes = 0};
    if (check.fd < 0) {
        return error_set(error, ERROR_SYSTEM, "store: cannot open %s: %s", file, strerror(errno));
    }
    struct stat found;
    bool newer = false;
    bool ok = fstat(check.fd, &found) == 0 && check_all(&check, (uint64_t)found.st_size, &newer);
    close(check.fd);
    if (ok) {
        return true;
    }
    if (newer) {
        return error_set(error, ERROR_TOO_NEW,
                         "store: %s was written by a later LMDB: install the version that wrote it", file);
    }
    return error_set(error, ERROR_CORRUPT,
                     "store: %s is damaged or not a store: page %llu %s; keep a copy for a report and move the "
                     "directory away: a start "
                     "without it reads what is pending from Kafka again",
                     file, (unsigned long long)check.where, check.what == NULL ? "cannot be read" : check.what);
}
