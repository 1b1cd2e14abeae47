/* How the keys of dead letters go together: nats, dlq, nack, targets[].retry. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_CHECK_DLQ_H
#define TARRY_OPS_CONFIG_CHECK_DLQ_H

#include "ops/config.h"

/* Checks an applied configuration (fields that had problems may be NULL). */
void config_check_dlq(const struct config *config, struct config_problems *problems);

#endif
