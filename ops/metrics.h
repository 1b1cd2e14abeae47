/*
 * Numbers for Prometheus. What exists is one table (metrics_table.c); docs/metrics.md is made from it.
 *
 * Values belong to the owner thread: no locks, and counting is an array access. Labels take values from closed lists:
 * fixed ones of the table, and configured names that are added at start or reload. An id, a key or free text is never a
 * label.
 */
#ifndef TARRY_OPS_METRICS_H
#define TARRY_OPS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* The rows of the table, in its order. */
enum metrics_id {
    METRIC_RECORDS_READ,          /* counter {source} */
    METRIC_RECORDS_REFUSED,       /* counter {source, reason} */
    METRIC_DELIVERED,             /* counter {target} */
    METRIC_DELIVERY_FAILURES,     /* counter {target, failure} */
    METRIC_DELIVERY_RETRIES,      /* counter {target} */
    METRIC_UNDELIVERABLE,         /* counter {target, reason} */
    METRIC_LATENESS_SECONDS,      /* histogram {target} */
    METRIC_DELIVERY_SECONDS,      /* histogram */
    METRIC_PENDING,               /* gauge {source, tier} */
    METRIC_PENDING_BYTES,         /* gauge {source} */
    METRIC_OVERDUE,               /* gauge {target} */
    METRIC_OLDEST_OVERDUE,        /* gauge {target} */
    METRIC_IN_FLIGHT,             /* gauge {target} */
    METRIC_NEXT_DUE,              /* gauge */
    METRIC_LAST_DUE,              /* gauge */
    METRIC_LANES_APART,           /* gauge */
    METRIC_LANES_BEHIND,          /* gauge */
    METRIC_COMMITS,               /* counter {result} */
    METRIC_TRANSACTIONS,          /* counter {result} */
    METRIC_TRANSACTION_SECONDS,   /* histogram */
    METRIC_REAPPENDED,            /* counter {why} */
    METRIC_CANCELLED,             /* counter {source} */
    METRIC_REPLACED,              /* counter {source} */
    METRIC_REJECTED,              /* counter {source, reason} */
    METRIC_TOO_LATE,              /* counter {action} */
    METRIC_NOT_FOUND,             /* counter {source} */
    METRIC_SKIPPED,               /* counter {source, why} */
    METRIC_DROPPED_LATE,          /* counter {source} */
    METRIC_STEERED,               /* counter {result} */
    METRIC_LANES_PAUSED,          /* gauge {target} */
    METRIC_DEDUPE_IDS,            /* gauge {source} */
    METRIC_DEDUPE_FORGOTTEN,      /* counter, set */
    METRIC_HISTORY,               /* counter, set */
    METRIC_HISTORY_DROPPED,       /* counter, set */
    METRIC_LETTERS,               /* counter {target, reason} */
    METRIC_LETTER_FAILURES,       /* counter {result} */
    METRIC_DEAD_LETTERS,          /* gauge {state} */
    METRIC_DEAD_LETTERS_BYTES,    /* gauge */
    METRIC_OLDEST_DEAD_LETTER,    /* gauge {state} */
    METRIC_REDELIVERIES,          /* counter {result} */
    METRIC_PARKED,                /* counter */
    METRIC_NACKS,                 /* counter {result} */
    METRIC_CHECKPOINT_SECONDS,    /* histogram */
    METRIC_CHECKPOINT_AGE,        /* gauge */
    METRIC_STORE_USED_BYTES,      /* gauge */
    METRIC_STORE_MAX_BYTES,       /* gauge */
    METRIC_STORE_FULL,            /* gauge */
    METRIC_INTAKE_LAG,            /* gauge {source} */
    METRIC_LOG_SPAN,              /* gauge {source} */
    METRIC_RETENTION,             /* gauge {source} */
    METRIC_RETENTION_HEADROOM,    /* gauge {source} */
    METRIC_IDENTITY_MISMATCH,     /* gauge {source} */
    METRIC_CONNECTION_UP,         /* gauge {system} */
    METRIC_CLOCK_STEPS,           /* counter {direction} */
    METRIC_CLOCK_SYNCHRONISED,    /* gauge */
    METRIC_CLOCK_OFFSET,          /* gauge, may be negative */
    METRIC_CLOCK_MAX_ERROR,       /* gauge */
    METRIC_TURNS,                 /* counter */
    METRIC_LAST_TURN,             /* gauge */
    METRIC_HTTP_REQUESTS,         /* counter {method, status} */
    METRIC_BUILD_INFO,            /* gauge {version} */
    METRIC_PROCESS_CPU_SECONDS,   /* counter, set */
    METRIC_PROCESS_OPEN_FDS,      /* gauge */
    METRIC_PROCESS_MAX_FDS,       /* gauge */
    METRIC_PROCESS_VIRTUAL,       /* gauge */
    METRIC_PROCESS_RESIDENT,      /* gauge */
    METRIC_PROCESS_RESIDENT_ANON, /* gauge */
    METRIC_PROCESS_RESIDENT_FILE, /* gauge */
    METRIC_PROCESS_START_TIME,    /* gauge */
    METRIC_PROCESS_THREADS,       /* gauge */
    METRIC_ALIAS_PENDING,         /* gauge; this and those below are metrics_aliases.c's */
    METRIC_ALIAS_LATENCY,         /* histogram */
    METRIC_ALIAS_EXECUTIONS,      /* counter {status} */
    METRIC_ALIAS_DURATION,        /* histogram */
    METRIC_ALIAS_RUNNING,         /* gauge */
    METRIC_COUNT,
};

