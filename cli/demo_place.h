/* The demo's private folder: configuration, store and log of the tarry it starts, and what its nats-server keeps. */
#ifndef TARRY_CLI_DEMO_PLACE_H
#define TARRY_CLI_DEMO_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/demo_broker.h"

#define DEMO_PLACE_PATH_MAX 512

/* In the configuration, for invoices: so often redelivered, after so long, then after twice that. */
#define DEMO_PLACE_REDELIVERIES 2
#define DEMO_PLACE_BACKOFF_MS 1000

struct demo_place {
    char folder[DEMO_PLACE_PATH_MAX]; /* "": none */
    char config[DEMO_PLACE_PATH_MAX + 16];
    char log[DEMO_PLACE_PATH_MAX + 16];
    char nats_log[DEMO_PLACE_PATH_MAX + 16];
};

/* Makes a folder of mode 0700 in $TMPDIR, else /tmp. ERROR_SYSTEM, ERROR_INVALID: no folder is left. */
bool demo_place_open(struct demo_place *place, struct error *error);

/* Writes tarry.yaml for this broker and this NATS (its URL; NULL: none), listening on 127.0.0.1:port. ERROR_SYSTEM. */
bool demo_place_write_config(const struct demo_place *place,
                             const struct demo_broker *broker,
                             const char *nats,
                             uint16_t port,
                             struct error *error);

/* Copies the last few kilobytes of a file, control characters made visible, each line behind `indent`. Nothing when it cannot be
 * read. */
void demo_place_show(const char *path, const char *indent, FILE *file);

/* The ends of the logs that are there, each with a heading. */
void demo_place_show_logs(const struct demo_place *place, FILE *file);

/* Removes the folder with all that is in it. False: ERROR_SYSTEM. Without a folder there is nothing to do. */
bool demo_place_remove(struct demo_place *place, struct error *error);

#endif
