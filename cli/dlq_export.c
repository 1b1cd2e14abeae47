/* `tarry dlq export`: letters as JSON lines, exact to the byte, to be imported again. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/dlq_command.h"
#include "cli/dlq_scan.h"
#include "cli/dlq_verbs.h"
#include "cli/output_progress.h"
#include "cli/verbs.h"
#include "dlq/letter_json.h"
#include "ops/config_value.h"

#define JSON_MAX ((size_t)2 * 1024 * 1024 * 1024)

struct export {
    struct dlq_command command;
    const char *path; /* NULL: standard output */
    FILE *file;
    struct output_progress progress;
    struct buffer json;
    uint64_t passed;
    uint64_t written;
    uint64_t left_out;
};

static bool visit(void *context, const struct dlq_scan_letter *found)
{
    struct export *export = context;
    struct error error = {ERROR_NONE, ""};
    buffer_clear(&export->json);
    bool whole = !found->record_missing; /* that it is missing was told */
    if (whole && !letter_json_write(&export->json, found->letter, found->state, true, &error)) {
        output_progress_clear(&export->progress);
        dlq_context_say(&export->command.context, "letter %s is left out: %s", found->letter->id, error.text);
        whole = false;
    }
    if (!whole) {
        export->left_out += 1;
        return true;
    }
    struct span json = buffer_span(&export->json);
    export->written += 1;
    return fwrite(json.data, 1, json.length, export->file) == json.length && fputc('\n', export->file) != EOF;
}

static void at(void *context, enum letter_state state, uint64_t sequence)
{
    struct export *export = context;
    (void)state;
    (void)sequence;
    export->passed += 1;
    output_progress_at(&export->progress, export->passed, NULL);
}

/* False: told. */
static bool open_file(struct export *export)
{
    export->file = stdout;
    if (export->path == NULL) {
        return true;
    }
    int fd = open(export->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    export->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (export->file == NULL) {
        const char *remedy = errno == EEXIST ? "; choose another name, or remove it" : "";
        dlq_context_say(&export->command.context, "%s: %s%s", config_value_show(export->path).text, strerror(errno), remedy);
    }
    return export->file != NULL;
}

/* Everything is on disk, or it is told and the file is gone: half an export would look like a whole one. */
static bool close_file(struct export *export, bool whole)
{
    bool flushed = fflush(export->file) == 0 && ferror(export->file) == 0;
    if (export->path == NULL) {
        if (!flushed) {
            dlq_context_say(&export->command.context, "the output could not be written whole");
        }
        return flushed;
    }
    flushed = flushed && fsync(fileno(export->file)) == 0;
    flushed = fclose(export->file) == 0 && flushed;
    if (!flushed) {
        dlq_context_say(&export->command.context, "%s could not be written whole, and was removed", config_value_show(export->path).text);
    }
    if (!flushed || !whole) {
        (void)unlink(export->path);
    }
    return flushed;
}

static int run(struct export *export)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_scan_totals totals = {0};
    char count[OUTPUT_COUNT_SIZE];
    const struct dlq_context *context = &export->command.context;
    struct dlq_scan scan = {
        .context = context, .filter = &export->command.filter, .records = true, .visit = visit, .visitor = export, .at = at};
    if (!dlq_scan_look(context, &export->command.filter, &scan.bounds, &error)) {
        return dlq_context_failed(context, &error);
    }
    if (!open_file(export)) {
        return VERBS_EXIT_FAILED;
    }
    uint64_t total = scan.bounds.of[LETTER_WAITING].messages + scan.bounds.of[LETTER_PARKED].messages;
    export->progress = output_progress_new(export->command.output.verb, total);
    bool done = dlq_scan_run(&scan, &totals, &error);
    output_progress_clear(&export->progress);
    bool written = close_file(export, done);
    if (!done) {
        return dlq_context_failed(context, &error);
    }
    if (!written) {
        return VERBS_EXIT_FAILED;
    }
    output_count(export->written, count);
    dlq_context_say(context, "%s letter%s written", count, export->written == 1 ? "" : "s");
    int code = dlq_scan_exit(context, &totals);
    return export->left_out > 0 ? VERBS_EXIT_PARTLY : code;
}

static enum options_result take(void *owner, int argc, char **argv, int *index)
{
    struct export *export = owner;
    const char *value = NULL;
    const char *flag = argv[*index];
    if (options_value(argc, argv, index, "-O", &value) || options_value(argc, argv, index, "--output-file", &value)) {
        if (value == NULL || value[0] == '\0') {
            dlq_context_say(&export->command.context, "-O needs the name of a file");
            return OPTIONS_WRONG;
        }
        export->path = strcmp(value, "-") == 0 ? NULL : value;
        return OPTIONS_TAKEN;
    }
    if (strncmp(flag, "-o", 2) == 0 || strncmp(flag, "--output", 8) == 0) {
        dlq_context_say(&export->command.context, "an export is always JSON lines; -O FILE names the file");
        return OPTIONS_WRONG;
    }
    return OPTIONS_UNKNOWN;
}

int dlq_export_run(int argc, char **argv)
{
    struct export export = {.command = dlq_command_new("dlq export"), .json = buffer_new(JSON_MAX)};
    int code = dlq_command_flags(&export.command, argc, argv, take, &export);
    code = code == VERBS_EXIT_DONE ? dlq_command_open(&export.command) : code;
    code = code == VERBS_EXIT_DONE ? run(&export) : code;
    buffer_free(&export.json);
    dlq_command_free(&export.command);
    return code;
}
