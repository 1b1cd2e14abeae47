#include "bridge/kafka_conf.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/kafka_handle.h"

struct refused {
    const char *name;
    const char *reason;
};

static const char commits[] = "tarry commits offsets itself, together with its frontier; anything else loses or repeats records";
static const char position[] = "tarry starts each partition exactly where its frontier says; a reset would skip records silently";
static const char identity[] = "it follows from `instance` and `group`; two ways to set it could disagree and fence the instance";
static const char idempotence[] = "deliveries are idempotent and acknowledged by all replicas; the frontier rests on it";
static const char reports[] = "every delivery is reported; without its report a record would never count as done";

static const struct refused refused_properties[] = {
    {"isolation.level", "only committed records may fire; aborted transactions must not"},
    {"enable.auto.commit", commits},
    {"auto.commit.enable", commits},
    {"auto.commit.interval.ms", commits},
    {"enable.auto.offset.store", commits},
    {"offset.store.method", commits},
    {"offset.store.path", commits},
    {"offset.store.sync.interval.ms", commits},
    {"auto.offset.reset", position},
    {"enable.partition.eof", "the end of a partition tells when catching up is done"},
    {"group.id", identity},
    {"group.instance.id", identity},
    {"client.id", identity},
    {"group.protocol", "static membership as tarry uses it belongs to the classic group protocol"},
    {"transactional.id", identity},
    {"transaction.timeout.ms", "set tarry's own `transaction_timeout`: takeovers and other timeouts follow from it"},
    {"acks", idempotence},
    {"request.required.acks", idempotence},
    {"enable.idempotence", idempotence},
    {"enable.gapless.guarantee", "a delivery that timed out is repeated, in order, by tarry itself; this would end the process instead"},
    {"delivery.report.only.error", reports},
    {"queuing.strategy", "records leave in the order they are due, which only fifo keeps"},
    {"log.queue", "librdkafka's log goes to tarry's own"},
    {"test.mock.num.brokers", "records would go to a mock cluster; use `tarry demo`"},
};

/* Numbers that librdkafka takes, but not together with idempotence: better said here than at the start. */
struct bounded {
    const char *name;
    long least;
    long most;
};

static const struct bounded bounded_properties[] = {
    {"retries", 1, INT_MAX},
    {"message.send.max.retries", 1, INT_MAX},
    {"max.in.flight", 1, 5},
    {"max.in.flight.requests.per.connection", 1, 5},
};

static bool in_bounds(const char *name, const char *value, struct error *error)
{
    for (size_t i = 0; i < sizeof bounded_properties / sizeof bounded_properties[0]; i++) {
        const struct bounded *bounded = &bounded_properties[i];
        if (strcmp(bounded->name, name) != 0) {
            continue;
        }
        long number = strtol(value, NULL, 0); /* librdkafka has said that it is a number */
        if (number < bounded->least || number > bounded->most) {
            return error_set(error, ERROR_INVALID, "the Kafka property %s must be %ld to %ld, not %s: %s", name, bounded->least, bounded->most, value,
                             idempotence);
        }
    }
    return true;
}

const char *kafka_conf_refused(const char *name)
{
    for (size_t i = 0; i < sizeof refused_properties / sizeof refused_properties[0]; i++) {
        if (strcmp(refused_properties[i].name, name) == 0) {
            return refused_properties[i].reason;
        }
    }
    return NULL;
}

bool kafka_conf_secret(const char *name)
{
    /* by parts of names, so that a property of a newer librdkafka is hidden too; sasl.jaas.config does not exist here but is tried */
    static const char *const parts[] = {"password", "secret", "key.pem", "oauthbearer", "jaas", "sasl.username"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(name, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

bool kafka_conf_check(const char *name, const char *value, struct error *error)
{
    const char *reason = kafka_conf_refused(name);
    if (reason != NULL) {
        return error_set(error, ERROR_INVALID, "the Kafka property %s may not be set: %s", name, reason);
    }
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    bool done = kafka_handle_set(conf, name, value, error) && in_bounds(name, value, error);
    rd_kafka_conf_destroy(conf);
    return done;
}
