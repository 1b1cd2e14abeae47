/*
 * What the parts say of themselves, as the documents of /readyz and /health. Pure: no clock, no I/O.
 *
 * Liveness is not here: it says that the process works, never that a broker does.
 */
#ifndef TARRY_OPS_HEALTH_H
#define TARRY_OPS_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/time_types.h"

enum health_status {
    HEALTH_UP,
    HEALTH_DOWN,
    HEALTH_OUT_OF_SERVICE, /* on purpose: loading, stopping, paused */
    HEALTH_UNKNOWN,        /* not tried yet */
};

struct health_detail {
    const char *name;
    const char *text; /* NULL: the number counts */
    double number;
};

/* One part. All texts are borrowed for the call, and hold no secret. */
struct health_component {
    const char *name; /* "kafka", "store", "intake" */
    enum health_status status;
    bool required;       /* not ready unless it is UP */
    const char *code;    /* stable, for machines: "kafka_unreachable"; NULL when UP */
    const char *message; /* for a person, with the remedy; NULL when UP */
    const struct health_detail *details;
    size_t detail_count;
};

struct health {
    const struct health_component *components;
    size_t component_count;
    struct wall_ms now;
};

/* True when every required component is UP. */
bool health_ready(const struct health *health);

/* Adds {"status":"ready"|"not_ready","reasons":[{"component","code","message"}]}. The answer's status is 200 when
 * health_ready, else 503. */
void health_readiness_json(const struct health *health, struct buffer *buffer);

/* Adds {"status":"UP"|"DOWN"|"OUT_OF_SERVICE"|"UNKNOWN","components":{name:{"status","details":{...}}},"timestamp"}.
 * The status is the worst of the required components; 200 when UP, else 503. */
void health_json(const struct health *health, struct buffer *buffer);

#endif
