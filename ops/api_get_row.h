/* Finding one row in the checkpoint, for whoever asks for a single event. Worker threads. */
#ifndef TARRY_OPS_API_GET_ROW_H
#define TARRY_OPS_API_GET_ROW_H

#include "base/error.h"
#include "base/span.h"
#include "ops/api_list_place.h"
#include "scheduler/metadata.h"
#include "scheduler/types.h"

struct store;

struct api_get_row {
    struct key key;
    char lane[METADATA_LANE_NAME_MAX + 1];
    uint8_t *bytes; /* owned: free(); NULL: it is not there */
    size_t length;
};

/* The row that the checkpoint knows by this id, if it stands at `offset`. False: ERROR_FULL (too many readers), ERROR_CORRUPT, ERROR_SYSTEM. Some look-ups in trees, and a copy of the row. */
bool api_get_row_by_id(struct store *store, const struct api_list_place *place, struct record_id id, int64_t offset, struct api_get_row *row, struct error *error);

#define API_GET_ROW_SLICE_MS 100
#define API_GET_ROW_SLICE_BUCKETS 20000
#define API_GET_ROW_BUCKETS 4096

/* How to look through a partition's buckets. */
struct api_get_row_options {
    int64_t end_ms;         /* monotonic: after it the search gives up */
    int64_t slice_ms;       /* after so long, or so many buckets (1 or more), the snapshot is a newer one, so that it keeps no page for long */
    uint32_t slice_buckets;
    size_t buckets;         /* 1 or more: that are known at a time, 32 bytes each and as much again */
    bool (*stopping)(void *context); /* asked once between two slices, while no snapshot is held; true ends the search. NULL: never */
    void *context;
};

/* The row at this offset, in whatever bucket it stands: one that is there all the time is found, though it may move to a finer bucket meanwhile. Errors as above, and ERROR_UNAVAILABLE: it took
 * too long, or is no longer wanted. A look-up for each of the partition's buckets that ever held something on both sides of it, and a walk over all of their statistics for each
 * `buckets` of them, and for each slice. */
bool api_get_row_by_offset(
    struct store *store, const struct api_list_place *place, int64_t offset, const struct api_get_row_options *options, struct api_get_row *row, struct error *error);

#endif
