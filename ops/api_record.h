/*
 * From a request's body to the record that is written for it: control headers of the dialect tarry, and what comes out when it is read.
 *
 * Nothing rests on this file's own reading of times or schedules: the record is decoded as intake does it before it is written, and must mean what was asked for.
 */
#ifndef TARRY_OPS_API_RECORD_H
#define TARRY_OPS_API_RECORD_H

#include "ops/api.h"
#include "bridge/decode.h"
#include "bridge/request_sink.h"

#define API_RECORD_HEADERS_MAX 256 /* of a person's own */
#define API_RECORD_CONTROLS_MAX 16

/* Spans borrow from the body's document, or from the record's own bytes. */
struct api_record {
    struct cJSON *document; /* owned; NULL: a cancel */
    uint8_t *bytes;         /* owned: what was base64, or a number */
    size_t used;
    size_t room;
    struct span key;
    struct span value;
    struct record_header *headers; /* owned: a person's own first, then controls */
    size_t header_count;
    size_t own_count;
    bool id_given;  /* null counts */
    struct span id; /* absent: none */
    /* What was asked for, to be compared: */
    bool out_key_given;
    struct span out_key;
    struct span topic;      /* absent: not given */
    int32_t partition;      /* of the target; -1: not given */
    struct span at;         /* text of tarry-at; absent: not given */
    struct span in;         /* text of tarry-delay; absent: not given */
    bool recurring;
    bool conditional;
};

/* Reads the body; `recurring`: with cron or every and what belongs to them. False: the request is answered with 400 (bad_json, unknown_member, bad_body), and there is nothing to free. `source`:
 * the topic that was named, absent: none; it borrows from the record. */
bool api_record_read(struct http_request *request, bool recurring, struct api_record *record, struct span *source);

/* A cancel of this id, with this key (absent: null). The id is borrowed. */
void api_record_cancel(struct span id, struct span key, struct api_record *record);

void api_record_free(struct api_record *record);

/* Adds id (absent: none) and word (header tarry-request), which are borrowed. Once, before the two below. */
void api_record_name(struct api_record *record, struct span id, struct span word);

/* Decodes the record as it will be read in that partition, at about now_ms. False: it would be refused, or would mean something else than was asked for; refusal says why. decoded borrows from
 * the record and the rules. Pure. */
bool api_record_check(const struct api_record *record, const struct decode_rules *rules, int32_t partition, int64_t now_ms, struct decoded *decoded, struct refusal *refusal);

/* As request_sink_send wants it; borrows. */
struct request_sink_record api_record_sent(const struct api_record *record, const char *topic, int32_t partition);

#endif
