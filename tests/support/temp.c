#include "tests/support/temp.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"

char *temp_path(const char *path, const char *name)
{
    size_t size = strlen(path) + strlen(name) + 2;
    char *joined = memory_new(size, 1);
    snprintf(joined, size, "%s/%s", path, name);
    return joined;
}

char *temp_directory(const char *stem)
{
    const char *parent = getenv("TMPDIR");
    char name[64];
    snprintf(name, sizeof(name), "%s-XXXXXX", stem);
    char *path = temp_path(parent == NULL || parent[0] == '\0' ? "/tmp" : parent, name);
    if (mkdtemp(path) == NULL) {
        fail_msg("no scratch folder %s: %s", path, strerror(errno));
    }
    return path;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

void temp_empty(const char *path)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT) {
        fail_msg("cannot remove %s: %s", path, strerror(errno));
    }
}

void temp_remove(char *path)
{
    if (path == NULL) {
        return;
    }
    temp_empty(path);
    free(path);
}
