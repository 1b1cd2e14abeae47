/* `tarry dlq edit`: a parked copy of a letter with something changed. */
#include <stdio.h>
#include <string.h>

#include "cli/dlq_apart.h"
#include "cli/dlq_command.h"
#include "cli/dlq_edit_change.h"
#include "cli/dlq_scan.h"
#include "cli/dlq_verbs.h"
#include "cli/verbs.h"
#include "dlq/letter_json.h"
#include "dlq/mailer.h"
#include "dlq/reader.h"
#include "ops/clock.h"

#define LETTER_MAX ((size_t)1024 * 1024 * 1024)

struct edit {
    struct dlq_command command;
    const char *id;
    struct dlq_edit_change change;
    bool execute;
    bool replace;
    struct buffer letter; /* the one found, whole */
    uint64_t found;
    enum letter_state state;
    uint64_t sequence;
    int64_t created_ms; /* of its stream */
    bool apart;
    char old_id[LETTER_ID_SIZE];
    struct error error;
};

static enum options_result take(void *owner, int argc, char **argv, int *index)
{
    struct edit *edit = owner;
    const char *argument = argv[*index];
    if (strcmp(argument, "--execute") == 0) {
        edit->execute = true;
    } else if (strcmp(argument, "--replace") == 0) {
        edit->replace = true;
    } else if (argument[0] != '-' && edit->id == NULL) {
        edit->id = argument;
    } else {
        return dlq_edit_change_take(&edit->change, argc, argv, index);
    }
    *index += 1;
    return OPTIONS_TAKEN;
}

/* Keeps the first one; counts all. */
static bool visit(void *visitor, const struct dlq_scan_letter *found)
{
    struct edit *edit = visitor;
    edit->found += 1;
    if (edit->found > 1) {
        return false;
    }
    struct letter whole = *found->letter;
    whole.parts = 0;
    whole.parts_bytes = 0;
    whole.parts_hash = 0;
    edit->state = found->state;
    edit->sequence = found->sequence;
    edit->apart = found->letter->parts > 0;
    memcpy(edit->old_id, found->letter->id, sizeof edit->old_id);
    if (found->record_missing) {
        return error_set(&edit->error, ERROR_CORRUPT, "the record of letter %s could not be loaded", edit->old_id);
    }
    return letter_encode(&edit->letter, &whole, &edit->error);
}

static int find(struct edit *edit)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_scan scan = {.context = &edit->command.context, .filter = &edit->command.filter, .records = true, .visit = visit, .visitor = edit};
    struct dlq_scan_totals totals;
    if (!dlq_scan_look(scan.context, scan.filter, &scan.bounds, &error) || !dlq_scan_run(&scan, &totals, &error)) {
        return dlq_context_failed(scan.context, &error);
    }
    if (edit->error.code != ERROR_NONE) {
        return dlq_context_failed(scan.context, &edit->error);
    }
    edit->created_ms = scan.bounds.of[edit->state].created_ms;
    if (edit->found == 1) {
        return VERBS_EXIT_DONE;
    }
    dlq_context_say(scan.context, edit->found == 0 ? "no letter has the id %s" : "more than one letter has the id %s: give the letter's own, or --state", edit->id);
    return edit->found == 0 ? VERBS_EXIT_PARTLY : VERBS_EXIT_USAGE;
}

static bool print(struct edit *edit, const struct letter *letter)
{
    struct error error = {ERROR_NONE, ""};
    struct buffer json = buffer_new(2 * LETTER_MAX);
    bool printed = letter_json_write(&json, letter, LETTER_PARKED, true, &error);
    if (printed) {
        printed = fwrite(json.data, 1, json.length, stdout) == json.length && fputs("\n", stdout) >= 0 && fflush(stdout) == 0;
    }
    if (!printed) {
        dlq_context_say(&edit->command.context, "the letter could not be printed: %s", error.code == ERROR_NONE ? "the output could not be written whole" : error.text);
    }
    buffer_free(&json);
    return printed;
}

