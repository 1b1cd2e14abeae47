/* A whole zone file, for test programs. */
#ifndef TARRY_TESTS_CRON_ZONE_FILE_H
#define TARRY_TESTS_CRON_ZONE_FILE_H

#include "base/buffer.h"
#include "scheduler/zone.h"

/* The bytes of folder/name, or empty and false. buffer_free() gives them back. */
bool zone_file_read(const char *folder, const char *name, struct buffer *bytes);

/* Read and parsed; "UTC" is NULL. False: *error says why. */
bool zone_file_load(const char *folder, const char *name, struct zone **zone, struct error *error);

#endif
