/* Time zones by name: see zones.h. */
#include "ops/zones.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

#define FOLDER "/usr/share/zoneinfo"
#define LOOK_AFTER_MS 1000

/* What tells one file from another under the same name. */
struct stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct known {
    char name[ZONES_NAME_MAX + 1];
    struct zone *zone;
    struct stamp stamp;
    struct mono_ms looked;
    uint64_t used; /* the greater, the later it was asked for */
    bool complained;
};

struct zones {
    char *folder;
    struct known *known; /* ZONES_MAX places */
    uint64_t uses;
    struct zones_figures figures;
};

struct zones *zones_new(const char *folder)
{
    const char *named = folder != NULL ? folder : getenv("TZDIR");
    const char *chosen = named == NULL || named[0] == '\0' ? FOLDER : named;
    struct zones *zones = memory_new(1, sizeof(*zones));
    zones->folder = memory_text(chosen, strlen(chosen));
    zones->known = memory_new(ZONES_MAX, sizeof(zones->known[0]));
    return zones;
}

void zones_free(struct zones *zones)
{
    if (zones == NULL) {
        return;
    }
    for (size_t i = 0; i < zones->figures.known; i++) {
        zone_free(zones->known[i].zone);
    }
    free(zones->known);
    free(zones->folder);
    free(zones);
}

struct zones_figures zones_figures(const struct zones *zones)
{
    return zones->figures;
}

