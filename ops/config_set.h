/* One text into one field, by its key. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_SET_H
#define TARRY_OPS_CONFIG_SET_H

#include "base/error.h"
#include "ops/config.h"
#include "ops/config_table.h"

/* Sets the field of a key with a single value. Texts are borrowed. ERROR_INVALID: not of the key's form or range; the
 * field is untouched, the text names neither key nor value. */
bool config_set_scalar(const struct config_key *key, const char *text, void *field, struct error *error);

/* A list of words given as one text (default, environment, flag): they stand apart by commas; "" is the empty list. The words are the arena's. */
void config_set_names(const char *text, struct config_arena *arena, struct config_names *field);

#endif
