/*
 * Dialects: which headers ask for what, as data. One table for tarry's own names and for those of other schedulers and brokers, so that a
 * producer that spoke to them need not change; a user writes one of his own in the same form.
 *
 * A dialect maps the name of a header to a field and the form that its value has. Values are not read here (bridge/due.h, bridge/decode.h).
 */
#ifndef TARRY_BRIDGE_DIALECT_H
#define TARRY_BRIDGE_DIALECT_H

#include "base/span.h"

#define DIALECT_HEADER_MAX 249 /* bytes of a header's name in a dialect of a user's own */
#define DIALECT_ENTRIES_MAX 64 /* of such a dialect */
#define DIALECTS_MAX 16        /* that are on for one source */

/* Fingerprints hold the numbers (R8): new fields come last. */
enum dialect_field {
    DIALECT_DELAY,     /* when, counted from the record's timestamp */
    DIALECT_AT,        /* when */
    DIALECT_TOPIC,     /* where to */
    DIALECT_KEY,       /* the key to go out with */
    DIALECT_PARTITION, /* of the target */
    DIALECT_ID,
    DIALECT_ACTION,
    DIALECT_IF_EXISTS,
    DIALECT_EXPIRES, /* not after */
    DIALECT_CRON,
    DIALECT_EVERY,
    DIALECT_TZ,
    DIALECT_UNTIL,
    DIALECT_COUNT,
    DIALECT_REQUEST,   /* who wrote it: known by that when it is read */
    DIALECT_FIELDS,       /* count of those above, which say something */
    DIALECT_CARRIED = 64, /* belongs to the dialect and says nothing that counts here: it does not go out */
    DIALECT_REFUSED = 65, /* says something that tarry cannot do: the record is refused, with the entry's remedy */
};

/* How a value is written. As above. */
enum dialect_form {
    DIALECT_FORM_OWN,       /* as tarry's: a delay with units or bare ms, a time as RFC 3339 or ms, schedule | cancel, texts as they are */
    DIALECT_FORM_MS,        /* whole milliseconds alone */
    DIALECT_FORM_S,         /* whole seconds alone */
    DIALECT_FORM_TOMBSTONE, /* of an action: schedule | cancel, or tombstone, which cancels too */
};

struct dialect_entry {
    const char *header; /* its whole name; case counts */
    enum dialect_field field;
    enum dialect_form form;
    const char *remedy; /* of DIALECT_REFUSED: what to write instead. Else NULL */
    size_t length;      /* of the name; 0: to be counted */
};

/* Borrowed texts outlive it. Immutable once records are decoded by it. */
struct dialect {
    const char *name;
    const struct dialect_entry *entries;
    size_t count;
    uint64_t lengths;    /* a bit for each length (63: and above) that a header's name has: dialect_index. 0: not known, all are looked at */
    uint64_t firsts;     /* a bit for each first byte (its lower six bits) of a header's name or the prefix. 0: as above */
    const char *prefix;  /* names that begin so are the dialect's, and refused where no entry knows them. NULL: none; the entries are all */
    size_t bare;         /* of a dialect with a prefix: how many entries, the first ones, do not begin with it */
    bool id_from_key;    /* a record of this dialect is known by its key, if no header gives an id */
    bool null_is_cancel; /* a record of this dialect without a value cancels, if no header gives an action */
};

/* A record is of a dialect that is on when it has a header with a field of it; one without any such header is of each of them. */

/* The presets, indexed: "tarry", "etf1", "karafka", "rabbitmq", "rocketmq", "activemq". NULL: there is no such one. Any thread. */
const struct dialect *dialect_preset(struct span name);

/* The set of tarry's own dialect alone, as decode_rules.dialects wants it. */
extern const struct dialect *const dialect_tarry_alone[1];

/* Their names in the table's order, for messages; NULL beyond the last one. */
const char *dialect_preset_name(size_t index);

/* Fills dialect->lengths and firsts from its entries: headers that cannot be meant are then passed over at once. O(entries). */
void dialect_index(struct dialect *dialect);

/* What a user's dialect writes beside a header: delay delay_ms delay_s at at_ms at_s topic key partition id action expires expires_ms expires_s (`expire`
 * is the same as `expires`) cron every every_ms every_s tz until until_ms until_s count if_exists ignore. Fills field, form and remedy of *entry; the
 * header is the caller's. False: no such meaning; *entry is untouched. Any thread. */
bool dialect_meaning(struct span text, struct dialect_entry *entry);

/* All those words, the one at `index`; NULL beyond the last one. For messages, completion and the schema. */
const char *dialect_meaning_name(size_t index);

/* False: no header of the dialect, and no name of its prefix, begins like this one. A nanosecond. Any thread. */
static inline bool dialect_may_know(const struct dialect *dialect, struct span header)
{
    return header.length > 0 && (dialect->firsts == 0 || (dialect->firsts >> (header.data[0] & 63) & 1U) != 0);
}

/* The dialect's entry of that header. NULL: none. O(entries), a nanosecond for a name of a first byte or length that no entry has. Any thread. */
const struct dialect_entry *dialect_find(const struct dialect *dialect, struct span header);

/* True for a name that begins with the dialect's prefix. Any thread. */
bool dialect_prefixed(const struct dialect *dialect, struct span header);

/* True for a control header: of a dialect among `dialects` (NULL: none), or one of tarry's own names, whose dialect need not be on.
 * Such headers do not go out. O(dialects). Any thread. */
bool dialect_owned(const struct dialect *const *dialects, size_t dialect_count, struct span header);

#endif
