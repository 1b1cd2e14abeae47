/*
 * The HTTP API behind /api/v1: what its handlers share. Files api_*.c are the handlers and what they need; http_*.c carry requests to them and
 * answers back, and know nothing of what they mean.
 *
 * Threads: workers take requests from the mailbox of their kind, one at a time each, and may wait: for the owner (api_ask), for Kafka, for JetStream, for the
 * disk. So a slow broker costs a worker of its kind, never the owner or the HTTP thread.
 *
 * JSON shapes, codes and examples: docs/openapi.yaml.
 */
#ifndef TARRY_OPS_API_H
#define TARRY_OPS_API_H

#include "base/error.h"
#include "base/time_types.h"
#include "ops/config.h"
#include "ops/http_request.h"
#include "ops/mailbox.h"
#include "ops/steering.h"

#define API_WAITING_MAX 64          /* requests that wait for a worker of one kind: more are refused with 503 */
#define API_OWNER_WAIT_MS 5000      /* for the owner's answer to an api_ask */
#define API_READ_WAIT_MS 30000      /* a list may have much to look through */
#define API_WRITE_WAIT_MS 15000     /* for Kafka, and then for the owner to have read what was written */
#define API_SLICE_MS 100            /* whoever waits looks at api_stopping so often */

/* Kinds of workers: a broker that does not answer holds up those of its kind only. */
enum api_kind {
    API_READERS, /* 2: checkpoint and owner */
    API_WRITERS, /* 2: Kafka and owner */
    API_LETTERS, /* 1: JetStream */
    API_KINDS,
};

struct api_audit;
struct api_idempotency;
struct api_letters;
struct api_pool;
struct decode_rules;
struct event_feed;
struct request_sink;
struct store;

struct api_source {
    const char *topic;
    const struct decode_rules *rules; /* as at the start; never changed */
    bool dialect_tarry;               /* without it nothing can be written by the API */
};

/* Filled by api_open (api_open.c), before the HTTP server starts; read-only afterwards but for what has locks of its own. Its texts are its own, a reload changes none of them. What
 * a reload may change (limits of targets, the token) only the owner knows. */
struct api {
    struct mailbox *owner;           /* daemon->mailbox: for api_ask */
    struct mailbox *work[API_KINDS]; /* requests for workers */
    struct api_pool *pool;
    struct steering *steering;
    struct event_feed *feed;
    struct request_sink *sink;
    struct api_idempotency *idempotency;
    struct api_audit *audit;
    struct api_letters *letters;     /* the connection to JetStream: api_letters_link.h */
    struct store *store;             /* for store_browse_open alone */
    struct api_source *sources;
    size_t source_count;
    enum config_payloads payloads;
};

/* True when the daemon ends: who waits stops waiting, with an answer that says what is known. Any thread; one atomic load. */
bool api_stopping(const struct api *api);

/* Starts the workers. ERROR_SYSTEM. */
bool api_pool_start(struct api *api, struct error *error);

/* No more is taken (503 `stopping`); waits until the running handlers have ended: all their waits look at api_stopping, so some 100 ms, and for the disk. Owner thread, after mailbox_close(api->owner)
 * and after steering was closed, before steering, sink, feed and store are freed. */
void api_pool_stop(struct api *api);

/*
 * Has `run` executed in the owner thread with `question`, and waits for it: until `deadline`, and API_OWNER_WAIT_MS at most. Worker threads. The question is a heap object that begins with a
 * struct owner_call whose `run` is set. True: it was run, and is the caller's again: free it. False: ERROR_UNAVAILABLE (the daemon ends or does not answer; the
 * question is freed with question_free by whoever has it last: do not touch it).
 */
bool api_ask(struct api *api, void *question, mailbox_free_fn *question_free, struct mono_ms deadline, struct error *error);

/* ---- answers (api_answer.c) ---- */

struct cJSON;

/* The document is the answer, with this status; freed. */
void api_answer_json(struct http_request *request, unsigned status, struct cJSON *document);

