/* What comes again: cron expressions and zones, read once and kept, and what follows a firing (scheduler/recurrence.h). */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/refusal.h"
#include "ops/daemon_state.h"

#define CRONS 4096 /* a million schedules share few expressions; one that is not here is read again */

struct daemon_cron {
    uint16_t length; /* 0: nothing is here */
    char text[DECODE_CRON_MAX];
    struct cron cron;
};

/* NULL: it is none; problem says why. Borrowed until the next call. */
static const struct cron *find_cron(struct daemon *daemon, struct span text, char problem[CRON_PROBLEM_SIZE])
{
    if (daemon->crons == NULL) {
        daemon->crons = memory_new(CRONS, sizeof(*daemon->crons));
    }
    struct daemon_cron *kept = &daemon->crons[daemon_ids_place(text.data, text.length) % CRONS];
    if (text.length > 0 && kept->length == text.length && memcmp(kept->text, text.data, text.length) == 0) {
        return &kept->cron;
    }
    struct cron cron;
    if (text.length > sizeof(kept->text) || !cron_parse(text, &cron, problem, CRON_PROBLEM_SIZE)) {
        return NULL;
    }
    kept->length = (uint16_t)text.length;
    memcpy(kept->text, text.data, text.length);
    kept->cron = cron;
    return &kept->cron;
}

static bool find_zone(struct daemon *daemon, struct span name, const struct zone **zone, struct error *error)
{
    *zone = NULL;
    return name.data == NULL || zones_get(daemon->zones, name, daemon->now.mono, zone, error);
}

static bool refuse(struct refusal *refusal, struct span value, const char *field, const char *problem)
{
    return refusal_set(refusal, REFUSAL_BAD_SCHEDULE, "header %s is %s: %s", field, refusal_show(value).text, problem);
}

/* What this host's zones have no say in. Fills all but zone, offset_ms and runs. */
static bool load_pure(struct daemon *daemon, const struct decoded_recurrence *given, struct recurrence *recurrence, struct refusal *refusal)
{
    char problem[CRON_PROBLEM_SIZE] = "";
    *recurrence = (struct recurrence){.kind = RECURRENCE_EVERY, .every_ms = given->every_ms, .until_ms = given->until_ms, .count = (uint64_t)given->count};
    if (given->kind == DECODE_RECURRENCE_NONE) {
        recurrence->kind = RECURRENCE_NONE;
    }
    if (given->kind != DECODE_RECURRENCE_CRON) {
        return true;
    }
    recurrence->kind = RECURRENCE_CRON;
    recurrence->every_ms = 0;
    recurrence->cron = find_cron(daemon, given->cron, problem);
    return recurrence->cron != NULL || refuse(refusal, given->cron, "tarry-cron", problem);
}

/* Fills all but offset_ms and runs. */
static bool load(struct daemon *daemon, const struct decoded_recurrence *given, struct recurrence *recurrence, struct refusal *refusal)
{
    struct error error = {0};
    if (!load_pure(daemon, given, recurrence, refusal)) {
        return false;
    }
    return recurrence->kind != RECURRENCE_CRON || find_zone(daemon, given->zone, &recurrence->zone, &error) ||
           refuse(refusal, given->zone, "tarry-tz", error.text);
}

/* A record's lane must be the same whoever reads it, and whenever (R8): so nothing here asks for the zone's file. That one is missing is found when it is
 * needed. */
bool daemon_schedules_check(struct daemon *daemon, const struct decoded *decoded, struct refusal *refusal)
{
    struct recurrence recurrence;
    return load_pure(daemon, &decoded->recurrence, &recurrence, refusal);
}

static bool load_row(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, struct recurrence *recurrence)
{
    struct refusal refusal;
    int64_t root = row->root >= 0 ? row->root : offset;
    if (!load(daemon, &row->decoded.recurrence, recurrence, &refusal)) {
        daemon_log_unreadable(daemon, partition, row, root, refusal.text);
        return false;
    }
    recurrence->offset_ms = decode_spread_offset_ms(&daemon->sources[partition->source_index].rules, row->decoded.id, partition->number, root);
    recurrence->runs = (uint64_t)row->decoded.recurrence.runs;
    return true;
}

/* Counted from when a person wrote it, so that one that has passed while nobody read is a misfire like any other. */
bool daemon_schedules_first(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, int64_t *due_ms)
{
    struct recurrence recurrence;
    int64_t written_ms = row->root >= 0 ? row->root_timestamp_ms : row->record.timestamp_ms;
    return load_row(daemon, partition, row, offset, &recurrence) &&
           recurrence_first(&recurrence, written_ms >= 0 ? written_ms : daemon->now.wall.ms, due_ms);
}

bool daemon_schedules_step(struct daemon *daemon, const struct partition *partition, const struct row *row, int64_t offset, struct recurrence_step *step)
{
    struct recurrence recurrence;
    if (!load_row(daemon, partition, row, offset, &recurrence)) {
        return false;
    }
    recurrence_step(&recurrence, daemon->sources[partition->source_index].misfire, row->decoded.due_ms, daemon->now.wall.ms, step);
    bool expires = row->decoded.expires_ms >= 0 && step->next_due_ms >= row->decoded.expires_ms;
    step->finished = step->finished || expires; /* nobody wants the next: else each would become a letter, for ever */
    return true;
}
