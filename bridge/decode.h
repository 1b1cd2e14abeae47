/*
 * From a record to "what, when, where": control headers (of the dialects that are on, dialect.h) and the JSON envelope.
 *
 * Pure: no clock, no I/O. The due time follows from the record alone (absolute, or its Kafka timestamp plus a
 * delay), so that reading it again gives the same. Rules and their exact words: docs/semantics.md. What does not
 * decode is refused with a reason of a closed set; it is never fired at once and never dropped.
 */
#ifndef TARRY_BRIDGE_DECODE_H
#define TARRY_BRIDGE_DECODE_H

#include <stdbool.h>

#include "bridge/dialect.h"
#include "bridge/record.h"
#include "bridge/target.h"

#define DECODE_ID_MAX 4096          /* bytes of an id */
#define DECODE_CRON_MAX 256         /* bytes of a cron expression */
#define DECODE_ZONE_MAX 64          /* bytes of a zone's name */
#define DECODE_REQUEST_MAX 64       /* bytes of tarry-request */
#define DECODE_EVERY_LEAST_MS 1000  /* of tarry-every */
#define DECODE_COUNT_MOST 1000000000000 /* of tarry-count, and of tarry-runs */

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
    REFUSAL_BAD_SCHEDULE,       /* tarry-cron, -every, -tz or -count is none, or dates that never come */
    REFUSAL_REASONS,            /* count; rows keep the numbers above, so new ones come last */
};

/* The reason's stable name: "no_time", "bad_time", ... a label value and the reason of its dead letter. Never NULL. */
const char *refusal_name(enum refusal_reason reason);

#define REFUSAL_TEXT_MAX 256

/* Raised when the same record and rules come to mean another due time, lane or target: part of the fingerprint (R8). */
#define DECODE_VERSION 2

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
    const struct dialect *const *dialects; /* those that are on, DIALECTS_MAX at most, in any order; they outlive the rules */
    size_t dialect_count;
    const char *topic;   /* the source's, for the offset of spread; NULL: "" */
    int64_t spread_ms;   /* 0: none. First due times are moved by 0 to spread_ms - 1, decode_spread_offset_ms */
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

enum decode_action {
    DECODE_SCHEDULE,
    DECODE_CANCEL, /* only the id counts: whatever of that id stands below in the partition is to end */
};

enum decode_recurrence_kind {
    DECODE_RECURRENCE_NONE,
    DECODE_RECURRENCE_EVERY,
    DECODE_RECURRENCE_CRON,
};

/* What makes an event come again. Texts are bounded and printable; what they mean (a cron expression with dates that come, a zone that exists) is
 * for scheduler/cron.h and zone.h to say, and REFUSAL_BAD_SCHEDULE if they do not. */
struct decoded_recurrence {
    enum decode_recurrence_kind kind;
    int64_t every_ms; /* DECODE_EVERY_LEAST_MS and more; 0 of a cron */
    struct span cron; /* 1 to DECODE_CRON_MAX printable bytes of ASCII; absent of an every */
    struct span zone; /* 1 to DECODE_ZONE_MAX of A-Z a-z 0-9 _ + / -; absent: UTC */
    int64_t until_ms; /* no occurrence after it; -1: none */
    int64_t count;    /* firings at most; 0: no limit */
    int64_t runs;     /* firings done, of a decided re-append (tarry-runs); else 0 */
};

/* What a record asks for. Spans borrow from the record or the rules; an id or target that the envelope wrote with
 * escapes borrows from a buffer of the calling thread, valid until that thread's next decode_record. */
struct decoded {
    enum decode_action action; /* of a CANCEL only id, request, key, value, root and root_timestamp_ms are filled: due 0, target absent, lane 0 */
    int64_t due_ms;            /* of an undecided one what is wanted: DUE_SINCE_EVER of a cron without a first firing */
    struct span target;        /* topic name */
    lane_index lane;
    int32_t partition; /* -1: let the partitioner choose */
    struct span key;   /* to go out with */
    struct span value; /* to go out with: the record's own, the payload's exact bytes, or the envelope */
    struct span id;    /* 1 to DECODE_ID_MAX bytes as given; absent: none */
    struct span request; /* header tarry-request: 1 to DECODE_REQUEST_MAX printable bytes of ASCII by which who wrote the record knows it again; absent: none. A row keeps it
                            among its headers alone (decode_request_valid) */
    int64_t root;      /* of a re-append: offset of the record that a person wrote, below its own (R4). -1: no re-append */
    int64_t root_timestamp_ms; /* of a re-append: the root's, from which its times count. -1: it had none, or no re-append */
    int64_t expires_ms;        /* not to be delivered from then on; -1: whenever */
    struct decoded_recurrence recurrence;
    bool conditional; /* only if its id is not pending, and that is not decided yet (R10); then it has an id */
    bool undecided;   /* conditional, or a cron without a first firing (R10). Never of a re-append that says what was decided */
    bool paused;      /* a re-append that is not looked at until it is moved: its tarry-not-before is TIME_TEXT_LAST_MS */
};

/* Decodes. True: *decoded is filled. False: *refusal says why, *decoded is untouched. O(size of the record); a header of no dialect costs a few
 * nanoseconds. Any thread. A re-append that says what was decided keeps its due time and target whatever the rules are now (R6), except that a target must be
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

/* When a refused record is looked at: as decode_not_before, but of what was paused at once (DUE_SINCE_EVER), as refused it has no id, and nobody could have it
 * go on. O(headers). Any thread. */
int64_t decode_refused_due(const struct record *record);

/* What a header tarry-request may say: 1 to DECODE_REQUEST_MAX bytes of printable ASCII without blanks. O(length). Any thread. */
bool decode_request_valid(struct span value);

/* Header tarry-request of a record that was refused, whatever for: absent when there is none, more than one, none that is valid, when the dialect tarry is off, or when it is a
 * re-append. O(headers). Any thread. */
struct span decode_request(const struct decode_rules *rules, const struct record *record);

/* Firings done when a decided re-append was written: header tarry-runs, tarry's own. 0: none such, or none that reads. The greatest of more than one.
 * O(headers). Any thread. */
int64_t decode_runs(const struct record *record);

/* By how much first due times, and each next occurrence, of that record are moved (rules->spread_ms): 0 to spread_ms - 1, always the same for the same
 * id, or for the same topic, partition and offset when `id` is absent. Offset: of the record that a person wrote. Only rules->topic and spread_ms
 * are read. O(length of id). Any thread. */
int64_t decode_spread_offset_ms(const struct decode_rules *rules, struct span id, int32_t partition, int64_t offset);

/* True for names that are ours, whatever dialects are on, and do not go out: every "tarry-" header and "delay_ms". */
bool decode_is_control_header(struct span name);

/* A hash of everything in the rules that decides due time, lane or target (R8). Stable between runs and machines,
 * independent of the order of routes. Changes when a default or a meaning changes (DECODE_VERSION goes in). */
uint64_t decode_fingerprint(const struct decode_rules *rules);

#endif
