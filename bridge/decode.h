/*
 * From a record to "what, when, where": control headers (dialect `tarry`) and the JSON envelope.
 *
 * Pure: no clock, no I/O. The due time follows from the record alone (absolute, or its Kafka timestamp plus a
 * delay), so that reading it again gives the same. Rules and their exact words: docs/semantics.md. What does not
 * decode is refused with a reason of a closed set; it is never fired at once and never dropped.
 */
#ifndef TARRY_BRIDGE_DECODE_H
#define TARRY_BRIDGE_DECODE_H

#include <stdbool.h>

#include "bridge/record.h"
#include "bridge/target.h"

enum refusal_reason {
    REFUSAL_NONE,
    REFUSAL_NO_TIME,            /* no header, no envelope field, no default_delay */
    REFUSAL_BAD_TIME,           /* unreadable: text, float, sign, blank, exponent, empty, overflow */
    REFUSAL_AMBIGUOUS,          /* a control header repeated, or two that contradict */
    REFUSAL_TOO_FAR,            /* beyond max_delay */
    REFUSAL_SECONDS,            /* an absolute time below 1e11: seconds where milliseconds are due */
    REFUSAL_NO_TIMESTAMP,       /* a relative delay on a record without timestamp */
    REFUSAL_NO_TARGET,          /* no header, envelope target, route or default */
    REFUSAL_TARGET_NOT_ALLOWED, /* matches no entry of the allow list */
    REFUSAL_BAD_TARGET,         /* not a legal topic name, or a partition that is no number */
    REFUSAL_BAD_ENVELOPE,       /* not strict JSON, too deep, duplicate keys, wrong types */
    REFUSAL_BAD_ID,             /* empty or longer than 4,096 bytes */
    REFUSAL_UNSUPPORTED,        /* a control header that this version does not act on */
    REFUSAL_TOO_LARGE,          /* the record cannot be kept */
    REFUSAL_UNKNOWN_TARGET,     /* at delivery: the topic does not exist after its grace */
    REFUSAL_UNDELIVERABLE,      /* at delivery: the broker will never take this record there */
    REFUSAL_BAD_ROOT,           /* header tarry-root is not one that tarry wrote (R4) */
    REFUSAL_REASONS,            /* count; rows keep the numbers above, so new ones come last */
};

/* The reason's stable name: "no_time", "bad_time", ... a label value and the reason of its dead letter. Never NULL. */
const char *refusal_name(enum refusal_reason reason);

#define REFUSAL_TEXT_MAX 256

/* Raised when the same record and rules come to mean another due time, lane or target: part of the fingerprint (R8). */
#define DECODE_VERSION 1

struct refusal {
    enum refusal_reason reason;
    char text[REFUSAL_TEXT_MAX]; /* for a person: names header, value (printable, cut) and remedy. Valid UTF-8 */
};

struct decode_route {
    const char *type;
    const char *target;
};

/* One source's rules, compiled from the configuration; borrowed strings outlive it. */
struct decode_rules {
    bool dialect_tarry;
    bool envelope;
    bool envelope_whole; /* send the whole envelope out instead of its payload */
    /* Names of the envelope's fields, different from each other. NULL: the default, the word after "field_". */
    const char *field_type;
    const char *field_payload;
    const char *field_delay_ms;
    const char *field_deliver_at;
    const char *field_target;
    const char *field_id;
    const char *field_retry_count; /* not read yet: carried, and nothing depends on it */
    const struct decode_route *routes;
    size_t route_count;
    const char *default_target; /* NULL: none */
    /* Counts from the record's timestamp. An absolute time on a record without one is bounded by the year 9999 only. */
    int64_t max_delay_ms;
    int64_t default_delay_ms;          /* -1: none */
    const struct target_list *targets; /* never NULL */
};

/* What a record asks for. Spans borrow from the record or the rules; an id or target that the envelope wrote with
 * escapes borrows from a buffer of the calling thread, valid until that thread's next decode_record. */
struct decoded {
    int64_t due_ms;
    struct span target; /* topic name */
    lane_index lane;
    int32_t partition; /* -1: let the partitioner choose */
    struct span key;   /* to go out with */
    struct span value; /* to go out with: the record's own, the payload's exact bytes, or the envelope */
    struct span id;    /* tarry-id as given; absent: none */
    int64_t root;      /* of a re-append: offset of the record that a person wrote, below its own (R4). -1: no re-append */
    int64_t root_timestamp_ms; /* of a re-append: the root's, from which its times count. -1: it had none, or no re-append */
};

/* Decodes. True: *decoded is filled. False: *refusal says why, *decoded is untouched. O(size of the record). Any
 * thread. A re-append that says what was decided keeps its due time and target whatever the rules are now (R6), except that a target must be
 * allowed now: anybody can write the header, so it must not open what the allow list shuts. */
bool decode_record(const struct decode_rules *rules,
                   const struct record *record,
                   struct decoded *decoded,
                   struct refusal *refusal);

/* What header tarry-root says. */
struct decode_root {
    int64_t offset;       /* as decoded.root */
    int64_t timestamp_ms; /* as decoded.root_timestamp_ms */
    bool decided;         /* due time and target were decided when the root was read: the three below, else 0, absent, -1 */
    int64_t due_ms;
    struct span target; /* a legal topic name, allowed or not; borrows from the record */
    int32_t partition;  /* -1: let the partitioner choose */
};

/* Reads header tarry-root, whatever the source's dialects: tarry alone writes it. decode_record does this too; it is for records that were refused
 * for something else. False: REFUSAL_BAD_ROOT. Then, and without the header, *root is that of no re-append: both -1, nothing decided.
 * O(headers). Any thread. */
bool decode_root(const struct record *record, struct decode_root *root, struct refusal *refusal);

/* When a re-append or a refused record is to be looked at, whatever was decided of it: header tarry-not-before, which tarry writes on what it writes again because
 * its letter could not be kept (ms; the greatest of more than one). DUE_SINCE_EVER: no such header, or none that reads. O(headers). Any thread. */
int64_t decode_not_before(const struct record *record);

/* True for names that are ours and do not go out: every "tarry-" header and "delay_ms". */
bool decode_is_control_header(struct span name);

/* A hash of everything in the rules that decides due time, lane or target (R8). Stable between runs and machines,
 * independent of the order of routes. Changes when a default or a meaning changes (DECODE_VERSION goes in). */
uint64_t decode_fingerprint(const struct decode_rules *rules);

#endif