/* A label's list of values. */
enum metrics_label {
    METRICS_LABEL_NONE,
    METRICS_LABEL_SOURCE,    /* input topics, added from the configuration */
    METRICS_LABEL_TARGET,    /* lane names, added from the configuration */
    METRICS_LABEL_REASON,    /* reasons of dead letters, added at start in the order of enum letter_reason */
    METRICS_LABEL_FAILURE,   /* classes of failed delivery attempts, added by name at start; shown as "reason" */
    METRICS_LABEL_TIER,      /* fixed: enum metrics_tier */
    METRICS_LABEL_RESULT,    /* fixed: enum metrics_result */
    METRICS_LABEL_WHY,       /* fixed: enum metrics_why */
    METRICS_LABEL_REJECTION, /* fixed: enum metrics_rejection; shown as "reason" */
    METRICS_LABEL_ACTION,    /* fixed: enum metrics_action */
    METRICS_LABEL_SKIP,      /* fixed: enum metrics_skip; shown as "why" */
    METRICS_LABEL_STEER,     /* fixed: enum steering_result; shown as "result" */
    METRICS_LABEL_LETTER,    /* fixed: enum metrics_letter; shown as "result" */
    METRICS_LABEL_STATE,     /* fixed: enum metrics_state */
    METRICS_LABEL_REDELIVERY, /* fixed: enum metrics_redelivery; shown as "result" */
    METRICS_LABEL_DIRECTION, /* fixed: enum metrics_direction */
    METRICS_LABEL_SYSTEM,    /* fixed: enum metrics_system */
    METRICS_LABEL_METHOD,    /* fixed: enum metrics_method */
    METRICS_LABEL_STATUS,    /* fixed: enum metrics_status */
    METRICS_LABEL_VERSION,   /* fixed: this version */
    METRICS_LABEL_EXECUTION, /* fixed: enum metrics_execution; shown as "status" */
    METRICS_LABELS,
};

