/* The verbs of `tarry dlq`. Each gets its own argv (argv[0] is the verb's name), returns the process's exit code, and brings its help: a screen at most,
 * with an example. */
#ifndef TARRY_CLI_DLQ_VERBS_H
#define TARRY_CLI_DLQ_VERBS_H

extern const char dlq_list_help[];
extern const char dlq_get_help[];
extern const char dlq_reasons_help[];
extern const char dlq_replay_help[];
extern const char dlq_park_help[];
extern const char dlq_purge_help[];
extern const char dlq_edit_help[];
extern const char dlq_export_help[];
extern const char dlq_import_help[];
extern const char dlq_jobs_help[];

/* Looking: these change nothing. */
int dlq_list_run(int argc, char **argv);
int dlq_get_run(int argc, char **argv);
int dlq_reasons_run(int argc, char **argv);
int dlq_export_run(int argc, char **argv);

/* Acting: these do nothing without --execute (edit and jobs but what was asked for). */
int dlq_replay_run(int argc, char **argv);
int dlq_park_run(int argc, char **argv);
int dlq_purge_run(int argc, char **argv);
int dlq_edit_run(int argc, char **argv);
int dlq_import_run(int argc, char **argv);
int dlq_jobs_run(int argc, char **argv);

#endif
