/* One text into one field, by its key. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_SET_H
#define TARRY_OPS_CONFIG_SET_H

#include "base/error.h"
#include "ops/config_table.h"

/* Sets the field of a key with a single value. Texts are borrowed. ERROR_INVALID: not of the key's form or range; the
 * field is untouched, the text names neither key nor value. */
bool config_set_scalar(const struct config_key *key, const char *text, void *field, struct error *error);

/* Adds the bit of one word to a set. ERROR_INVALID: it is none of the key's words. */
bool config_set_add_choice(const struct config_key *key, const char *word, unsigned *bits, struct error *error);

/* A set given as one text (default, environment, flag): words separated by commas; "" is the empty set. */
bool config_set_choices(const struct config_key *key, const char *text, unsigned *field, struct error *error);

#endif
