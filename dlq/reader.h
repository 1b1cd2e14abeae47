/*
 * Reading a stream without changing it: in order, by sequence, and taking out what is done.
 *
 * Reading uses no durable consumer: no consumer's state can be spent, lost or reset, looking changes nothing, and what is left over after a kill expires on the server.
 * What stands in the stream is what there is to do. One thread at a time.
 */
#ifndef TARRY_DLQ_READER_H
#define TARRY_DLQ_READER_H

#include "base/buffer.h"
#include "dlq/letter.h"
#include "dlq/link.h"
#include "dlq/streams.h"

struct reader;

struct reader_message {
    uint64_t sequence;
    int64_t stored_ms;
    const char *subject;    /* borrowed until the next call */
    struct span bytes;      /* body; borrowed until the next call */
    const void *handle;     /* room-internal: NATS headers of a nack (nack_stream.h) */
};

/* Opens at the first message of sequence >= from, of subjects matching `filter` (NULL: all). ERROR_NOT_FOUND: no such stream; ERROR_UNAVAILABLE. */
bool reader_open(struct link *link, const char *stream, const char *filter, uint64_t from, struct reader **reader, struct error *error);

/* The same from the first message that was stored in the second of since_ms or later, by the server's clock. */
bool reader_open_since(struct link *link, const char *stream, const char *filter, int64_t since_ms, struct reader **reader, struct error *error);

enum reader_result {
    READER_MESSAGE,
    READER_NOTHING, /* see the calls */
    READER_FAILED,  /* link or stream gone, or a gap that cannot be read over: close, and open again at the sequence behind the last message */
};

/* The next message. NOTHING: the end for now. The server said that there was none more, having waited for one for about timeout_ms (0: not at all); that
 * answer is waited for, some seconds longer if need be, and FAILED if it does not come. A lost or deleted server-side state is noticed (an answer
 * that is due, gaps in the consumer's sequence) and never skips a message silently. Messages removed meanwhile are simply not there. */
enum reader_result reader_next(struct reader *reader, int64_t timeout_ms, struct reader_message *message, struct error *error);

/* The same for who has other things to do: never waits longer than timeout_ms. NOTHING: none came in this time, which says nothing about the end. */
enum reader_result reader_poll(struct reader *reader, int64_t timeout_ms, struct reader_message *message, struct error *error);

/* One step of reader_next with timeout 0, for who looks at something else in between: waits wait_ms at most for what the server sends. NOTHING: *ended says whether the end for now was
 * found; if not, step again. */
enum reader_result reader_step(struct reader *reader, int64_t wait_ms, struct reader_message *message, bool *ended, struct error *error);

/* NULL is allowed. */
void reader_close(struct reader *reader);

/* One message by sequence, copied into `bytes` (cleared first). ERROR_NOT_FOUND: it was removed. */
bool reader_get(struct link *link, const char *stream, uint64_t sequence, int64_t timeout_ms, struct buffer *bytes, struct error *error);

/* The same whole, with subject and headers (of a nack): reader_one_message is valid until reader_one_free. Same errors. */
struct reader_one;
bool reader_take(struct link *link, const char *stream, uint64_t sequence, int64_t timeout_ms, struct reader_one **one, struct error *error);
const struct reader_message *reader_one_message(const struct reader_one *one);
void reader_one_free(struct reader_one *one); /* NULL is allowed */

/* Loads what stands apart: fills letter->record, which borrows from `room`. With parts 0 it does nothing. ERROR_NOT_FOUND, ERROR_CORRUPT, ERROR_UNAVAILABLE. */
bool reader_load(struct link *link, const struct streams_options *options, struct letter *letter, struct buffer *room, struct error *error);

/* A stream as it was looked at: one that was deleted and made again gives the same sequences to other letters, which must not go in their place. */
struct reader_stream {
    const char *name;
    int64_t created_ms; /* streams_state's; what is removed is removed only while it is still this one (asked for just before) */
};

/* Removes messages, pipelined; gone[i]: it is there no more (also when it was not before). False: some could not be answered for (error: the first), or none was
 * removed, as it is another stream now (ERROR_UNAVAILABLE). */
bool reader_remove(struct link *link, const struct reader_stream *stream, const uint64_t *sequences, size_t count, int64_t timeout_ms, bool *gone, struct error *error);

/* Removes all messages of a smaller sequence than `before` whose subject matches `filter`, in one request: for a caller that knows each of them to be done with.
 * Much cheaper than reader_remove. ERROR_NOT_FOUND: no such stream; ERROR_UNAVAILABLE: not known whether they are gone, or another stream now. */
bool reader_remove_before(struct link *link, const struct reader_stream *stream, const char *filter, uint64_t before, int64_t timeout_ms, struct error *error);

#endif
