#include "bridge/kafka_handle.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "bridge/kafka_conf.h"

int64_t kafka_handle_clock_ms(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

struct kafka_property *kafka_handle_properties(const struct kafka_property *properties, size_t count)
{
    struct kafka_property *copies = memory_new(count, sizeof *copies);
    for (size_t i = 0; i < count; i++) {
        copies[i].name = memory_text(properties[i].name, strlen(properties[i].name));
        copies[i].value = memory_text(properties[i].value, strlen(properties[i].value));
    }
    return copies;
}

void kafka_handle_properties_free(struct kafka_property *properties, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)properties[i].name); /* ours: only the struct calls them const */
        free((void *)(uintptr_t)properties[i].value);
    }
    free(properties);
}

bool kafka_handle_set(rd_kafka_conf_t *conf, const char *name, const char *value, struct error *error)
{
    char words[256];
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, name, value, words, sizeof words);
    if (result == RD_KAFKA_CONF_OK) {
        return true;
    }
    if (result == RD_KAFKA_CONF_UNKNOWN) {
        return error_set(error, ERROR_INVALID, "librdkafka %s knows no property %s; see its CONFIGURATION.md", rd_kafka_version_str(), name);
    }
    if (kafka_conf_secret(name)) {
        return error_set(error, ERROR_INVALID, "librdkafka refuses the value of the Kafka property %s", name);
    }
    return error_set(error, ERROR_INVALID, "the Kafka property %s: %s", name, words);
}

/* librdkafka repeats itself at most every 30 s for one broker and kind of failure, so nothing is held back here. */
static void write_log(const rd_kafka_t *handle, int level, const char *facility, const char *text)
{
    static const enum log_level levels[] = {LOG_LEVEL_ERROR,   LOG_LEVEL_ERROR,   LOG_LEVEL_ERROR, LOG_LEVEL_WARNING,
                                            LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVEL_DEBUG};
    size_t index = level < 0 ? 0 : level > 7 ? 7 : (size_t)level;
    log_write(levels[index], "kafka_client", LOG_FIELDS(LOG_TEXT("client", rd_kafka_name(handle)), LOG_TEXT("facility", facility)), "%s",
              text);
}

static bool set_all(rd_kafka_conf_t *conf, const struct kafka_handle_setting *settings, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (settings[i].value != NULL && !kafka_handle_set(conf, settings[i].name, settings[i].value, error)) {
            return false;
        }
    }
    return true;
}

static bool set_properties(rd_kafka_conf_t *conf, const struct kafka_property *properties, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *reason = kafka_conf_refused(properties[i].name);
        if (reason != NULL) {
            return error_set(error, ERROR_INVALID, "the Kafka property %s may not be set: %s", properties[i].name, reason);
        }
        if (!kafka_handle_set(conf, properties[i].name, properties[i].value, error)) {
            return false;
        }
    }
    return true;
}

rd_kafka_conf_t *kafka_handle_conf(const struct kafka_handle_setting *defaults,
                                   size_t default_count,
                                   const struct kafka_property *properties,
                                   size_t property_count,
                                   const struct kafka_handle_setting *fixed,
                                   size_t fixed_count,
                                   struct error *error)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, write_log);
    if (set_all(conf, defaults, default_count, error) && set_properties(conf, properties, property_count, error) &&
        set_all(conf, fixed, fixed_count, error)) {
        return conf;
    }
    rd_kafka_conf_destroy(conf);
    return NULL;
}

rd_kafka_t *kafka_handle_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct error *error)
{
    char words[384];
    rd_kafka_t *handle = rd_kafka_new(type, conf, words, sizeof words);
    if (handle == NULL) {
        rd_kafka_conf_destroy(conf);
        error_set(error, ERROR_INVALID, "the Kafka settings do not work: %s", words);
    }
    return handle;
}

/* ------------------------------------------------------------------------------------------------- the end */

#define DESTROY_TIMEOUT_MS 5000

struct kafka_handle_ending {
    rd_kafka_t *handle;
    pthread_t thread;
    int done_fd;
};

static void *destroy(void *opaque)
{
    struct kafka_handle_ending *ending = opaque;
    rd_kafka_destroy_flags(ending->handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    uint64_t one = 1;
    /* an eventfd takes it; and if it did not, the other side would only wait for its full time */
    if (write(ending->done_fd, &one, sizeof one) != (ssize_t)sizeof one) {
        log_write(LOG_LEVEL_DEBUG, "kafka_client", NULL, 0, "the end of a client could not be told");
    }
    return NULL;
}

struct kafka_handle_ending *kafka_handle_destroy_begin(rd_kafka_t *handle)
{
    struct kafka_handle_ending *ending = memory_new(1, sizeof *ending);
    ending->handle = handle;
    ending->done_fd = eventfd(0, EFD_CLOEXEC);
    if (ending->done_fd >= 0 && thread_start(&ending->thread, destroy, ending)) {
        return ending;
    }
    rd_kafka_destroy_flags(handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    if (ending->done_fd >= 0) {
        close(ending->done_fd);
    }
    free(ending);
    return NULL;
}

void kafka_handle_destroy_end(struct kafka_handle_ending *ending, int timeout_ms)
{
    if (ending == NULL) {
        return;
    }
    struct pollfd item = {.fd = ending->done_fd, .events = POLLIN};
    if (poll(&item, 1, timeout_ms) == 1) {
        pthread_join(ending->thread, NULL);
        close(ending->done_fd);
        free(ending);
        return;
    }
    log_write(LOG_LEVEL_WARNING, "kafka_client", NULL, 0, "a Kafka client did not end in time, and is left behind as the process ends");
    pthread_detach(ending->thread); /* it keeps `ending` */
}

void kafka_handle_destroy(rd_kafka_t *handle)
{
    kafka_handle_destroy_end(kafka_handle_destroy_begin(handle), DESTROY_TIMEOUT_MS);
}
