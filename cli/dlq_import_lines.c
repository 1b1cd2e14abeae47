#include "cli/dlq_import_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "ops/config_value.h"

#define LINE_MAX_BYTES ((size_t)2 * 1024 * 1024 * 1024)

/* Reads a block, at most; 0: the end; -1: error. */
static ssize_t read_block(int fd, uint8_t *block, struct error *error)
{
    ssize_t count;
    do {
        count = read(fd, block, DLQ_IMPORT_LINES_BLOCK);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        error_set(error, ERROR_SYSTEM, "reading: %s", strerror(errno));
    }
    return count;
}

static bool write_all(int fd, const uint8_t *bytes, size_t count, struct error *error)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno != EINTR) {
            return error_set(error, ERROR_SYSTEM, "a copy of standard input: %s; set TMPDIR to a folder with room, or give a file", strerror(errno));
        }
        bytes += written > 0 ? written : 0;
        count -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* A file without a name, which goes with the process. -1: error. */
static int nameless(struct error *error)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/tarry-import-XXXXXX", folder == NULL || folder[0] == '\0' ? "/tmp" : folder);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        error_set(error, ERROR_SYSTEM, "a copy of standard input: %s: %s; set TMPDIR to a folder of yours", path, strerror(errno));
        return -1;
    }
    (void)unlink(path);
    return fd;
}

/* Puts a copy in the place of what can be read only once. */
static bool make_seekable(struct dlq_import_lines *lines, struct error *error)
{
    if (lseek(lines->fd, 0, SEEK_CUR) >= 0) {
        return true;
    }
    int copy = nameless(error);
    ssize_t count = copy < 0 ? -1 : 1;
    while (count > 0) {
        count = read_block(lines->fd, lines->block, error);
        count = count > 0 && !write_all(copy, lines->block, (size_t)count, error) ? -1 : count;
    }
    if (copy >= 0) {
        (void)close(lines->fd);
        lines->fd = copy;
    }
    return count == 0 && dlq_import_lines_rewind(lines, error);
}

bool dlq_import_lines_open(struct dlq_import_lines *lines, const char *path, struct error *error)
{
    bool standard = path == NULL || strcmp(path, "-") == 0;
    lines->line = buffer_new(LINE_MAX_BYTES);
    lines->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (lines->fd < 0) {
        return error_set(error, ERROR_SYSTEM, "%s: %s", standard ? "standard input" : config_value_show(path).text, strerror(errno));
    }
    return make_seekable(lines, error);
}

bool dlq_import_lines_rewind(struct dlq_import_lines *lines, struct error *error)
{
    lines->number = 0;
    lines->length = 0;
    lines->at = 0;
    return lseek(lines->fd, 0, SEEK_SET) == 0 || error_set(error, ERROR_SYSTEM, "reading it again: %s", strerror(errno));
}

/* The rest of the file up to a line end or its own end. False: the end, or an error. */
static bool next(struct dlq_import_lines *lines, struct span *line, struct error *error)
{
    buffer_clear(&lines->line);
    for (;;) {
        if (lines->at == lines->length) {
            ssize_t count = read_block(lines->fd, lines->block, error);
            lines->at = 0;
            lines->length = count > 0 ? (size_t)count : 0;
            if (count <= 0) {
                *line = buffer_span(&lines->line);
                return count == 0 && line->length > 0;
            }
        }
        const uint8_t *from = lines->block + lines->at;
        const uint8_t *end = memchr(from, '\n', lines->length - lines->at);
        size_t length = end == NULL ? lines->length - lines->at : (size_t)(end - from);
        lines->at += length + (end != NULL);
        buffer_add(&lines->line, from, length);
        if (lines->line.full) {
            return error_set(error, ERROR_FULL, "a line of more than %zu bytes: this is no export", LINE_MAX_BYTES);
        }
        if (end != NULL) {
            *line = buffer_span(&lines->line);
            return true;
        }
    }
}

static bool is_blank(struct span line)
{
    for (size_t i = 0; i < line.length; i++) {
        if (strchr(" \t\r", line.data[i]) == NULL || line.data[i] == '\0') {
            return false;
        }
    }
    return true;
}

bool dlq_import_lines_next(struct dlq_import_lines *lines, struct span *line, struct error *error)
{
    while (next(lines, line, error)) {
        lines->number += 1;
        if (!is_blank(*line)) {
            return true;
        }
    }
    return false;
}

void dlq_import_lines_close(struct dlq_import_lines *lines)
{
    if (lines->fd > 0) {
        (void)close(lines->fd);
    }
    lines->fd = 0;
    buffer_free(&lines->line);
}
