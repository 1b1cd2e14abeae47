/* `tarry dlq import`: exported letters back into the streams. All lines are checked before the first is written. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/random.h"
#include "bridge/target.h"
#include "cli/dlq_command.h"
#include "cli/dlq_import_index.h"
#include "cli/dlq_import_lines.h"
#include "cli/dlq_import_post.h"
#include "cli/dlq_scan.h"
#include "cli/dlq_verbs.h"
#include "cli/output_progress.h"
#include "cli/verbs.h"
#include "dlq/letter_json.h"

#define WRONG_LINES_TOLD 20

struct import {
    struct dlq_command command;
    const char *path; /* NULL: standard input */
    bool as_new;
    bool execute;
    struct dlq_import_lines lines;
    struct dlq_import_index index;
    struct random random; /* for new ids */
    struct buffer room;   /* of the letter at hand */
    uint64_t letters;     /* lines that are one */
    uint64_t fresh[2];    /* to be imported, by state */
    uint64_t standing;
    uint64_t again;
    uint64_t imported;
    uint64_t failed; /* JetStream refuses them */
};

static const char *name_of(const struct import *import)
{
    return import->path == NULL ? "standard input" : import->path;
}

static uint64_t random_seed(void)
{
    uint64_t seed = 0;
    bool drawn = getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed; /* never short for so few bytes */
    return drawn ? seed : 0;
}

/* ------------------------------------------------------------------------------------------------------- a line */

static bool is_sound(const struct letter *letter, enum letter_state state, struct error *error)
{
    if (letter->target.data != NULL && !target_name_valid(letter->target)) {
        return error_set(error, ERROR_INVALID, "target: no topic can have this name");
    }
    if (letter->target.data == NULL && state == LETTER_WAITING) {
        return error_set(error, ERROR_INVALID, "target: a waiting letter needs one; or make its state parked");
    }
    return letter->attempt > 0 || error_set(error, ERROR_INVALID, "attempt: is 0; the first is 1");
}

/* The letter of a line; it borrows from `room`. */
static bool read_letter(struct span line, struct buffer *room, struct letter *letter, enum letter_state *state, struct error *error)
{
    return letter_json_read(line, room, letter, state, error) && is_sound(letter, *state, error);
}

static bool has_own_id(const struct import *import, const struct letter *letter)
{
    return !import->as_new && letter->id[0] != '\0';
}

/* ---------------------------------------------------------------------------------------------------- the checks */

/* All lines: 0, or the code to exit with, told. */
static int check_lines(struct import *import)
{
    struct span line;
    struct error error = {ERROR_NONE, ""};
    uint64_t wrong = 0;
    const struct dlq_context *context = &import->command.context;
    while (dlq_import_lines_next(&import->lines, &line, &error)) {
        struct letter letter;
        enum letter_state state;
        struct error own = {ERROR_NONE, ""};
        bool good = read_letter(line, &import->room, &letter, &state, &own);
        if (good && has_own_id(import, &letter)) {
            good = dlq_import_index_add(&import->index, &letter, state, import->lines.number) ||
                   error_set(&own, ERROR_FULL, "more than %d letters: split the file", DLQ_IMPORT_INDEX_MAX);
        }
        import->letters += good;
        wrong += !good;
        if (!good && wrong <= WRONG_LINES_TOLD) {
            dlq_context_say(context, "%s:%" PRIu64 ": %s", name_of(import), import->lines.number, own.text);
        }
        if (own.code == ERROR_FULL) {
            break;
        }
    }
    if (error.code != ERROR_NONE) {
        dlq_context_say(context, "%s: %s", name_of(import), error.text);
        return VERBS_EXIT_FAILED;
    }
    if (wrong > 0) {
        dlq_context_say(context, "%" PRIu64 " line%s no letter%s: nothing was imported", wrong, wrong == 1 ? " is" : "s are", wrong == 1 ? "" : "s");
        return VERBS_EXIT_FAILED;
    }
    dlq_import_index_sort(&import->index);
    return VERBS_EXIT_DONE;
}

static bool note_standing(void *context, const struct dlq_scan_letter *found)
{
    struct import *import = context;
    dlq_import_index_stands(&import->index, found->letter->id);
    return true;
}

