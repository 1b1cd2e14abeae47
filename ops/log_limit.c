/* Limits on what is told: see log_limit.h. */
#include "ops/log_limit.h"

#include <inttypes.h>

static struct mono_ms end_of(const struct log_limit *limit)
{
    return (struct mono_ms){limit->began_ms + LOG_LIMIT_PERIOD_MS};
}

static void tell(const struct log_limit *limit)
{
    const char *about = limit->about == NULL ? "" : limit->about;
    const struct log_field fields[] = {LOG_TEXT("suppressed_event", limit->rule->event), LOG_NUMBER("count", limit->left_out), LOG_TEXT("about", about)};
    log_write(limit->rule->level, "suppressed", fields, about[0] == '\0' ? 2 : 3,
              "and %" PRIu64 " more of %s%s%s%s within %d s, which are not told one by one", limit->left_out, limit->rule->event,
              about[0] == '\0' ? "" : " (", about, about[0] == '\0' ? "" : ")", LOG_LIMIT_PERIOD_MS / 1000);
}

static void leave_out(struct log_limits *limits, struct log_limit *limit)
{
    if (limit->left_out == 0) {
        limit->next = limits->first;
        limits->first = limit;
    }
    limit->left_out++;
}

bool log_limit_pass(
    struct log_limits *limits, struct log_limit *limit, const struct log_limit_rule *rule, const char *about, struct mono_ms now)
{
    if (limit->passed > 0 && now.ms >= end_of(limit).ms) {
        log_limit_tell(limits, now);
        limit->passed = 0;
    }
    if (limit->passed == 0) {
        limit->rule = rule;
        limit->about = about;
        limit->began_ms = now.ms;
    }
    if (limit->passed < rule->burst) {
        limit->passed++;
        return true;
    }
    leave_out(limits, limit);
    return false;
}

void log_limit_tell(struct log_limits *limits, struct mono_ms now)
{
    for (struct log_limit **link = &limits->first; *link != NULL;) {
        struct log_limit *limit = *link;
        if (now.ms < end_of(limit).ms) {
            link = &limit->next;
            continue;
        }
        *link = limit->next;
        tell(limit);
        limit->left_out = 0;
    }
}

struct mono_ms log_limit_deadline(const struct log_limits *limits)
{
    struct mono_ms deadline = {TIME_NEVER};
    for (const struct log_limit *limit = limits->first; limit != NULL; limit = limit->next) {
        deadline = end_of(limit).ms < deadline.ms ? end_of(limit) : deadline;
    }
    return deadline;
}
