/* See reappend.h. */
#include "scheduler/reappend.h"

void reappend_note(struct slot *slot, const struct input_reappended *input)
{
    (void)input;
    marks_reappending(&slot->marks);
}
