/* The verbs of `tarry dlq`. Each gets its own argv (argv[0] is the verb's name), and returns the process's exit
 * code. Their flags and words of help: cli/verb_table_letters.c. */
#ifndef TARRY_CLI_DLQ_VERBS_H
#define TARRY_CLI_DLQ_VERBS_H

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
