/*
 * A large row without its value, for whoever shows it: what stands beside the value in at most API_ROW_BRIEF_MOST bytes.
 *
 * Made where the row's bytes are at hand and must not be copied whole, which is the owner thread; shown by a worker.
 */
#ifndef TARRY_OPS_API_ROW_BRIEF_H
#define TARRY_OPS_API_ROW_BRIEF_H

#include "base/error.h"
#include "bridge/row.h"

#define API_ROW_BRIEF_MOST ((size_t)1 << 20) /* bytes of its key and its headers; id, target, cron and zone are short */

struct api_row_brief {
    struct row row; /* decoded; its spans are its own. Without the record's key and value. decoded.value has its length and no bytes; so has a key beyond API_ROW_BRIEF_MOST.
                       Headers beyond what is left are cut off, in the midst of one mostly */
    bool cut;       /* they are */
    uint8_t bytes[];
};

/* NULL: ERROR_CORRUPT, ERROR_TOO_NEW. Free with free(). O(API_ROW_BRIEF_MOST), whatever the length. */
struct api_row_brief *api_row_brief_new(struct span bytes, struct error *error);

#endif
