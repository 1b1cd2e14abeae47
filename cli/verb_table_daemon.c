/* Verbs that ask the daemon about itself. */
#include "cli/verb_table_part.h"
#include "cli/verbs.h"

#define ASKS (VERB_TABLE_SERVER | VERB_TABLE_OUTPUT)

static const struct verb_flag WATCH[] = {
    {"--id", '\0', "ID", "only of this event", false},
    {"--target", '\0', "TOPIC", "only what goes to this topic", false},
    {"--outcome", '\0', "OUTCOME", "only these: delivered, letter, cancelled, ...", false},
    {"--count", 'n', "N", "end after so many", false},
};

static const struct verb_flag STATS[] = {
    {"--interval", '\0', "DURATION", "again and again, so far apart", false},
    {"--count", 'n', "N", "with --interval: end after so many", false},
};

static const struct verb_flag FORECAST[] = {
    {"--unit", '\0', "minute|hour|day", "what one bar is (hour)", false},
    {"--count", 'n', "N", "so many bars, 1 to 400 (24)", false},
    {"--source", '\0', "TOPIC", "the delay topic; else all of them", false},
    {"--target", '\0', "LANE", "the entry of targets; else all of them", false},
};

static const struct verb_flag CHECK[] = {
    {"--warn-late", '\0', "DURATION", "oldest overdue event waits so long (10s)", false},
    {"--crit-late", '\0', "DURATION", "the same (1m)", false},
    {"--warn-overdue", '\0', "N", "so many events are overdue", false},
    {"--crit-overdue", '\0', "N", "the same", false},
    {"--warn-lag", '\0', "N", "so many records of a topic are not read yet", false},
    {"--crit-lag", '\0', "N", "the same", false},
    {"--warn-letters", '\0', "N", "so many dead letters are there", false},
    {"--crit-letters", '\0', "N", "the same", false},
    {"--warn-store", '\0', "PERCENT", "so much of store.max_size is used (80)", false},
    {"--crit-store", '\0', "PERCENT", "the same (95)", false},
    {"--no-clock", '\0', NULL, "never mind whether the clock is synchronised", false},
};

static const struct verb_flag AUDIT[] = {
    {"--limit", 'n', "N", "the latest so many; 0: all (50)", false},
};

static const struct verb VERBS[] = {
    {"target", NULL, "", "pause a target", "Shows, pauses and resumes targets", VERB_TABLE_NONE, 0, "", "tarry target list\n"},
    {"target list", verb_target_list_run, "", "how each is doing", "Shows how each entry of targets is doing", VERB_TABLE_NONE, ASKS, "", "tarry target list\n"},
    {"target pause", verb_target_pause_run, "NAME", "hold back what goes there", "Holds back what goes to a target, in memory no more than before", VERB_TABLE_NONE, ASKS, "",
     "tarry target pause orders\n"},
    {"target resume", verb_target_resume_run, "NAME", "let it go there again", "Lets what goes to a target leave again", VERB_TABLE_NONE, ASKS, "",
     "tarry target resume orders\n"},
    {"watch", verb_watch_run, "", "outcomes as they come", "Shows outcomes as they come, until it is interrupted", VERB_TABLE_FLAGS(WATCH), ASKS,
     "When the connection breaks it is made again, and goes on behind the last one\n"
     "seen. Interrupted it ends with 130.\n",
     "tarry watch --target orders\n"
     "tarry watch --outcome letter -o jsonl >> letters.log\n"},
    {"stats", verb_stats_run, "", "figures of the daemon", "Shows the daemon's figures", VERB_TABLE_FLAGS(STATS), ASKS,
     "On a terminal --interval draws them anew; piped it prints one object each time.\n", "tarry stats --interval 2s\n"},
    {"forecast", verb_forecast_run, "", "what is due when", "Draws how much is due in each minute, hour or day ahead", VERB_TABLE_FLAGS(FORECAST), ASKS,
     "Times are UTC. ~ marks a count that is spread over its time, not counted in it.\n", "tarry forecast --unit minute --count 30\n"},
    {"check", verb_check_run, "", "for Nagios and its like", "Says in one line, as Nagios and its like want it, whether all is well", VERB_TABLE_FLAGS(CHECK), VERB_TABLE_SERVER,
     "CRITICAL too: not reachable, not ready. WARNING too: a target fails, the clock\n"
     "is not synchronised. Letters are asked for only with a --warn or --crit of them.\n"
     "Exit: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. --timeout is 10s here.\n",
     "tarry check --crit-late 5m --warn-overdue 1000 --warn-letters 1\n"},
    {"audit", verb_audit_run, "", "who changed what", "Shows who changed what: the latest 1,000 commands", VERB_TABLE_FLAGS(AUDIT), ASKS, "", "tarry audit --limit 20\n"},
};

const struct verb_table_part verb_table_daemon = {VERBS, sizeof VERBS / sizeof VERBS[0]};
