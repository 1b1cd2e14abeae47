/* Letters and a link for tests of what speaks to NATS. What fails here fails the running test. */
#ifndef TARRY_TESTS_SUPPORT_NATS_LETTERS_H
#define TARRY_TESTS_SUPPORT_NATS_LETTERS_H

#include <stddef.h>
#include <stdint.h>

#include "dlq/letter.h"
#include "dlq/link.h"
#include "dlq/mailer.h"
#include "dlq/streams.h"

/* TARRY_DLQ, TARRY_PARKED, no prefix, one replica, 256 MB. */
struct streams_options nats_letters_options(void);

/* A link to that address, up; closed with link_close. */
struct link *nats_letters_link(const char *url);

/* The streams are there and usable afterwards. */
void nats_letters_streams(struct link *link, const struct streams_options *options);

/* The nth failure: its id follows from n, its value is `value_bytes` long (and follows from n too), its target is "orders". The letter borrows from itself
 * and from memory that lives as long as the process of the test. */
struct letter nats_letters_one(uint64_t n, size_t value_bytes);

/* `count` letters from number `first` on, posted as waiting ones in one call; returns how many were kept. items may be NULL. */
size_t nats_letters_post(struct mailer *mailer, uint64_t first, size_t count, size_t value_bytes, int64_t timeout_ms, struct mailer_item *items);

#endif
