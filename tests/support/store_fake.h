/*
 * An in-memory stand-in for the store: the functions of store/store.h, linked instead of room_store (library
 * `store_fake`).
 *
 * What was written under a path stays until the process ends or it is wiped, so that "close and open" is a crash and a
 * restart. Images of it play stale and lost disks. Made for simulations: one thread at a time, no files.
 */
#ifndef TARRY_TESTS_STORE_FAKE_H
#define TARRY_TESTS_STORE_FAKE_H

#include "store/store.h"

/* What the disk of a path holds. */
struct store_fake_image;

/* A copy of what stands there now (of an empty disk if nothing does). Free it with store_fake_image_free. */
struct store_fake_image *store_fake_save(const char *path);
void store_fake_image_free(struct store_fake_image *image);

/* Puts a copy of the image in place of what stands there; NULL: a lost disk. The store of that path must be closed. */
void store_fake_load(const char *path, const struct store_fake_image *image);

/* Plans with rows are refused as ERROR_FULL while the disk would hold more than this. UINT64_MAX: no limit (the start).
 */
void store_fake_limit(const char *path, uint64_t bytes_most);

/* Forgets all disks: no store may be open. */
void store_fake_reset(void);

#endif
