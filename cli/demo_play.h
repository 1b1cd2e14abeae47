/* The demo from start to end: broker, configuration, the real `tarry serve` as a child, records in, records out,
 * summary. */
#ifndef TARRY_CLI_DEMO_PLAY_H
#define TARRY_CLI_DEMO_PLAY_H

#include <stdbool.h>

struct demo_play_options {
    const char *kafka; /* bootstrap.servers of the user's own broker; NULL: one in this process */
    int count;         /* records to produce, 1 to 500 */
    bool keep;         /* leave configuration, store and log where they are, and say where */
};

/* Plays it, telling on stdout what happens and on stderr what went wrong. True: every record left, none early, and the
 * wrong ones were refused. Takes some 10 s, and every wait in it is bounded. On return, also after Ctrl-C, the child has
 * ended and its files are gone (unless `keep`). Main thread, no other threads yet. */
bool demo_play_run(const struct demo_play_options *options);

#endif