/* Which of the ids stand there. 0, or the code to exit with, told. */
static int look_for_standing(struct import *import)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_scan_totals totals = {0};
    const struct dlq_context *context = &import->command.context;
    struct dlq_scan scan = {.context = context, .filter = &import->command.filter, .visit = note_standing, .visitor = import};
    if (import->index.count == 0) {
        return VERBS_EXIT_DONE;
    }
    if (!dlq_scan_look(context, &import->command.filter, &scan.bounds, &error) || !dlq_scan_run(&scan, &totals, &error)) {
        return dlq_context_failed(context, &error);
    }
    return VERBS_EXIT_DONE;
}

/* --------------------------------------------------------------------------------------------------- the writing */

/* The next letter that is to be imported, read into `room`; counts those that are not. False: no more, or an error (told nowhere yet). */
static bool next_fresh(struct import *import, struct buffer *room, struct letter *letter, enum letter_state *state, struct error *error)
{
    struct span line;
    while (dlq_import_lines_next(&import->lines, &line, error)) {
        if (!read_letter(line, room, letter, state, error)) {
            return error_prefix(error, "line %" PRIu64 " has changed since it was checked", import->lines.number);
        }
        if (!has_own_id(import, letter)) {
            letter_id(letter->id, SPAN_ABSENT, letter->group, &letter->origin, random_next(&import->random));
            import->fresh[*state] += 1;
            return true;
        }
        enum dlq_import_index_fate fate = dlq_import_index_fate(&import->index, letter, *state, import->lines.number);
        import->standing += fate == DLQ_IMPORT_INDEX_STANDS;
        import->again += fate == DLQ_IMPORT_INDEX_AGAIN;
        if (fate == DLQ_IMPORT_INDEX_NEW) {
            import->fresh[*state] += 1;
            return true;
        }
    }
    return false;
}

/* Goes over the lines again and only counts. */
static int count_fresh(struct import *import)
{
    struct letter letter;
    enum letter_state state;
    struct error error = {ERROR_NONE, ""};
    bool rewound = dlq_import_lines_rewind(&import->lines, &error);
    while (rewound && next_fresh(import, &import->room, &letter, &state, &error)) {
    }
    return error.code == ERROR_NONE ? VERBS_EXIT_DONE : dlq_context_failed(&import->command.context, &error);
}

/* The rest of the verb after a batch: false ends it. */
static bool batch_is_taken(struct import *import, struct dlq_import_post *post, struct error *error)
{
    bool taken = dlq_import_post_send(post, error);
    import->imported += post->kept;
    import->failed += post->refused;
    import->standing += post->duplicates;
    return taken;
}

static int write_fresh(struct import *import)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_import_post *post = NULL;
    const struct dlq_context *context = &import->command.context;
    int owned = dlq_context_own(&import->command.context);
    if (owned != VERBS_EXIT_DONE) {
        return owned;
    }
    struct output_progress progress = output_progress_new(import->command.output.verb, import->letters);
    bool going = dlq_import_lines_rewind(&import->lines, &error) && dlq_import_post_new(context, &post, &error);
    while (going) {
        struct dlq_import_post_place *place = dlq_import_post_place(post);
        bool more = next_fresh(import, &place->room, &place->letter, &place->state, &error);
        if (more) {
            dlq_import_post_taken(post, place, import->lines.number);
        }
        if (post->count > 0 && (!more || dlq_import_post_full(post))) {
            output_progress_at(&progress, import->imported, NULL);
            going = batch_is_taken(import, post, &error);
        }
        going = going && more;
    }
    output_progress_clear(&progress);
    dlq_import_post_free(post);
    if (error.code == ERROR_NONE) {
        return import->failed > 0 ? VERBS_EXIT_PARTLY : VERBS_EXIT_DONE;
    }
    int code = dlq_context_failed(context, &error);
    dlq_context_say(context, "%" PRIu64 " of %" PRIu64 " letters were imported%s", import->imported, import->letters,
                    import->as_new ? "; with --as-new, go on with the lines behind them" : "; run it again: those are skipped then");
    return import->imported > 0 ? VERBS_EXIT_PARTLY : code;
}

/* ------------------------------------------------------------------------------------------------------- the end */

