/* How librdkafka's times and delivery go together. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_CHECK_KAFKA_H
#define TARRY_OPS_CONFIG_CHECK_KAFKA_H

#include "ops/config.h"

/* Checks an applied configuration whose properties are resolved: an error where they contradict each other, a warning
 * where a takeover or each transaction becomes slow. */
void config_check_kafka(const struct config *config, struct config_problems *problems);

#endif
