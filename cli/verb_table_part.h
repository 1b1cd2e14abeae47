/* The parts that the table is put together from. For verb_table.c. */
#ifndef TARRY_CLI_VERB_TABLE_PART_H
#define TARRY_CLI_VERB_TABLE_PART_H

#include "cli/verb_table.h"

#define VERB_TABLE_CONFIG (1U << VERB_GROUP_CONFIG)
#define VERB_TABLE_SERVER (1U << VERB_GROUP_SERVER)
#define VERB_TABLE_OUTPUT (1U << VERB_GROUP_OUTPUT)
#define VERB_TABLE_LETTERS (1U << VERB_GROUP_LETTERS)
#define VERB_TABLE_FLAGS(array) (array), sizeof(array) / sizeof((array)[0])
#define VERB_TABLE_NONE NULL, 0

struct verb_table_part {
    const struct verb *verbs;
    size_t count;
};

extern const struct verb_table_part verb_table_local;   /* need nothing, or the configuration */
extern const struct verb_table_part verb_table_events;  /* ask the daemon about events */
extern const struct verb_table_part verb_table_daemon;  /* ask the daemon about itself */
extern const struct verb_table_part verb_table_letters; /* tarry dlq */
extern const struct verb_table_part verb_table_about;   /* of tarry itself */
extern const struct verb_group verb_table_shared[VERB_GROUPS];

#endif
