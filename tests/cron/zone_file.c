#include "tests/cron/zone_file.h"

#include <stdio.h>

bool zone_file_read(const char *folder, const char *name, struct buffer *bytes)
{
    char path[4096];
    uint8_t piece[4096];
    *bytes = buffer_new((size_t)1 << 20);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    for (size_t got = fread(piece, 1, sizeof(piece), file); got > 0; got = fread(piece, 1, sizeof(piece), file)) {
        buffer_add(bytes, piece, got);
    }
    return fclose(file) == 0;
}

bool zone_file_load(const char *folder, const char *name, struct zone **zone, struct error *error)
{
    struct buffer bytes;
    *zone = NULL;
    if (strcmp(name, "UTC") == 0) {
        return true;
    }
    bool done = zone_file_read(folder, name, &bytes) ? zone_parse(buffer_span(&bytes), zone, error)
                                                     : error_set(error, ERROR_NOT_FOUND, "%s/%s: no such file", folder, name);
    buffer_free(&bytes);
    return done;
}
