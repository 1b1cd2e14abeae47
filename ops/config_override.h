/* Environment and flags laid over the tree. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_OVERRIDE_H
#define TARRY_OPS_CONFIG_OVERRIDE_H

#include "ops/config.h"
#include "ops/config_node.h"

/* Every TARRY_... variable that names a key replaces its value; one that names none is a warning (the file's unknown
 * keys are errors, but the environment is not tarry's alone). Empty ones count as unset. */
void config_override_environment(struct config_node *tree,
                                 const char *const *environment,
                                 struct config_arena *arena,
                                 struct config_problems *problems);

/* Each setting replaces its key's value, in order; one that names no key is an error. */
void config_override_settings(struct config_node *tree,
                              const struct config_setting *settings,
                              size_t count,
                              struct config_arena *arena,
                              struct config_problems *problems);

#endif
