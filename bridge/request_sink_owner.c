/* Who holds which partition: the group's members, and what each calls itself (source.c puts the address behind the instance's name). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/decimal.h"
#include "bridge/kafka_handle.h"
#include "bridge/request_sink_state.h"

#define OWNERS_FRESH_MS 3000
#define FAILED_FRESH_MS 1000 /* who asks for a thousand partitions is not to wait for each */
#define ASK_MOST_MS 1500
#define HOLDINGS_MAX 100000
#define HOST_MAX 253 /* of a DNS name */

/* ------------------------------------------------------------------------------------------------- addresses */

static bool is_host(struct span host)
{
    bool bracketed = host.length > 2 && host.data[0] == '[' && host.data[host.length - 1] == ']';
    struct span inner = bracketed ? (struct span){host.data + 1, host.length - 2} : host;
    for (size_t i = 0; i < inner.length; i++) {
        char c = (char)inner.data[i];
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        bool name = hex || (c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z') || c == '.' || c == '-' || c == '_';
        if (!(bracketed ? hex || c == ':' || c == '.' : name)) {
            return false;
        }
    }
    return inner.length >= 1 && inner.length <= HOST_MAX;
}

void request_sink_owner_address(const char *client_id, char *address, size_t size)
{
    const char *at = client_id == NULL ? NULL : strrchr(client_id, '@');
    const char *colon = at == NULL ? NULL : strrchr(at, ':');
    int64_t port = 0;
    address[0] = '\0';
    if (colon == NULL || strncmp(client_id, "tarry-", strlen("tarry-")) != 0) {
        return;
    }
    struct span host = {(const uint8_t *)at + 1, (size_t)(colon - at - 1)};
    if (is_host(host) && decimal_parse(span_of_text(colon + 1), &port) == DECIMAL_READ && port >= 1 && port <= 65535 && strlen(colon + 1) <= 5 &&
        strlen(at + 1) < size) {
        snprintf(address, size, "%s", at + 1);
    }
}

/* ------------------------------------------------------------------------------------------------- asking */

void request_sink_owner_forget(struct request_sink_owners *owners)
{
    for (size_t i = 0; i < owners->count; i++) {
        free(owners->items[i].topic);
    }
    free(owners->items);
    *owners = (struct request_sink_owners){0};
}

/* What is left of a member's assignment. */
struct rest {
    const uint8_t *bytes;
    size_t length;
};

/* A number of `size` bytes, the most significant first. -1: there is none, or it is negative. */
static int64_t take_number(struct rest *rest, size_t size)
{
    uint32_t number = 0;
    if (rest->length < size) {
        return -1;
    }
    for (size_t i = 0; i < size; i++) {
        number = number << 8 | rest->bytes[i];
    }
    rest->bytes += size;
    rest->length -= size;
    return number >> (size * 8 - 1) != 0 ? -1 : (int64_t)number;
}

static void add_holding(struct request_sink_owners *owners, struct span topic, int64_t partition, const struct request_sink_holding *member)
{
    owners->items = memory_resize(owners->items, owners->count + 1, sizeof *owners->items);
    struct request_sink_holding *holding = &owners->items[owners->count++];
    *holding = *member;
    holding->topic = memory_text(topic.data, topic.length);
    holding->partition = (int32_t)partition;
}

/* ConsumerProtocolAssignment: a version, then topics with their partitions. What does not read is left out: members write it, not the broker. */
static void read_assignment(struct request_sink_owners *owners, struct rest rest, const struct request_sink_holding *member)
{
    (void)take_number(&rest, 2);
    for (int64_t topics = take_number(&rest, 4); topics > 0; topics--) {
        int64_t length = take_number(&rest, 2);
        if (length < 0 || (size_t)length > rest.length) {
            return;
        }
        struct span topic = {rest.bytes, (size_t)length};
        rest.bytes += length;
        rest.length -= (size_t)length;
        for (int64_t partitions = take_number(&rest, 4); partitions > 0; partitions--) {
            int64_t partition = take_number(&rest, 4);
            if (partition < 0 || owners->count == HOLDINGS_MAX) {
                return;
            }
            add_holding(owners, topic, partition, member);
        }
    }
}

/* "tarry-INSTANCE", alone or before an address. */
static bool is_own(const struct request_sink *sink, const char *client_id)
{
    size_t length = strlen(sink->instance);
    const char *name = strncmp(client_id, "tarry-", strlen("tarry-")) == 0 ? client_id + strlen("tarry-") : "";
    return strncmp(name, sink->instance, length) == 0 && (name[length] == '\0' || (name[length] == '@' && strrchr(name, '@') == name + length));
}

void request_sink_owner_read(const struct request_sink *sink, const char *client_id, struct span assignment, struct request_sink_owners *owners)
{
    struct request_sink_holding member = {.own = client_id != NULL && is_own(sink, client_id)};
    request_sink_owner_address(client_id, member.address, sizeof member.address);
    read_assignment(owners, (struct rest){assignment.data, assignment.length}, &member);
}

static bool read_groups(const struct request_sink *sink, const struct rd_kafka_group_list *list, struct request_sink_owners *owners, struct error *error)
{
    const struct rd_kafka_group_info *group = list->group_cnt == 1 ? &list->groups[0] : NULL;
    if (group == NULL || group->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_set(error, ERROR_UNAVAILABLE, "who is in group %s is not known: %s", sink->group, group == NULL ? "its coordinator did not answer" : rd_kafka_err2str(group->err));
    }
    for (int i = 0; i < group->member_cnt; i++) {
        const struct rd_kafka_group_member_info *member = &group->members[i];
        struct span assignment = {member->member_assignment, member->member_assignment_size < 0 ? 0 : (size_t)member->member_assignment_size};
        request_sink_owner_read(sink, member->client_id, assignment, owners);
    }
    return true;
}

/* librdkafka's newer call for this, DescribeConsumerGroups, may end the process when a broker does not answer in time (a failed assertion). This one asks every broker, and cannot be
 * broken off. */
static bool ask(struct request_sink *sink, rd_kafka_t *handle, int timeout_ms, struct request_sink_owners *owners, struct error *error)
{
    const struct rd_kafka_group_list *list = NULL;
    if (timeout_ms < 1) {
        return error_set(error, ERROR_UNAVAILABLE, "no time was left to ask who is in group %s", sink->group);
    }
    rd_kafka_resp_err_t code = rd_kafka_list_groups(handle, sink->group, &list, timeout_ms < ASK_MOST_MS ? timeout_ms : ASK_MOST_MS);
    if (list == NULL) {
        return error_set(error, ERROR_UNAVAILABLE, "who is in group %s is not known: %s", sink->group, rd_kafka_err2str(code));
    }
    bool done = read_groups(sink, list, owners, error); /* of a part of the brokers, perhaps: the coordinator's word is enough */
    rd_kafka_group_list_destroy(list);
    return done;
}

static bool is_fresh(struct request_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    bool fresh = sink->owners.at_ms != 0 && kafka_handle_clock_ms() - sink->owners.at_ms < OWNERS_FRESH_MS;
    pthread_mutex_unlock(&sink->lock);
    return fresh;
}

static bool failed_lately(struct request_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    bool failed = sink->owners_failed_ms != 0 && kafka_handle_clock_ms() - sink->owners_failed_ms < FAILED_FRESH_MS;
    pthread_mutex_unlock(&sink->lock);
    return failed;
}

static void note_failure(struct request_sink *sink, int64_t at_ms)
{
    pthread_mutex_lock(&sink->lock);
    sink->owners_failed_ms = at_ms;
    pthread_mutex_unlock(&sink->lock);
}

static bool refresh(struct request_sink *sink, int timeout_ms, struct error *error)
{
    struct request_sink_owners asked = {0};
    if (failed_lately(sink)) {
        return error_set(error, ERROR_UNAVAILABLE, "who is in group %s is not known: no broker answered a moment ago", sink->group);
    }
    rd_kafka_t *handle = request_sink_use(sink, error);
    if (handle == NULL) {
        return false;
    }
    bool done = ask(sink, handle, timeout_ms, &asked, error);
    request_sink_release(sink);
    note_failure(sink, done ? 0 : kafka_handle_clock_ms());
    if (!done) {
        request_sink_owner_forget(&asked);
        return false;
    }
    asked.at_ms = kafka_handle_clock_ms();
    pthread_mutex_lock(&sink->lock);
    struct request_sink_owners before = sink->owners;
    sink->owners = asked;
    pthread_mutex_unlock(&sink->lock);
    request_sink_owner_forget(&before);
    return true;
}

bool request_sink_owner(struct request_sink *sink, const char *topic, int32_t partition, int timeout_ms, char *address, size_t size, struct error *error)
{
    bool found = false;
    bool own = false;
    if (!is_fresh(sink) && !refresh(sink, timeout_ms, error)) {
        return false;
    }
    pthread_mutex_lock(&sink->lock);
    for (size_t i = 0; !found && i < sink->owners.count; i++) {
        const struct request_sink_holding *holding = &sink->owners.items[i];
        found = holding->partition == partition && strcmp(holding->topic, topic) == 0;
        if (found) {
            own = holding->own;
            snprintf(address, size, "%s", holding->address);
        }
    }
    pthread_mutex_unlock(&sink->lock);
    if (own) {
        return error_set(error, ERROR_BUSY, "%s/%d is just being given to this instance, or taken from it", topic, (int)partition);
    }
    return found || error_set(error, ERROR_NOT_FOUND, "nobody has %s/%d just now", topic, (int)partition);
}
