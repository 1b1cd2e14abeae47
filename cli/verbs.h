/* The verbs of the one binary. Each gets its own argv: argv[0] is the verb's name. Each returns the process's exit
 * code. */
#ifndef TARRY_CLI_VERBS_H
#define TARRY_CLI_VERBS_H

#define VERBS_EXIT_DONE 0
#define VERBS_EXIT_FAILED 1
#define VERBS_EXIT_USAGE 2
#define VERBS_EXIT_CONFIG 78 /* bad configuration (EX_CONFIG) */

int serve_run(int argc, char **argv);
int demo_run(int argc, char **argv);
int version_run(int argc, char **argv);
int config_verb_run(int argc, char **argv);
int help_run(int argc, char **argv);

#endif
