/* From the configuration to what dlq/ asks for; used by the daemon and by the command line. */
#ifndef TARRY_OPS_LETTER_OPTIONS_H
#define TARRY_OPS_LETTER_OPTIONS_H

#include "base/span.h"
#include "dlq/letter.h"
#include "dlq/link.h"
#include "dlq/streams.h"
#include "ops/config.h"
#include "scheduler/retry.h"

/* Borrowed from the configuration. `name`: what this connection is for. */
struct link_options letter_options_link(const struct config *config, const char *name);

/* owner: "<cluster id>/<group>" (letter_options_owner), or NULL (dlq/streams.h); borrowed, too. */
struct streams_options letter_options_streams(const struct config *config, const char *owner);

/* Whose letters this configuration's are, on the Kafka cluster of that id. */
#define LETTER_OPTIONS_OWNER_SIZE 330
void letter_options_owner(const struct config *config, const char *cluster, char owner[LETTER_OPTIONS_OWNER_SIZE]);

/* The policy of this topic: of the first entry of targets that it matches, else retry_default. Never NULL. */
const struct retry_policy *letter_options_retry(const struct config *config, struct span topic);

/* Where a new letter goes: to wait for its redelivery, or for a person, when redelivering it does no good (its reason says so, or nobody knows where to), its
 * policy has none, or nobody wants it any more by then: expires_ms (-1: whenever). Later redeliveries do not know that moment. */
enum letter_state letter_options_state(const struct config *config, const struct letter *letter, int64_t expires_ms);

/* True when records may go to this topic: it matches targets, or is a default_target or in routes. */
bool letter_options_allowed(const struct config *config, struct span topic);

/* The label of a target in metrics: the lane's name; "default" for what matches none, "_refused" for an absent topic. Never NULL. */
const char *letter_options_label(const struct config *config, struct span topic);

#endif