static bool is_letter(uint8_t byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

static bool is_of_name(uint8_t byte)
{
    return is_letter(byte) || (byte >= '0' && byte <= '9') || byte == '_' || byte == '+' || byte == '-';
}

/* Parts by `/`, each begins with a letter: nothing that leaves the folder, and no file of another kind (those have a dot). */
static bool name_valid(struct span name)
{
    bool begins = true;
    if (name.length == 0 || name.length > ZONES_NAME_MAX) {
        return false;
    }
    for (size_t i = 0; i < name.length; i++) {
        bool parts = name.data[i] == '/';
        if (begins ? !is_letter(name.data[i]) : !parts && !is_of_name(name.data[i])) {
            return false;
        }
        begins = parts;
    }
    return !begins;
}

static bool refuse_name(struct span name, struct error *error)
{
    char shown[ZONES_NAME_MAX + 4];
    (void)text_printable(name, shown, sizeof(shown));
    return error_set(error, ERROR_INVALID, "time zone `%s`: not a name; give one of the IANA data base, like Europe/London, or UTC (at most %d bytes)", shown,
                     ZONES_NAME_MAX);
}

static bool fail(const struct zones *zones, const char *name, int number, struct error *error)
{
    if (number == ENOENT || number == ENOTDIR) {
        return error_set(error, ERROR_NOT_FOUND, "time zone `%s`: there is none of that name in %s; see `ls` there, or install tzdata", name, zones->folder);
    }
    return error_set(error, ERROR_SYSTEM, "time zone `%s`: its file in %s cannot be read: %s", name, zones->folder, strerror(number));
}

static struct stamp stamp_of(const struct stat *facts)
{
    return (struct stamp){facts->st_dev, facts->st_ino, facts->st_size, facts->st_mtim};
}

static bool stamp_equal(const struct stamp *a, const struct stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

/* All of an open file, `size` bytes long when it was looked at. -1 and errno: it cannot be read. */
static ssize_t read_all(int fd, uint8_t *bytes, size_t size)
{
    size_t length = 0;
    while (length < size) {
        ssize_t got = read(fd, bytes + length, size - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        length += (size_t)got;
    }
    return (ssize_t)length;
}

static bool read_open(const struct zones *zones, const char *name, int fd, struct zone **zone, struct stamp *stamp, struct error *error)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0) {
        return fail(zones, name, errno, error);
    }
    if (!S_ISREG(facts.st_mode) || facts.st_size > ZONES_FILE_MAX) {
        return error_set(error, ERROR_INVALID, "time zone `%s`: %s/%s is a folder or too large, no file of a zone", name, zones->folder, name);
    }
    uint8_t *bytes = memory_new((size_t)facts.st_size, 1);
    ssize_t length = read_all(fd, bytes, (size_t)facts.st_size);
    bool parsed = length >= 0 ? zone_parse((struct span){bytes, (size_t)length}, zone, error) || error_prefix(error, "time zone `%s`", name)
                              : fail(zones, name, errno, error);
    free(bytes);
    *stamp = stamp_of(&facts);
    return parsed;
}

static char *path_of(const struct zones *zones, const char *name)
{
    size_t size = strlen(zones->folder) + 1 + strlen(name) + 1;
    char *path = memory_new(size, 1);
    (void)snprintf(path, size, "%s/%s", zones->folder, name);
    return path;
}

static bool read_zone(struct zones *zones, const char *name, struct zone **zone, struct stamp *stamp, struct error *error)
{
    char *path = path_of(zones, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* NONBLOCK: a pipe there must not hold us up */
    free(path);
    zones->figures.reads++;
    if (fd < 0) {
        return fail(zones, name, errno, error);
    }
    bool done = read_open(zones, name, fd, zone, stamp, error);
    (void)close(fd);
    return done;
}

static void complain(struct known *known, const struct error *error)
{
    if (!known->complained) {
        log_write(LOG_LEVEL_WARNING, "zone_unreadable", LOG_FIELDS(LOG_TEXT("zone", known->name)), "%s; what was read last stays in use", error->text);
    }
    known->complained = true;
}

/* Reads the zone again when its file is another one. */
static void look(struct zones *zones, struct known *known)
{
    struct stat facts;
    struct zone *zone = NULL;
    struct error error;
    char *path = path_of(zones, known->name);
    int failed = stat(path, &facts) == 0 ? 0 : errno;
    free(path);
    zones->figures.looks++;
    if (failed != 0) {
        (void)fail(zones, known->name, failed, &error);
        complain(known, &error);
        return;
    }
    struct stamp stamp = stamp_of(&facts);
    if (stamp_equal(&stamp, &known->stamp)) {
        known->complained = false;
        return;
    }
    if (!read_zone(zones, known->name, &zone, &stamp, &error)) {
        complain(known, &error);
        return;
    }
    zone_free(known->zone);
    known->zone = zone;
    known->stamp = stamp;
    known->complained = false;
}

static struct known *find(struct zones *zones, struct span name)
{
    for (size_t i = 0; i < zones->figures.known; i++) {
        if (span_equals_text(name, zones->known[i].name)) {
            return &zones->known[i];
        }
    }
    return NULL;
}

/* A free place, or that of the zone not asked for the longest, which is forgotten. */
static struct known *make_place(struct zones *zones)
{
    if (zones->figures.known < ZONES_MAX) {
        return &zones->known[zones->figures.known++];
    }
    struct known *oldest = &zones->known[0];
    for (size_t i = 1; i < ZONES_MAX; i++) {
        oldest = zones->known[i].used < oldest->used ? &zones->known[i] : oldest;
    }
    zone_free(oldest->zone);
    return oldest;
}

static struct known *learn(struct zones *zones, struct span name, struct mono_ms now, struct error *error)
{
    struct known fresh = {.looked = now};
    memcpy(fresh.name, name.data, name.length); /* no longer than ZONES_NAME_MAX, and no NUL in it */
    if (!read_zone(zones, fresh.name, &fresh.zone, &fresh.stamp, error)) {
        return NULL;
    }
    struct known *place = make_place(zones);
    *place = fresh;
    return place;
}

bool zones_get(struct zones *zones, struct span name, struct mono_ms now, const struct zone **zone, struct error *error)
{
    if (!name_valid(name)) {
        return refuse_name(name, error);
    }
    if (span_equals_text(name, "UTC")) {
        *zone = NULL;
        return true;
    }
    struct known *known = find(zones, name);
    if (known == NULL) {
        known = learn(zones, name, now, error);
        if (known == NULL) {
            return false;
        }
    } else if (now.ms - known->looked.ms >= LOOK_AFTER_MS) {
        known->looked = now;
        look(zones, known);
    }
    known->used = ++zones->uses;
    *zone = known->zone;
    return true;
}
