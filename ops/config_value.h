/*
 * Texts of a configuration made into values: exact, overflow-checked, nothing guessed.
 *
 * Each returns false and leaves *result alone when the text is not of its form; the error (may be NULL) then says what
 * the form is, and names neither key nor value: the caller knows both, and whether the value is a secret.
 */
#ifndef TARRY_OPS_CONFIG_VALUE_H
#define TARRY_OPS_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Milliseconds of `100ms`, `5s`, `1h30m`, `366d`: whole numbers with units d h m s ms, greatest first, each once. A
 * bare number is refused: nobody can know its unit. */
bool config_value_duration(const char *text, int64_t *result, struct error *error);

/* Bytes of `1048576`, `64GiB` (KiB MiB GiB TiB: powers of 1,024) or `10MB` (kB KB MB GB TB: powers of 1,000). */
bool config_value_size(const char *text, int64_t *result, struct error *error);

/* A whole number >= 0 in decimal digits, without sign, blanks or leading zeros. */
bool config_value_count(const char *text, int64_t *result, struct error *error);

/* Percent of a factor: `2` is 200, `0.2` is 20; at most two decimals, without sign, blanks or leading zeros. */
bool config_value_percent(const char *text, int64_t *result, struct error *error);

/* Whole number in a second of `5000`, `5000/s`, `300000/m` or `18000000/h`; what is none (`90/m`) is refused. */
bool config_value_rate(const char *text, int64_t *result, struct error *error);

/* `nats://host:port` or `tls://host:port`, several with commas between; user and password within are refused (and never repeated). */
bool config_value_servers(const char *text, struct error *error);

/* What subjects begin with: "" or tokens of [a-zA-Z0-9_-] with dots between, perhaps a last dot; at most `most` bytes. */
bool config_value_subject(const char *text, int64_t most, struct error *error);

/* `true` or `false`, nothing else. */
bool config_value_bool(const char *text, bool *result, struct error *error);

/* Index of `text` among the words of `choices`, which are separated by '|'. */
bool config_value_choice(const char *text, const char *choices, unsigned *result, struct error *error);

/* [a-zA-Z0-9._-], 1 to `most` bytes. */
bool config_value_name(const char *text, int64_t most, struct error *error);

struct config_address {
    char host[256]; /* without brackets */
    uint16_t port;
    bool loopback; /* 127.0.0.0/8, ::1 or localhost */
    bool any;      /* 0.0.0.0, :: or * */
};

/* `host:port` or `[v6]:port`; port 0 to 65535. */
bool config_value_address(const char *text, struct config_address *result, struct error *error);

#define CONFIG_VALUE_SHOWN_MAX 64

/* The text in quotes, printable, cut at some 60 bytes: for problems. */
struct config_value_shown {
    char text[CONFIG_VALUE_SHOWN_MAX];
};
struct config_value_shown config_value_show(const char *text);

#endif
