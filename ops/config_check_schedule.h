/* What must hold between keys of schedules: dialects, lateness, misfires, history. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_CHECK_SCHEDULE_H
#define TARRY_OPS_CONFIG_CHECK_SCHEDULE_H

#include "ops/config.h"

/* Adds a problem for each that does not hold. Every text that must be there may still be NULL (it was complained of). */
void config_check_schedule(const struct config *config, struct config_problems *problems);

#endif
