/* What the history of this instance says of an event that is pending no more. Pure; any thread. */
#ifndef TARRY_OPS_API_GET_PAST_H
#define TARRY_OPS_API_GET_PAST_H

#include <stdbool.h>
#include <stddef.h>

#include "ops/history.h"

struct cJSON;

/* Adds "history": the events as the history topic has them, in the order given. */
void api_get_past_history(struct cJSON *object, const struct history_event *events, size_t count);

/*
 * Adds what there is to say of the event itself: id, kind, state, due, source, root_offset, target, ended. Events newest first. The state is the latest outcome that tells of an event: not of
 * a control that came too late or found nothing, nor of a record that was let fall because of it, unless there is nothing else. That of a schedule (`schedule`: it was asked for as one; or the
 * history shows it) is "stopped" or "finished" where that is so. False: none tells of one, nothing was added.
 */
bool api_get_past_event(struct cJSON *object, const struct history_event *events, size_t count, bool schedule);

#endif
