/* A store with real rows, for the tests of lists: three partitions, four lanes, and a list of what was put there. */
#ifndef TARRY_TESTS_LIST_SCENE_H
#define TARRY_TESTS_LIST_SCENE_H

#include "ops/api_list_place.h"
#include "scheduler/metadata.h"
#include "store/store.h"

#define LIST_SCENE_NOW INT64_C(1800000000000)
#define LIST_SCENE_ROWS 4000
#define LIST_SCENE_PLACES 3 /* ("a", 0), ("a", 1), ("b", 0): also the slots */

enum list_scene_lane { LIST_SCENE_DEFAULT, LIST_SCENE_REFUSED, LIST_SCENE_UNDECIDED, LIST_SCENE_ORDERS, LIST_SCENE_LANES };

struct list_scene_row {
    uint32_t place;
    enum list_scene_lane lane;
    uint8_t level; /* at which it stands */
    int64_t offset;
    int64_t due_ms;
    char id[16];    /* "": none */
    const char *target;
    bool every;     /* it comes again */
    bool paused;
    bool written;
    bool erased;
    uint8_t *bytes; /* owned */
    size_t length;
};

struct list_scene {
    char *folder;
    struct store *store;
    struct api_list_place places[LIST_SCENE_PLACES];
    struct list_scene_row rows[LIST_SCENE_ROWS];
    size_t count;
    struct metadata metadata; /* of all partitions, written with every plan */
    char text[METADATA_MAX + 1];
};

/* Opened and bound; nothing in it, nothing done. */
struct list_scene *list_scene_new(void);
void list_scene_free(struct list_scene *scene);

/* Adds a row of the default lane, not written yet, due then, offset = its index; to be changed until list_scene_write. Borrowed. */
struct list_scene_row *list_scene_add(struct list_scene *scene, uint32_t place, int64_t due_ms);

/* Writes all rows that were not written yet. */
void list_scene_write(struct list_scene *scene);

/* Writes a row once more, with the bytes that it has now. */
void list_scene_write_again(struct list_scene *scene, const struct list_scene_row *row);

/* Splits the bucket of a row: its `most` rows of least offsets go one level down. */
void list_scene_split(struct list_scene *scene, const struct list_scene_row *row, uint32_t most);

/* Takes a row out. */
void list_scene_erase(struct list_scene *scene, struct list_scene_row *row);

#endif
