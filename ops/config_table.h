/* The one table of all keys, and names made from it. Internal to the config files of ops/. */
#ifndef TARRY_OPS_CONFIG_TABLE_H
#define TARRY_OPS_CONFIG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

enum config_type {
    CONFIG_TYPE_NAME,       /* const char *: [a-zA-Z0-9._-], 1 to `most` bytes */
    CONFIG_TYPE_LANE,       /* const char *: a lane's name */
    CONFIG_TYPE_TOPIC,      /* const char * */
    CONFIG_TYPE_PATTERN,    /* const char *: a topic with `*` */
    CONFIG_TYPE_ADDRESS,    /* const char *: host:port */
    CONFIG_TYPE_PATH,       /* const char * */
    CONFIG_TYPE_TEXT,       /* const char *: 1 to `most` bytes */
    CONFIG_TYPE_SERVERS,    /* const char *: addresses of NATS servers, without secrets */
    CONFIG_TYPE_STREAM,     /* const char *: the name of a JetStream stream, [a-zA-Z0-9_-], 1 to `most` bytes */
    CONFIG_TYPE_SUBJECT,    /* const char *: tokens of [a-zA-Z0-9_-] with dots between, at most `most` bytes */
    CONFIG_TYPE_BOOL,       /* bool */
    CONFIG_TYPE_COUNT,      /* int64_t */
    CONFIG_TYPE_TIMES,      /* uint32_t: how often */
    CONFIG_TYPE_PERCENT,    /* uint32_t, percent: written as a factor of at most two decimals, 0.2 */
    CONFIG_TYPE_DURATION,   /* int64_t, ms */
    CONFIG_TYPE_SIZE,       /* int64_t, bytes */
    CONFIG_TYPE_CHOICE,     /* an enum: index of the word */
    CONFIG_TYPE_RATE,       /* uint32_t, in a second: 5000/s, 300000/m; 0: none was given */
    CONFIG_TYPE_NAMES,      /* struct config_names: a list of plain words */
    CONFIG_TYPE_MAP,        /* struct config_map: any names to texts */
    CONFIG_TYPE_PROPERTIES, /* struct config_map: librdkafka's names to texts */
    CONFIG_TYPE_LIST,       /* a list of maps of the section with this path */
    CONFIG_TYPE_NAMED,      /* a map of names to maps of the section with this path */
};

enum config_section { CONFIG_SECTION_TOP, CONFIG_SECTION_SOURCE, CONFIG_SECTION_TARGET, CONFIG_SECTION_NACK, CONFIG_SECTION_DIALECT };

struct config_key {
    const char *path; /* within its section: "store.path", "topic" */
    enum config_section section;
    enum config_type type;
    const char *fallback; /* the default, as one would write it; NULL: none */
    const char *choices;  /* CHOICE: words separated by '|'; MAP: legal names, or NULL for any */
    int64_t least;        /* COUNT, TIMES, PERCENT, DURATION, SIZE, RATE */
    int64_t most;         /* same, and length of texts */
    size_t offset;        /* in struct config, or in that of its section's entries */
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

/* "store.path", "sources[].topic", "dialects.<name>.headers"; of one entry "sources[2].topic", "dialects.mine.headers" (`name` is that of an entry of a map,
 * else NULL). */
struct config_table_name config_table_path(const struct config_key *key);
struct config_table_name config_table_path_at(const struct config_key *key, size_t index, const char *name);

/* "TARRY_STORE_PATH", "TARRY_SOURCES_<n>_TOPIC". */
struct config_table_name config_table_environment(const struct config_key *key);

/* "TARRY_SOURCES_0_TOPIC". */
struct config_table_name config_table_environment_at(const struct config_key *key, size_t index);

/* What stands before the keys of one entry of a section: "sources[2].", "dialects.mine.", "" at the top. */
struct config_table_name config_table_prefix(enum config_section section, size_t index, const char *name);

/* The list whose entries a section describes: "sources". NULL for the top. */
const char *config_table_section_name(enum config_section section);

/* True for a section whose entries have names of their own: a map, not a list. */
bool config_table_named(enum config_section section);

/* A list, or map of names, of the configuration, and where its entries stand in struct config. */
struct config_list {
    const char *name; /* "sources" */
    bool named;       /* a map: each entry's first field is its name */
    enum config_section section;
    size_t items_offset; /* of the pointer to the entries */
    size_t count_offset; /* of their number, a size_t */
    size_t entry_size;
};

/* All lists, in the order of their sections. */
const struct config_list *config_table_lists(size_t *count);

/* The list of that name; it has to be one. Never NULL. */
const struct config_list *config_table_list(const char *name) __attribute__((returns_nonnull));

/* The entries of a list in a configuration. */
void *config_table_items(const struct config_list *list, const struct config *config);
size_t config_table_item_count(const struct config_list *list, const struct config *config);

/* Why a key that other versions or a reader's expectation know is not there, with what to do; NULL: nothing is known of
 * it. `path` is the whole path without indexes: "nats", "targets[].rate". */
const char *config_table_absent(const char *path);

#endif
