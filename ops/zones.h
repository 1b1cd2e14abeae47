/*
 * Time zones by name, from the system's files (tzdata), read when first asked for and again when a file has changed.
 *
 * One thread: the one that owns it. Knows at most ZONES_MAX zones; beyond, the one not asked for the longest is forgotten. A zone whose file vanishes or no
 * longer reads, keeps what was read last (logged once), so that an update of tzdata under way breaks no schedule.
 */
#ifndef TARRY_OPS_ZONES_H
#define TARRY_OPS_ZONES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/span.h"
#include "base/time_types.h"
#include "scheduler/zone.h"

#define ZONES_MAX 600
#define ZONES_NAME_MAX 64             /* bytes of a name */
#define ZONES_FILE_MAX (1024 * 1024)  /* bytes of a file */

struct zones;

/* `folder` is copied; NULL: what $TZDIR says, else /usr/share/zoneinfo. Never NULL; reads nothing yet. zones_free() gives it back. */
struct zones *zones_new(const char *folder);

/* NULL is fine. Ends all zones got from it. */
void zones_free(struct zones *zones);

/*
 * The zone of a name ("Europe/London"), borrowed: valid until the next zones_get() or zones_free(). "UTC" gives *zone = NULL, which is UTC, without any file.
 * Looks at the file (stat) when the last look is a second or more ago, and reads it when it is another one.
 * False: ERROR_INVALID (not a name of a zone: letters, digits, `_`, `+`, `-`, parts by `/`, each part begins with a letter; or the file is none of a zone), or
 * ERROR_NOT_FOUND (no such zone), or ERROR_SYSTEM (the file cannot be read), with words that name the zone and the folder; *zone is untouched.
 */
bool zones_get(struct zones *zones, struct span name, struct mono_ms now, const struct zone **zone, struct error *error);

/* How many zones are known, and how often a file was read and looked at (stat): for metrics and tests. */
struct zones_figures {
    size_t known;
    uint64_t reads;
    uint64_t looks;
};
struct zones_figures zones_figures(const struct zones *zones);

#endif
