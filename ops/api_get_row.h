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

/* The row at this offset, in whatever bucket it stands. Errors as above. A look-up for each of the partition's buckets that ever held something on both sides of it. */
bool api_get_row_by_offset(struct store *store, const struct api_list_place *place, int64_t offset, struct api_get_row *row, struct error *error);

#endif