static void say_text(const struct import *import)
{
    uint64_t fresh = import->fresh[LETTER_WAITING] + import->fresh[LETTER_PARKED];
    if (import->execute) {
        printf("imported %" PRIu64 " letters", import->imported);
    } else {
        printf("would import %" PRIu64 " letters (%" PRIu64 " waiting, %" PRIu64 " parked)", fresh, import->fresh[LETTER_WAITING],
               import->fresh[LETTER_PARKED]);
    }
    if (import->standing > 0) {
        printf(", %" PRIu64 " stand%s there already", import->standing, import->execute ? "" : import->standing == 1 ? "s" : "");
    }
    if (import->again > 0) {
        printf(", %" PRIu64 " stand%s in the file twice", import->again, import->again == 1 ? "s" : "");
    }
    if (import->failed > 0) {
        printf(", %" PRIu64 " refused", import->failed);
    }
    printf(import->execute || fresh == 0 ? "\n" : "; --execute does it\n");
}

static bool say(struct import *import)
{
    if (import->command.output.format == OUTPUT_TABLE) {
        say_text(import);
        return output_end(&import->command.output);
    }
    struct buffer json = buffer_new(1024);
    buffer_add_format(&json,
                      "{\"executed\":%s,\"letters\":%" PRIu64 ",\"waiting\":%" PRIu64 ",\"parked\":%" PRIu64 ",\"imported\":%" PRIu64
                      ",\"already\":%" PRIu64 ",\"twice\":%" PRIu64 ",\"refused\":%" PRIu64 "}",
                      import->execute ? "true" : "false", import->letters, import->fresh[LETTER_WAITING], import->fresh[LETTER_PARKED],
                      import->imported, import->standing, import->again, import->failed);
    output_item(&import->command.output, buffer_span(&json));
    buffer_free(&json);
    return output_end(&import->command.output);
}

static int run(struct import *import)
{
    struct error error = {ERROR_NONE, ""};
    if (!dlq_import_lines_open(&import->lines, import->path, &error)) {
        return dlq_context_failed(&import->command.context, &error);
    }
    int code = check_lines(import);
    code = code == VERBS_EXIT_DONE ? dlq_command_open(&import->command) : code;
    code = code == VERBS_EXIT_DONE ? look_for_standing(import) : code;
    if (code != VERBS_EXIT_DONE) {
        return code;
    }
    code = import->execute ? write_fresh(import) : count_fresh(import);
    if (code == VERBS_EXIT_DONE || code == VERBS_EXIT_PARTLY) {
        code = say(import) ? code : VERBS_EXIT_FAILED;
    }
    return code;
}

static enum options_result take(void *owner, int argc, char **argv, int *index)
{
    struct import *import = owner;
    const char *argument = argv[*index];
    (void)argc;
    bool *flag = strcmp(argument, "--as-new") == 0 ? &import->as_new : strcmp(argument, "--execute") == 0 ? &import->execute : NULL;
    bool file = import->path == NULL && argument[0] != '\0' && (argument[0] != '-' || argument[1] == '\0');
    if (flag == NULL && !file) {
        return OPTIONS_UNKNOWN;
    }
    if (flag != NULL) {
        *flag = true;
    } else {
        import->path = argument;
    }
    *index += 1;
    return OPTIONS_TAKEN;
}

int dlq_import_run(int argc, char **argv)
{
    struct import import = {
        .command = dlq_command_new("dlq import"), .random = random_new(random_seed()), .room = buffer_new(DLQ_IMPORT_POST_ROOM)};
    import.command.takes_filter = false;
    int code = dlq_command_flags(&import.command, argc, argv, take, &import);
    if (code == VERBS_EXIT_DONE && import.path == NULL && isatty(STDIN_FILENO) == 1) {
        dlq_context_say(&import.command.context, "which file? Give its name, or - for standard input; see `tarry dlq import --help`");
        code = VERBS_EXIT_USAGE;
    }
    import.path = import.path != NULL && strcmp(import.path, "-") == 0 ? NULL : import.path;
    code = code == VERBS_EXIT_DONE ? run(&import) : code;
    dlq_import_lines_close(&import.lines);
    dlq_import_index_free(&import.index);
    buffer_free(&import.room);
    dlq_command_free(&import.command);
    return code;
}
