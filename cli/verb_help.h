/* Help as text, made from the table of verbs: an overview that fits 80 columns and 24 lines, and a page for each verb and each group of shared flags that does, too. */
#ifndef TARRY_CLI_VERB_HELP_H
#define TARRY_CLI_VERB_HELP_H

#include "base/buffer.h"
#include "cli/verb_table.h"

#define VERB_HELP_COLUMNS 80
#define VERB_HELP_LINES 24

/* Each appends its page. Pure. */
void verb_help_overview(struct buffer *page);
void verb_help_verb(const struct verb *verb, struct buffer *page);
void verb_help_group(const struct verb_group *group, struct buffer *page);

/* Prints the page of a verb, or the overview for NULL, to standard output. 0, or the code to exit with, told. */
int verb_help_print(const struct verb *verb);

/* Says that there is no such verb (below `parent`, which may be NULL), with a near one if there is; returns VERBS_EXIT_USAGE. */
int verb_help_unknown(const struct verb *parent, const char *name);

#endif
