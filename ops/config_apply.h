/* From the tree of texts to the typed struct, by the table. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_APPLY_H
#define TARRY_OPS_CONFIG_APPLY_H

#include "ops/config.h"
#include "ops/config_node.h"

/* Fills `config` (zeroed but for its arena) with defaults, then with what the tree says. Unknown keys, wrong types,
 * values out of range and missing keys become problems; their fields keep the default, or NULL. */
void config_apply(const struct config_node *tree, struct config *config, struct config_problems *problems);

#endif
