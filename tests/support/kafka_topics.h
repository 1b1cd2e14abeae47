/* Administration of a real Kafka from tests. What fails fails the running cmocka test. All calls block until done and visible. */
#ifndef TARRY_TESTS_SUPPORT_KAFKA_TOPICS_H
#define TARRY_TESTS_SUPPORT_KAFKA_TOPICS_H

#include <stddef.h>

/* Makes a topic (replication 1) and waits until all its partitions have a leader. `configs`: NULL, or NULL-terminated "name=value"
 * ("message.timestamp.type=LogAppendTime", "max.message.bytes=1000", ...). */
void kafka_topics_create(const char *bootstrap, const char *topic, int partitions, const char *const *configs);

/* Deletes a topic and waits until it is gone from the metadata. */
void kafka_topics_delete(const char *bootstrap, const char *topic);

/* Raises the number of partitions and waits until all have a leader. */
void kafka_topics_add_partitions(const char *bootstrap, const char *topic, int partitions);

/* Deletes records below `offset` (moves the log start). */
void kafka_topics_delete_records(const char *bootstrap, const char *topic, int partition, long long offset);

/* Deletes a group that has no members, offsets and all. */
void kafka_topics_delete_group(const char *bootstrap, const char *group);

#endif
