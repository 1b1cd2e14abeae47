/* The verbs of the one binary. Each gets its own argv: argv[0] is the verb's name. Each returns the process's exit
 * code. */
#ifndef TARRY_CLI_VERBS_H
#define TARRY_CLI_VERBS_H

#define VERBS_EXIT_DONE 0
#define VERBS_EXIT_FAILED 1
#define VERBS_EXIT_USAGE 2
#define VERBS_EXIT_PARTLY 3       /* some of it failed, or what was asked for is not there */
#define VERBS_EXIT_REFUSED 4      /* the other side does not let us in */
#define VERBS_EXIT_UNREACHABLE 69 /* the other side is not there (EX_UNAVAILABLE) */
#define VERBS_EXIT_CONFIG 78      /* bad configuration (EX_CONFIG) */

int serve_run(int argc, char **argv);
int demo_run(int argc, char **argv);
int version_run(int argc, char **argv);
int config_verb_run(int argc, char **argv);
int dlq_run(int argc, char **argv);
int dlq_help_run(int argc, char **argv); /* argv[1]: which of its verbs, if any */
int help_run(int argc, char **argv);

#endif