/* The old one goes when the new one is there. */
static bool remove_old(struct edit *edit, struct error *error)
{
    bool gone = false;
    struct dlq_apart apart = {0};
    const struct dlq_context *context = &edit->command.context;
    if (edit->apart) {
        dlq_apart_add(&apart, edit->old_id);
    }
    const struct reader_stream stream = {dlq_context_stream(context, edit->state), edit->created_ms};
    bool removed = reader_remove(context->link, &stream, &edit->sequence, 1, DLQ_CONTEXT_TIMEOUT_MS, &gone, error) &&
                   dlq_apart_sweep(&apart, context, error);
    dlq_apart_free(&apart);
    return removed;
}

static int post(struct edit *edit, const struct letter *letter)
{
    struct error error = {ERROR_NONE, ""};
    const struct dlq_context *context = &edit->command.context;
    struct streams_findings findings;
    if (!streams_ensure(context->link, &context->streams, DLQ_CONTEXT_TIMEOUT_MS, &findings, &error)) {
        return dlq_context_failed(context, &error);
    }
    struct mailer_item item = {.letter = letter, .state = LETTER_PARKED};
    struct mailer *mailer = mailer_new(context->link, &context->streams);
    mailer_post(mailer, &item, 1, DLQ_CONTEXT_TIMEOUT_MS);
    mailer_free(mailer);
    if (item.result != MAILER_KEPT) {
        (void)error_set(&error, item.result == MAILER_UNAVAILABLE ? ERROR_UNAVAILABLE : ERROR_FULL, "the copy was not kept: %s", item.error);
        return dlq_context_failed(context, &error);
    }
    if (edit->replace && !remove_old(edit, &error)) {
        (void)error_prefix(&error, "copy %s is parked, and the old letter %s stays", letter->id, edit->old_id);
        return dlq_context_failed(context, &error);
    }
    dlq_context_say(context, "letter %s is parked; the old one, %s, %s", letter->id, edit->old_id, edit->replace ? "is gone" : "stays");
    return VERBS_EXIT_DONE;
}

static int change(struct edit *edit)
{
    struct letter letter;
    struct error error = {ERROR_NONE, ""};
    if (!letter_decode(buffer_span(&edit->letter), &letter, &error) || !dlq_edit_change_apply(&edit->change, &letter, &error)) {
        return dlq_context_failed(&edit->command.context, &error);
    }
    letter_id(letter.id, SPAN_ABSENT, letter.group, &letter.origin, clock_mono_us() ^ (uint64_t)clock_wall().ms << 20);
    if (!print(edit, &letter)) {
        return VERBS_EXIT_FAILED;
    }
    if (edit->execute) {
        int code = dlq_context_own(&edit->command.context);
        return code == VERBS_EXIT_DONE ? post(edit, &letter) : code;
    }
    dlq_context_say(&edit->command.context, "nothing was done: --execute parks this copy of %s", edit->old_id);
    return VERBS_EXIT_DONE;
}

static int run(struct edit *edit, int argc, char **argv)
{
    int code = dlq_command_flags(&edit->command, argc, argv, take, edit);
    if (code == VERBS_EXIT_DONE && edit->id == NULL) {
        dlq_context_say(&edit->command.context, "which letter? Give its id; see `tarry dlq list`");
        code = VERBS_EXIT_USAGE;
    }
    if (code == VERBS_EXIT_DONE && !dlq_filter_add_id(&edit->command.filter, edit->id)) {
        code = VERBS_EXIT_USAGE;
    }
    code = code == VERBS_EXIT_DONE ? dlq_command_open(&edit->command) : code;
    code = code == VERBS_EXIT_DONE ? find(edit) : code;
    return code == VERBS_EXIT_DONE ? change(edit) : code;
}

int dlq_edit_run(int argc, char **argv)
{
    struct edit edit = {
        .command = dlq_command_new("dlq edit"), .change = dlq_edit_change_new("dlq edit"), .letter = buffer_new(LETTER_MAX)};
    int code = run(&edit, argc, argv);
    dlq_command_free(&edit.command);
    dlq_edit_change_free(&edit.change);
    buffer_free(&edit.letter);
    return code;
}
