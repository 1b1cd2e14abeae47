/*
 * From the configuration to the dialects that decoding asks for (bridge/dialect.h): presets, and those of a user's own.
 */
#ifndef TARRY_OPS_DIALECTS_H
#define TARRY_OPS_DIALECTS_H

#include "bridge/dialect.h"
#include "ops/config.h"

/* The user's own dialects, made once; those of all sources. */
struct dialects {
    struct dialect *own; /* in the order of config->dialects */
    struct dialect_entry *entries;
    size_t count;
};

/* Makes them of a configuration that was checked; texts are borrowed from it. Give it to dialects_free. O(all headers). */
struct dialects dialects_new(const struct config *config);

void dialects_free(struct dialects *dialects);

/* The dialect of that name: a user's own, or a preset. NULL: there is none. */
const struct dialect *dialects_find(const struct dialects *dialects, const char *name);

#endif
