/*
 * The ledger of an end-to-end test: what went in against what came out.
 *
 * Every record sent is entered with its due time; every record received is looked up by its tarry-source header and
 * compared: target, bytes, headers, identity, never early, in order. It decides by itself what an output has to look
 * like, and shares no code with tarry.
 */
#ifndef TARRY_TESTS_SUPPORT_LEDGER_H
#define TARRY_TESTS_SUPPORT_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/record.h"

struct ledger;

struct ledger_sent {
    const char *topic;
    int32_t partition;
    int64_t offset;
    int64_t due_ms;
    const char *target; /* topic in which it has to come out */
    const char *lane;   /* any text: order is checked within one lane of one input partition */
    bool ordered;       /* read long enough before it comes due that its place is fixed */
    struct span key;    /* as they have to come out */
    struct span value;
    struct span id;                      /* absent: topic/partition/offset */
    const struct record_header *headers; /* as sent; the ledger leaves out what is tarry's */
    size_t header_count;
};

enum ledger_violation {
    LEDGER_MISSING,  /* never came out */
    LEDGER_REPEATED, /* came out more than once */
    LEDGER_EARLY,    /* timestamp of the output (its topic must have LogAppendTime) before the due time */
    LEDGER_ORDER,    /* first outputs of a lane not in order of (due, offset) */
    LEDGER_BYTES,    /* key or value differ, or null and empty are confused */
    LEDGER_HEADERS,  /* the record's own headers differ in number, order, name or value */
    LEDGER_IDENTITY, /* tarry-id, tarry-due or tarry-source wrong, missing or repeated */
    LEDGER_TARGET,   /* came out in another topic */
    LEDGER_UNKNOWN,  /* nothing of that source was sent */
    LEDGER_KINDS,
};

struct ledger *ledger_new(void);
void ledger_free(struct ledger *ledger);

/* Enters a record; everything is copied or digested. Returns its number. An offset of -1 is not known yet: until ledger_place the record is
 * looked for in vain. */
size_t ledger_send(struct ledger *ledger, const struct ledger_sent *sent);
void ledger_place(struct ledger *ledger, size_t number, int64_t offset);

/* Compares an output. Call it in the order of the output partition. */
void ledger_receive(struct ledger *ledger, const char *topic, int32_t partition, const struct record *record);

size_t ledger_sent_count(const struct ledger *ledger);

/* Records that came out at least once. */
size_t ledger_received_count(const struct ledger *ledger);

/* Outputs beyond the first of each. */
size_t ledger_repeat_count(const struct ledger *ledger);

/* Greatest and mean of (timestamp of the first output - due), in ms. */
int64_t ledger_lateness_max_ms(const struct ledger *ledger);
double ledger_lateness_mean_ms(const struct ledger *ledger);

/* How many violations of this kind so far. LEDGER_MISSING is as of now. */
size_t ledger_violations(const struct ledger *ledger, enum ledger_violation kind);

/* Walks all entries sent from a partition; `received` is the number of outputs so far. */
typedef void ledger_each_fn(const char *lane, int64_t offset, int64_t due_ms, size_t received, void *context);
void ledger_each(
    const struct ledger *ledger, const char *topic, int32_t partition, ledger_each_fn *each, void *context);

/* Fails the running cmocka test, with the first violations of each kind, unless every record came out in the right way;
 * repeats: the same record more than once is allowed (each repeat is still compared whole). */
void ledger_assert(const struct ledger *ledger, bool repeats);

#endif
