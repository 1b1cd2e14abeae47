/* What the acts of the demo share (demo_play.c, demo_play_letters.c). */
#ifndef TARRY_CLI_DEMO_PLAY_STATE_H
#define TARRY_CLI_DEMO_PLAY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/demo_broker.h"
#include "cli/demo_child.h"
#include "cli/demo_events.h"
#include "cli/demo_letters.h"
#include "cli/demo_place.h"
#include "cli/demo_play.h"
#include "cli/demo_view.h"

struct play {
    const struct demo_play_options *options;
    struct demo_place place;
    struct demo_broker broker;
    struct demo_letters letters;
    struct demo_child child; /* `tarry serve` */
    struct demo_child verb;  /* of `tarry dlq`, while one runs */
    struct demo_events events;
    struct demo_view view;
    struct playground *playground;
    struct playground *invoices; /* reads the topic that was not there at first */
    bool interrupted;
    int signal_fd;
    int wake_fd;
    uint16_t port;
};

/* Sleeps until something comes or timeout_ms are over. False: there is a reason to stop, told in *error. */
bool demo_play_wait(struct play *play, int timeout_ms, struct error *error);

/* Opens a playground that reads the topics from `first` on and before `end`. */
bool demo_play_read(const struct play *play,
                    enum demo_broker_topic first,
                    enum demo_broker_topic end,
                    struct playground **playground,
                    struct error *error);

/* The second act: records that fail, to their replay. False: told in *error, or something else happened than was shown. */
bool demo_play_letters(struct play *play, struct error *error);

#endif
