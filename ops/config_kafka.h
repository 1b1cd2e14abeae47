/* librdkafka's properties: checked, secrets read in, merged. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_KAFKA_H
#define TARRY_OPS_CONFIG_KAFKA_H

#include "ops/config.h"

/* True for properties that are worth a warning when many can read them: the secrets of kafka_conf_secret, less user
 * names and the like. */
bool config_kafka_confidential(const char *name);

/* The path of one of config.kafka_given: "kafka", "kafka.producer", "kafka.consumer". */
const char *config_kafka_group(size_t group);
#define CONFIG_KAFKA_GROUPS 3

/* Makes kafka_common, kafka_producer and kafka_consumer out of kafka_given. Reads the files of *_file names. */
void config_kafka_resolve(struct config *config, const struct config_hooks *hooks, struct config_problems *problems);

#endif
