/* Which librdkafka this process runs with. */
#ifndef TARRY_BRIDGE_KAFKA_VERSION_H
#define TARRY_BRIDGE_KAFKA_VERSION_H

/* "2.0.2": of the library loaded, not of the headers compiled with. Static text. Any thread. */
const char *kafka_version(void);

#endif
