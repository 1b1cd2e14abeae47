/* What no single key can know: how values go together. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_CHECK_H
#define TARRY_OPS_CONFIG_CHECK_H

#include "ops/config.h"

/* Checks an applied configuration (fields that had problems may be NULL). */
void config_check(const struct config *config, struct config_problems *problems);

#endif
