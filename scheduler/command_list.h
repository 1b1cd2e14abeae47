/* Building the commands of a step. */
#ifndef TARRY_SCHEDULER_COMMAND_LIST_H
#define TARRY_SCHEDULER_COMMAND_LIST_H

#include "scheduler/core_state.h"

/* Appends a command of this kind for the slot (NULL: none) and returns it, to be filled in. Borrowed until the next one. */
struct command *command_list_add(struct command_list *list, enum command_kind kind, const struct slot *slot);

/* Names a row as needed no more. */
void command_list_release(struct command_list *list, row_ref ref);

/* Empties the list, and moves the commands of `from` into it. */
void command_list_take(struct command_list *list, struct command_list *from);

void command_list_clear(struct command_list *list);
void command_list_free(struct command_list *list);

#endif
