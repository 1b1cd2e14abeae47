#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "bridge/topic_facts.h"

#define RETENTION_LEAST_MS INT64_C(3600000) /* below it an outage of minutes is as long as the time in which records can be copied forward */
#define MESSAGE_BYTES_USUAL 1048588         /* Kafka's default; what producers send is limited to some 1,000,000 by their own defaults */
#define COPY_HEADER_BYTES 340               /* tarry-root with its numbers and the longest name of a target */

struct list {
    const char *topic;
    char (*texts)[320];
    size_t count;
};

static void add(struct list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct list *list, const char *format, ...)
{
    char *text = list->texts[list->count++];
    int length = snprintf(text, sizeof *list->texts, "topic %.64s: ", list->topic);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + length, sizeof *list->texts - (size_t)length, format, arguments);
    va_end(arguments);
}

static void judge_retention(struct list *list, const struct topic_facts *facts, int64_t max_delay_ms, bool copies_forward)
{
    if (!facts->deletes) {
        return; /* nothing is dropped by age or size */
    }
    if (!copies_forward && facts->retention_ms >= 0 && facts->retention_ms < max_delay_ms) {
        add(list,
            "retention.ms=%" PRId64 " is less than max_delay (%" PRId64 " ms) and copy_forward is off: the topic drops what waits longer, then only "
            "store.path has it. Raise retention.ms to max_delay or more, or set copy_forward.enabled: true",
            facts->retention_ms, max_delay_ms);
    }
    if (copies_forward && facts->retention_ms >= 0 && facts->retention_ms < RETENTION_LEAST_MS) {
        add(list,
            "retention.ms=%" PRId64 " is less than an hour: too little time to copy forward what waits longer, above all after an outage. "
            "Raise retention.ms, a day or more is good",
            facts->retention_ms);
    }
    if (facts->retention_bytes >= 0) {
        add(list,
            "retention.bytes=%" PRId64 ": the topic drops records by size, at any age and pending or not; nothing is copied forward in time for that. "
            "Set retention.bytes=-1",
            facts->retention_bytes);
    }
}

static void judge_policy(struct list *list, const struct topic_facts *facts)
{
    if (facts->compacts) {
        add(list,
            "cleanup.policy=%s: a record removes earlier ones with its key from the topic, pending or not, and a takeover does not find them. "
            "Set cleanup.policy=delete",
            facts->deletes ? "compact,delete" : "compact");
    }
    if (facts->log_append_time) {
        add(list, "message.timestamp.type=LogAppendTime: delays count from when the broker got a record, by its clock, not from when the producer made it; "
                  "a record sent again is delayed again. If that is not meant set CreateTime");
    }
}

static void judge_size(struct list *list, const struct topic_facts *facts, bool copies_forward)
{
    if (copies_forward && facts->max_message_bytes >= 0 && facts->max_message_bytes < MESSAGE_BYTES_USUAL) {
        add(list,
            "max.message.bytes=%" PRId64 ": a copy is up to %d bytes larger than its record, so a record that comes that near to the limit cannot be copied "
            "forward. Raise max.message.bytes above what producers send",
            facts->max_message_bytes, COPY_HEADER_BYTES);
    }
}

size_t topic_facts_warnings(const struct topic_facts *facts,
                            const char *topic,
                            int64_t max_delay_ms,
                            bool copies_forward,
                            char warnings[TOPIC_FACTS_WARNINGS_MAX][320])
{
    struct list list = {topic, warnings, 0};
    judge_retention(&list, facts, max_delay_ms, copies_forward);
    judge_policy(&list, facts);
    judge_size(&list, facts, copies_forward);
    return list.count;
}
