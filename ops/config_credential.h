/* `credential:NAME` as the value of a *_file key: a file of the service manager's credentials (systemd's LoadCredential=). Internal to the config files of
 * ops/. */
#ifndef TARRY_OPS_CONFIG_CREDENTIAL_H
#define TARRY_OPS_CONFIG_CREDENTIAL_H

#include <stdbool.h>

#include "base/error.h"
#include "ops/config_arena.h"
#include "ops/config_node.h"
#include "ops/config_problems.h"

#define CONFIG_CREDENTIAL_PREFIX "credential:"

/* The path of what `value` names below `directory` ($CREDENTIALS_DIRECTORY, NULL or "": not set), in the arena; a value without the prefix is its own path.
 * ERROR_INVALID: the directory is not known or not absolute, or the name could lead elsewhere (it is 1 to 255 of [a-zA-Z0-9._-], not "." or ".."). Nothing is
 * opened. */
bool config_credential_path(const char *value, const char *directory, struct config_arena *arena, const char **path, struct error *error);

/* Puts paths in the place of such values, in all *_file keys of kafka, nats and http. A key with a problem is BROKEN afterwards. `environment`: as in struct
 * config_request. */
void config_credential_resolve(
    struct config_node *tree, const char *const *environment, struct config_arena *arena, struct config_problems *problems);

#endif
