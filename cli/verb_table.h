/*
 * Every verb of the command line, in one table: help, completion for shells, docs/cli.md, the commands in tarry(1) and the parsing of new verbs' flags are made
 * from it, so that none of them can say what is not so.
 *
 * All of it is static and read-only: any thread, O(verbs) at most.
 */
#ifndef TARRY_CLI_VERB_TABLE_H
#define TARRY_CLI_VERB_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* A flag. Where the argument names alternatives in small letters ("json|jsonl|table"), completion offers them; FILE means files. */
struct verb_flag {
    const char *name;     /* "--limit" */
    char letter;          /* 'n' for -n; '\0': none */
    const char *argument; /* "N"; NULL: a switch */
    const char *meaning;  /* without a full stop; fits 50 columns */
    bool repeats;         /* may be given several times, and each counts */
};

/* Flags that several verbs share. */
enum verb_group_index {
    VERB_GROUP_CONFIG,  /* which configuration */
    VERB_GROUP_SERVER,  /* which daemon */
    VERB_GROUP_OUTPUT,  /* table or JSON */
    VERB_GROUP_LETTERS, /* which letters */
    VERB_GROUPS,
};

struct verb_group {
    const char *name;    /* the page: tarry help NAME */
    const char *title;   /* "Daemon": stands before the flags on a verb's page */
    const char *meaning; /* of the page */
    const struct verb_flag *flags;
    size_t flag_count;
    const char *text; /* paragraphs of the page: lines of at most 80 columns, each with its line end */
};

struct verb {
    const char *name; /* "list"; "config check": a verb of `config` */
    int (*run)(int argc, char **argv); /* argv[0] is the last word of the name. NULL: it has verbs of its own */
    const char *arguments;             /* "[FILE|-]"; "": none */
    const char *brief;                 /* at most 25 columns, for the overview */
    const char *meaning;               /* one sentence without its full stop */
    const struct verb_flag *flags;
    size_t flag_count;
    unsigned groups;     /* bits: 1 << VERB_GROUP_... */
    const char *text;    /* lines of at most 80 columns, each with its line end; "": none */
    const char *example; /* such lines, commands */
};

/* How many there are, and each, in the order of the overview; the verbs of a verb follow it. */
size_t verb_table_count(void);
const struct verb *verb_table_at(size_t index);

/* By its whole name ("config check"); NULL: there is none. */
const struct verb *verb_table_find(const char *name);

const struct verb_group *verb_table_group(enum verb_group_index index);

/* The verbs of a verb by number ("config check" is one of "config"); NULL as parent: those of the first level. NULL: there are no more. */
const struct verb *verb_table_child_at(const struct verb *parent, size_t index);

/* The one of that word ("check"); NULL: there is none. */
const struct verb *verb_table_child(const struct verb *parent, const char *word);

/* The last word of its name. */
const char *verb_table_word(const struct verb *verb);

/* The flag of a verb, its groups included, that `text` names: "--limit", "-n", or "--limit=5". NULL: none of its. */
const struct verb_flag *verb_table_flag(const struct verb *verb, const char *text);

/* All flags of a verb by number, its groups' behind its own; NULL: there are no more. */
const struct verb_flag *verb_table_flag_at(const struct verb *verb, size_t index);

/*
 * The alternatives in an argument ("json|jsonl|table", "TOPIC|_refused", "[FILE|-]") that completion can offer: those of small letters, digits and "_ - /". Copies the
 * next from *at (a place in the argument; start at its beginning) into word and moves on; false: there are no more.
 */
#define VERB_TABLE_WORD_SIZE 32
bool verb_table_choice(const char **at, char word[VERB_TABLE_WORD_SIZE]);

/* True when the argument is a file's name. */
bool verb_table_is_file(const char *argument);

#endif