enum metrics_tier { METRICS_TIER_MEMORY, METRICS_TIER_DISK };
enum metrics_result { METRICS_RESULT_OK, METRICS_RESULT_FAILED };
enum metrics_why { METRICS_WHY_COPY, METRICS_WHY_LETTER, METRICS_WHY_NEXT, METRICS_WHY_DECIDED, METRICS_WHY_MOVED, METRICS_WHY_PAUSED };
enum metrics_rejection { METRICS_REJECTION_EXISTS, METRICS_REJECTION_DUPLICATE, METRICS_REJECTION_DROPPED };
enum metrics_action { METRICS_ACTION_CANCEL, METRICS_ACTION_REPLACE };
enum metrics_skip { METRICS_SKIP_MISFIRE, METRICS_SKIP_ENDED };
enum metrics_letter { METRICS_LETTER_FULL, METRICS_LETTER_UNAVAILABLE, METRICS_LETTER_REFUSED };
enum metrics_state { METRICS_STATE_WAITING, METRICS_STATE_PARKED };
enum metrics_redelivery {
    METRICS_REDELIVERY_DELIVERED,
    METRICS_REDELIVERY_RETRIED,
    METRICS_REDELIVERY_FAILED,
    METRICS_REDELIVERY_POSTPONED,
};
enum metrics_direction { METRICS_DIRECTION_BACK, METRICS_DIRECTION_FORWARD };
enum metrics_system { METRICS_SYSTEM_KAFKA, METRICS_SYSTEM_NATS };
enum metrics_execution { METRICS_EXECUTION_SUCCESS, METRICS_EXECUTION_FAILURE };
enum metrics_method {
    METRICS_METHOD_GET,
    METRICS_METHOD_HEAD,
    METRICS_METHOD_POST,
    METRICS_METHOD_PUT,
    METRICS_METHOD_DELETE,
    METRICS_METHOD_OPTIONS,
    METRICS_METHOD_OTHER,
    METRICS_METHODS,
};
enum metrics_status { /* those that ops/http*.c and ops/api*.c answer with */
                      METRICS_STATUS_200,
                      METRICS_STATUS_201,
                      METRICS_STATUS_202,
                      METRICS_STATUS_400,
                      METRICS_STATUS_401,
                      METRICS_STATUS_403,
                      METRICS_STATUS_404,
                      METRICS_STATUS_405,
                      METRICS_STATUS_409,
                      METRICS_STATUS_413,
                      METRICS_STATUS_415,
                      METRICS_STATUS_421,
                      METRICS_STATUS_422,
                      METRICS_STATUS_500,
                      METRICS_STATUS_502,
                      METRICS_STATUS_503,
                      METRICS_STATUS_504,
                      METRICS_STATUSES,
};

#define METRICS_LABEL_VALUES_MAX 4096

struct metrics;

/* All counters 0, all gauges absent (an absent gauge is not exposed: better than a false 0). Never NULL. */
struct metrics *metrics_new(void);

/* NULL is fine. */
void metrics_free(struct metrics *metrics);

/* The index of `value` in the label's list; added (copied) when new. Values counted so far are kept. Beyond
 * METRICS_LABEL_VALUES_MAX the index of the last value is returned. Any bytes: what is not UTF-8 is replaced at
 * exposition. Costs O(values): for start and reload. */
size_t metrics_label_add(struct metrics *metrics, enum metrics_label label, const char *value);

/* Number of values of a label; indexes are below it. 1 for METRICS_LABEL_NONE. */
size_t metrics_label_count(const struct metrics *metrics, enum metrics_label label);

/* In all below: `first` and `second` are indexes of the metric's labels in their order, 0 where it has none. An index
 * out of range is a mistake of ours and trips an assertion. O(1). */

/* Adds to a counter. */
void metrics_add(struct metrics *metrics, enum metrics_id id, size_t first, size_t second, uint64_t amount);

/* Sets a gauge; NaN makes it absent. Below 0 it becomes 0, unless the table says that it may be negative. */
void metrics_set(struct metrics *metrics, enum metrics_id id, size_t first, size_t second, double value);

/* Makes a gauge absent: there is no such value now (nothing is pending, so nothing is next). */
void metrics_unset(struct metrics *metrics, enum metrics_id id, size_t first, size_t second);

/* Sets a counter to a total kept elsewhere, which never goes back. */
void metrics_set_total(struct metrics *metrics, enum metrics_id id, size_t first, size_t second, double total);

/* Counts one observation in a histogram. Negative ones count as 0. */
void metrics_observe(struct metrics *metrics, enum metrics_id id, size_t first, size_t second, double seconds);

/* A counter's or gauge's value; a histogram's count. For tests and the health document. NaN: an absent gauge. */
double metrics_value(const struct metrics *metrics, enum metrics_id id, size_t first, size_t second);

/* From now on the aliases are exposed, too (metrics.aliases). */
void metrics_aliases_show(struct metrics *metrics);

/* Makes the aliases of what they stand for, as it is now; nothing while they are not shown. O(series). */
void metrics_aliases_update(struct metrics *metrics);

/* Of a histogram, all its series together: the upper bound, in seconds, of the bucket in which this part (0 to 1) of what was observed lies. INFINITY: beyond the last bound.
 * NaN: nothing was observed. O(series). */
double metrics_quantile(const struct metrics *metrics, enum metrics_id id, double part);

/* Reads process_* from /proc. What cannot be read is absent. Some system calls: once for each exposition. */
void metrics_process_update(struct metrics *metrics);

/* Adds the text exposition format 0.0.4 of everything. */
void metrics_render_text(const struct metrics *metrics, struct buffer *buffer);

#define METRICS_RENDER_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Adds the table as docs/metrics.md. */
void metrics_render_docs(struct buffer *buffer);

#endif
