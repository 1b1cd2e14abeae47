/* The verbs of the one binary (cli/verb_table.h). Each gets its own argv: argv[0] is the verb's last word. Each returns the process's exit
 * code, and has said on stderr what went wrong. */
#ifndef TARRY_CLI_VERBS_H
#define TARRY_CLI_VERBS_H

#define VERBS_EXIT_DONE 0
#define VERBS_EXIT_FAILED 1
#define VERBS_EXIT_USAGE 2
#define VERBS_EXIT_PARTLY 3       /* some of it failed, or what was asked for is not there */
#define VERBS_EXIT_REFUSED 4      /* the other side does not let us in */
#define VERBS_EXIT_UNREACHABLE 69 /* the other side is not there (EX_UNAVAILABLE) */
#define VERBS_EXIT_CONFIG 78      /* bad configuration (EX_CONFIG) */
#define VERBS_EXIT_INTERRUPTED 130 /* as a shell says it of SIGINT */

int serve_run(int argc, char **argv);
int demo_run(int argc, char **argv);
int version_run(int argc, char **argv);
int config_verb_check_run(int argc, char **argv);
int config_verb_show_run(int argc, char **argv);
int config_verb_schema_run(int argc, char **argv);
int verb_help_run(int argc, char **argv);
int verb_completion_run(int argc, char **argv);

/* These ask the daemon. */
int verb_schedule_run(int argc, char **argv);
int verb_list_run(int argc, char **argv);
int verb_get_run(int argc, char **argv);
int verb_cancel_run(int argc, char **argv);
int verb_steer_run_now(int argc, char **argv);
int verb_steer_reschedule(int argc, char **argv);
int verb_steer_pause(int argc, char **argv);
int verb_steer_resume(int argc, char **argv);
int verb_target_list_run(int argc, char **argv);
int verb_target_pause_run(int argc, char **argv);
int verb_target_resume_run(int argc, char **argv);
int verb_watch_run(int argc, char **argv);
int verb_stats_run(int argc, char **argv);
int verb_forecast_run(int argc, char **argv);
int verb_check_run(int argc, char **argv); /* its exit codes are those of Nagios: 0 to 3 */
int verb_audit_run(int argc, char **argv);

#endif
