/* The demo from start to end: broker, configuration, the real `tarry serve` as a child, records in, records out,
 * summary; then the same for records that fail. */
#ifndef TARRY_CLI_DEMO_PLAY_H
#define TARRY_CLI_DEMO_PLAY_H

#include <stdbool.h>

struct demo_play_options {
    const char *kafka;       /* bootstrap.servers of the user's own broker; NULL: one in this process */
    const char *nats_server; /* path of the program, to be run in private; NULL: dead letters are not shown */
    int count;               /* records to produce, 1 to 500 */
    bool keep;               /* leave configuration, store and logs where they are, and say where */
};

/* Plays it, telling on stdout what happens and on stderr what went wrong. True: every record left, none early; with a nats_server the wrong ones were refused, and
 * those for a topic that was not there became letters, were redelivered, parked and replayed. Takes some 10 s, with letters 20, and every wait in it is bounded.
 * On return, also after Ctrl-C, the children have ended and their files are gone (unless `keep`). Main thread, no other threads yet. */
bool demo_play_run(const struct demo_play_options *options);

#endif
