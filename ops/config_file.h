/* Reading small files whole, bounded. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_FILE_H
#define TARRY_OPS_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/span.h"
#include "ops/config_arena.h"

/* Appends the whole file to `bytes`, at most its bound. *open_to_all: anybody on this machine may read it.
 * ERROR_NOT_FOUND, ERROR_SYSTEM (permission, a directory, ...), ERROR_FULL (larger than the bound; no more than that
 * was read). Blocks as files do. */
bool config_file_read(const char *path, struct buffer *bytes, bool *open_to_all, struct error *error);

/* True: there is a file, and anybody on this machine may read it. */
bool config_file_open_to_all(const char *path);

#define CONFIG_FILE_SECRET_MAX (64 * 1024)

/* The text of a file that holds one secret (at most CONFIG_FILE_SECRET_MAX bytes), without line ends at its end, in the
 * arena. Empty or with a NUL: ERROR_INVALID. Errors never show what is in it. */
bool config_file_secret(
    const char *path, struct config_arena *arena, const char **secret, bool *open_to_all, struct error *error);

#endif
