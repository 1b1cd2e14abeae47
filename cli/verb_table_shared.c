/* Flags that several verbs share. */
#include "cli/verb_table_part.h"

static const struct verb_flag CONFIG[] = {
    {"--config", 'c', "FILE", "the configuration; else the file of TARRY_CONFIG", false},
    {"--set", '\0', "PATH=VALUE", "one value of it, before TARRY_... and the file", true},
    {"--log-level", '\0', "debug|info|warning|error", "short for --set log.level=LEVEL", false},
};

static const struct verb_flag SERVER[] = {
    {"--server", '\0', "URL", "which daemon; else TARRY_SERVER", false},
    {"--token-file", '\0', "FILE", "its token; else the file of TARRY_TOKEN_FILE", false},
    {"--timeout", '\0', "DURATION", "wait so long for an answer: 30s", false},
    {"--follow", '\0', NULL, "ask the instance that it names as the owner, too", false},
};

static const struct verb_flag OUTPUT[] = {
    {"--output", 'o', "json|jsonl|table", "else: table on a terminal, jsonl when piped", false},
};

static const struct verb_flag LETTERS[] = {
    {"--state", '\0', "waiting|parked", "redelivered by itself, or left for a person", true},
    {"--reason", '\0', "REASON", "why it failed: unknown_target, no_time, ...", true},
    {"--error", '\0', "REGEX", "the error's text (POSIX extended)", true},
    {"--target", '\0', "TOPIC|_refused", "where it was to go; _refused: nowhere", true},
    {"--id", '\0', "ID", "the letter's id, or its record's tarry-id", true},
    {"--id-base64", '\0', "BYTES", "the same, in base64", true},
    {"--key", '\0', "TEXT", "the record's key", true},
    {"--key-base64", '\0', "BYTES", "the same, in base64", true},
    {"--header", '\0', "NAME[=VALUE]", "a header it has (all that are given)", true},
    {"--header-base64", '\0', "NAME=BYTES", "the same, its value in base64", true},
    {"--since", '\0', "TIME", "last failed then or later", false},
    {"--until", '\0', "TIME", "last failed before then", false},
    {"--limit", '\0', "N", "the first N of them", false},
};

const struct verb_group verb_table_shared[VERB_GROUPS] = {
    [VERB_GROUP_CONFIG] =
        {"configuration", "Configuration", "which configuration", VERB_TABLE_FLAGS(CONFIG),
         "A value is taken from --set, else from the environment (TARRY_HTTP_LISTEN for\n"
         "http.listen), else from the file, else it is the default: tarry.yaml(5).\n"},
    [VERB_GROUP_SERVER] =
        {"server", "Daemon", "which daemon is asked, and how", VERB_TABLE_FLAGS(SERVER),
         "URL: http://host:port, https://host:port, host:port, or unix:PATH (its socket);\n"
         "http://127.0.0.1:7411 when none is named. No proxy is used.\n"
         "The token stands in a file, on no command line; no error shows it.\n"
         "\n"
         "When a partition belongs to another instance, the error says which; --follow\n"
         "asks that one, once, and sends it the token, too.\n"
         "\n"
         "Exit: 0 done, 1 failed, 2 usage, 3 partly or not found, 4 not let in,\n"
         "69 not reachable or busy, 78 the token's file cannot be used.\n"},
    [VERB_GROUP_OUTPUT] =
        {"output", "Output", "tables and JSON", VERB_TABLE_FLAGS(OUTPUT),
         "A table shows times from now and escapes what would upset a terminal. JSON has\n"
         "all fields, one object a line (jsonl) or one array (json); bytes that are no\n"
         "text are in base64 there and say so. NO_COLOR: no colours.\n"
         "Answers go to standard output; notes, progress and errors to standard error.\n"},
    [VERB_GROUP_LETTERS] =
        {"letters", "Letters", "which letters a verb of dlq means", VERB_TABLE_FLAGS(LETTERS),
         "A flag again: any of its values; --header: all of them; flags together: all of\n"
         "them; no flag: every letter. Texts match whole and exactly. TIME: RFC 3339,\n"
         "epoch milliseconds, now, or 10m: that long ago.\n"},
};
