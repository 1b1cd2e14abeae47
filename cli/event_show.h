/* One event whole, for a person. */
#ifndef TARRY_CLI_EVENT_SHOW_H
#define TARRY_CLI_EVENT_SHOW_H

#include "cli/output.h"

struct cJSON;

/* Prints its members as lines "name  value", then what became of it so far. */
void event_show(const struct output *output, const struct cJSON *event);

#endif
