/* Scripts that complete tarry's verbs, flags and their alternatives in a shell, made from the table of verbs. Pure. */
#ifndef TARRY_CLI_VERB_COMPLETION_H
#define TARRY_CLI_VERB_COMPLETION_H

#include "base/buffer.h"

/* Each appends the whole script. None asks a daemon or runs anything when a key is pressed. */
void verb_completion_bash(struct buffer *script);
void verb_completion_zsh(struct buffer *script);
void verb_completion_fish(struct buffer *script);

#endif