/* A problem (RFC 9457): status, `code` (stable, in docs/http.md), `title`, and `detail` made from the format: words that name the key, the value and the remedy. What was set
 * before is replaced. */
void api_answer_problem(struct http_request *request, unsigned status, const char *code, const char *title, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same, with further members: the document is one of members to be added ("owner", "reason", ...); freed. */
void api_answer_problem_with(struct http_request *request, unsigned status, const char *code, const char *title, const char *detail, struct cJSON *members);

/* Adds a text or, if it is no UTF-8, its base64, with "<name>_encoding": "base64". Absent: null. */
void api_answer_add_bytes(struct cJSON *object, const char *name, struct span bytes);

/* Adds "name": RFC 3339 with ms and Z, and "name_ms": the number. TIME_NEVER or out of the years 0001 to 9999: null for the text. */
void api_answer_add_time(struct cJSON *object, const char *name, int64_t at_ms);

/* ---- parameters (api_parameter.c): each answers the request with 400 `bad_parameter`, naming parameter, value and what is expected, and returns false, when it is wrong ---- */

/* A whole number within least to most; `otherwise` when it was not given. */
bool api_parameter_number(struct http_request *request, const char *name, int64_t least, int64_t most, int64_t otherwise, int64_t *value);

/* A time: RFC 3339 with zone, epoch ms, `now`, or a duration (`10m`: from now, `-10m`: before) relative to now_ms. *given false: it was not. */
bool api_parameter_time(struct http_request *request, const char *name, int64_t now_ms, bool *given, int64_t *value);

/* One of `choices` (NULL-ended); *index -1: not given. */
bool api_parameter_choice(struct http_request *request, const char *name, const char *const *choices, int *index);

/* Refuses parameters that are none of `known` (NULL-ended), with a near name. */
bool api_parameter_known(struct http_request *request, const char *const *known);

/* The body as a JSON object of known members (NULL-ended list), nothing repeated, nothing behind it. NULL: answered with 400 `bad_json` (byte named) or `unknown_member`. Free with cJSON_Delete. */
struct cJSON *api_parameter_body(struct http_request *request, const char *const *known);

/* ---- handlers, for the table in http_route.c ---- */

/* api_list.c, api_get.c, api_stats.c, api_forecast.c, api_targets.c */
void api_list_messages(struct http_request *request, struct api *api);
void api_list_schedules(struct http_request *request, struct api *api);
void api_get_message(struct http_request *request, struct api *api);
void api_get_schedule(struct http_request *request, struct api *api);
void api_stats(struct http_request *request, const struct http_owner_view *view);
void api_forecast(struct http_request *request, const struct http_owner_view *view);
void api_targets_list(struct http_request *request, const struct http_owner_view *view);

/* api_schedule.c, api_cancel.c, api_steer.c, api_audit.c */
void api_schedule_message(struct http_request *request, struct api *api);
void api_schedule_recurring(struct http_request *request, struct api *api);
void api_cancel(struct http_request *request, struct api *api);
void api_steer_run_now(struct http_request *request, struct api *api);
void api_steer_reschedule(struct http_request *request, struct api *api);
void api_steer_pause(struct http_request *request, struct api *api);
void api_steer_resume(struct http_request *request, struct api *api);
void api_steer_target_pause(struct http_request *request, struct api *api);
void api_steer_target_resume(struct http_request *request, struct api *api);
void api_audit_list(struct http_request *request, struct api *api);

/* api_letters.c, api_jobs.c: dead letters and replay jobs, over a connection of their own to JetStream */
void api_letters_list(struct http_request *request, struct api *api);
void api_letters_get(struct http_request *request, struct api *api);
void api_letters_reasons(struct http_request *request, struct api *api);
void api_jobs_list(struct http_request *request, struct api *api);
void api_jobs_pause(struct http_request *request, struct api *api);
void api_jobs_cancel(struct http_request *request, struct api *api);

/* api_openapi.c: docs/openapi.yaml, as built in */
void api_openapi(struct http_request *request, const struct http_owner_view *view);

#endif
