#include "bridge/kafka_version.h"

#include <librdkafka/rdkafka.h>

const char *kafka_version(void)
{
    return rd_kafka_version_str();
}
