/* The one table of all keys, and names made from it. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_TABLE_H
#define TARRY_OPS_CONFIG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_type {
    CONFIG_TYPE_NAME,       /* const char *: [a-zA-Z0-9._-], 1 to `most` bytes */
    CONFIG_TYPE_LANE,       /* const char *: a lane's name */
    CONFIG_TYPE_TOPIC,      /* const char * */
    CONFIG_TYPE_PATTERN,    /* const char *: a topic with `*` */
    CONFIG_TYPE_ADDRESS,    /* const char *: host:port */
    CONFIG_TYPE_PATH,       /* const char * */
    CONFIG_TYPE_BOOL,       /* bool */
    CONFIG_TYPE_COUNT,      /* int64_t */
    CONFIG_TYPE_DURATION,   /* int64_t, ms */
    CONFIG_TYPE_SIZE,       /* int64_t, bytes */
    CONFIG_TYPE_CHOICE,     /* an enum: index of the word */
    CONFIG_TYPE_CHOICES,    /* unsigned: a bit for each word of a list */
    CONFIG_TYPE_MAP,        /* struct config_map: any names to texts */
    CONFIG_TYPE_PROPERTIES, /* struct config_map: librdkafka's names to texts */
    CONFIG_TYPE_LIST,       /* a list of maps of the section with this path */
};

enum config_section { CONFIG_SECTION_TOP, CONFIG_SECTION_SOURCE, CONFIG_SECTION_TARGET };

struct config_key {
    const char *path; /* within its section: "store.path", "topic" */
    enum config_section section;
    enum config_type type;
    const char *fallback; /* the default, as one would write it; NULL: none */
    const char *shown;    /* default as docs say it when it is computed, "<topic>.refused"; NULL: as fallback */
    const char *choices;  /* CHOICE, CHOICES: words separated by '|'; MAP: legal names, or NULL for any */
    int64_t least;        /* COUNT, DURATION, SIZE */
    int64_t most;         /* same, and length of NAME, LANE and PATH */
    size_t offset;        /* in struct config, config_source or config_target */
    bool required;
    bool reloadable;
    const char *meaning;
};

/* All keys, sections in order of enum, within them in the order of the documentation. */
const struct config_key *config_table_keys(size_t *count);

/* The key with exactly this path in the section, or NULL. */
const struct config_key *config_table_find(enum config_section section, const char *path);

/* True when keys of the section stand below this path ("store"). */
bool config_table_is_group(enum config_section section, const char *path);

#define CONFIG_TABLE_NAME_MAX 128

struct config_table_name {
    char text[CONFIG_TABLE_NAME_MAX];
};

/* "store.path", "sources[].topic", or with an index "sources[2].topic". */
struct config_table_name config_table_path(const struct config_key *key);
struct config_table_name config_table_path_at(const struct config_key *key, size_t index);

/* "TARRY_STORE_PATH", "TARRY_SOURCES_<n>_TOPIC". */
struct config_table_name config_table_environment(const struct config_key *key);

/* "TARRY_SOURCES_0_TOPIC". */
struct config_table_name config_table_environment_at(const struct config_key *key, size_t index);

/* The list whose entries a section describes: "sources". NULL for the top. */
const char *config_table_section_name(enum config_section section);

/* Why a key that other versions or a reader's expectation know is not there, with what to do; NULL: nothing is known of
 * it. `path` is the whole path without indexes: "nats", "targets[].rate". */
const char *config_table_absent(const char *path);

#endif
