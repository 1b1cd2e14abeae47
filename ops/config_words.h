/* What a key takes, in words. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_WORDS_H
#define TARRY_OPS_CONFIG_WORDS_H

#include "ops/config_table.h"

/* "duration, 1ms to 60s": type, range and choices in words for the documentation. */
struct config_words {
    char text[256];
};
struct config_words config_words_of(const struct config_key *key);

#endif
