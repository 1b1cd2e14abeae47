/* What the demo has shown, in figures. */
#ifndef TARRY_CLI_DEMO_SUMMARY_H
#define TARRY_CLI_DEMO_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/demo_events.h"

/* Prints how many left, were early or altered, came twice, the lateness and the refusals. True: all is as it must be;
 * every good record left, as it was, none early, and the wrong ones were refused. */
bool demo_summary_print(const struct demo_events *events, FILE *file);

#endif
