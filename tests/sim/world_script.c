/* Scenarios: a text of one directive a line, as README.md says; settings first, then what happens and what is expected. */
#include "tests/sim/world_script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static _Noreturn void broken(const struct world *world, const struct script_line *line, const char *why)
{
    world_say_broken(world, "%s:%d: %s", world->script->path, line->number, why);
}

/* ------------------------------------------------------------------------------------------------- reading */

static void take_apart(struct script_line *line, char *text)
{
    line->word_count = 0;
    for (char *at = text; *at != '\0' && *at != '#' && *at != '\n';) {
        size_t blanks = strspn(at, " \t");
        size_t length = strcspn(at + blanks, " \t\n#");
        if (length > 0 && line->word_count < SCRIPT_WORDS_MAX) {
            line->words[line->word_count++] = strndup(at + blanks, length);
        }
        at += blanks + length;
    }
}

struct world_script *world_script_read(const char *path)
{
    struct world_script *script = memory_new(1, sizeof(*script));
    script->path = path;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    char *text = NULL;
    size_t room = 0;
    for (int number = 1; getline(&text, &room, file) >= 0; number++) {
        struct script_line line = {.number = number};
        take_apart(&line, text);
        if (line.word_count > 0) {
            GROW_FOR_ONE(script->lines, script->count, script->capacity);
            script->lines[script->count++] = line;
        }
    }
    free(text);
    (void)fclose(file);
    return script;
}

void world_script_free(struct world_script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        for (size_t j = 0; j < script->lines[i].word_count; j++) {
            free(script->lines[i].words[j]);
        }
    }
    free(script->lines);
    free(script);
}

/* ------------------------------------------------------------------------------------------ words of a line */

const char *world_script_value(const struct script_line *line, const char *name)
{
    for (size_t i = 1; i + 1 < line->word_count; i++) {
        if (strcmp(line->words[i], name) == 0) {
            return line->words[i + 1];
        }
    }
    return NULL;
}

static bool is(const struct script_line *line, const char *verb)
{
    return strcmp(line->words[0], verb) == 0;
}

/* A number, or a time with its unit: 5000, 5s, 3m, 2h, 30d, 1y. */
static int64_t parse(const struct world *world, const struct script_line *line, const char *text)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"", 1},        {"ms", 1},      {"s", SECOND_MS},     {"m", MINUTE_MS},
                 {"h", HOUR_MS}, {"d", DAY_MS},  {"y", 365 * DAY_MS}};
    char *end = NULL;
    int64_t number = strtoll(text, &end, 10);
    for (size_t i = 0; end != text && i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].unit) == 0) {
            return number * units[i].ms;
        }
    }
    broken(world, line, "a number is expected");
}

int64_t world_script_number(const struct world *world, const struct script_line *line, const char *name, int64_t none)
{
    const char *text = world_script_value(line, name);
    return text == NULL ? none : parse(world, line, text);
}

static int64_t first(const struct world *world, const struct script_line *line, int64_t below)
{
    int64_t number = line->word_count < 2 ? -1 : parse(world, line, line->words[1]);
    if (number < 0 || number >= below) {
        broken(world, line, "no such one");
    }
    return number;
}

static uint32_t id_of(const struct world *world, const struct script_line *line)
{
    const char *name = world_script_value(line, "id");
    if (name == NULL) {
        return 0;
    }
    if (name[1] != '\0' || name[0] < 'a' || name[0] > 'z') {
        broken(world, line, "an id is a letter");
    }
    return (uint32_t)(name[0] - 'a' + 1);
}

/* ------------------------------------------------------------------------------------------------ settings */

struct field {
    const char *name;
    size_t at;
    size_t size;
};
#define OPTION(name) {#name, offsetof(struct core_options, name), sizeof(((struct core_options *)0)->name)}

static void set_option(struct world *world, const struct script_line *line)
{
    static const struct field fields[] = {
        OPTION(entries_max),         OPTION(late_max),           OPTION(old_pairs_max),
        OPTION(step_records_max),    OPTION(scan_rows_max),      OPTION(split_rows_max),
        OPTION(erase_rows_max),
        OPTION(unwritten_bytes_max), OPTION(unwritten_rows_max), OPTION(window_ms),
        OPTION(checkpoint_ms),       OPTION(commit_ms),          OPTION(retry_ms),
        OPTION(retry_max_ms),        OPTION(unknown_topic_grace_ms), OPTION(store_retry_ms),
        OPTION(transaction_records_max), OPTION(transaction_fill_ms), OPTION(span_max),
        OPTION(copy_rows_max),       OPTION(copy_ms),            OPTION(letter_later_ms),
        OPTION(catch_up_per_s)};
    for (size_t i = 0; line->word_count == 3 && i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (strcmp(fields[i].name, line->words[1]) == 0) {
            int64_t value = parse(world, line, line->words[2]);
            int32_t small = (int32_t)value;
            char *at = (char *)&world->options + fields[i].at;
            memcpy(at, fields[i].size == sizeof(small) ? (void *)&small : (void *)&value, fields[i].size);
            return;
        }
    }
    broken(world, line, "no such option");
}

static bool set(struct world *world, const struct script_line *line)
{
    struct world_traits *traits = &world->traits;
    if (is(line, "partitions")) {
        traits->partitions = (int)first(world, line, WORLD_PARTITIONS_MAX + 1);
    } else if (is(line, "instances")) {
        traits->instances = (int)first(world, line, WORLD_INSTANCES_MAX + 1);
    } else if (is(line, "lanes")) {
        traits->lanes = (int)first(world, line, WORLD_LANES_MAX + 1);
    } else if (is(line, "latency")) {
        traits->latency_ms = first(world, line, INT64_MAX);
    } else if (is(line, "decides")) {
        traits->deciding = (int)first(world, line, WORLD_LANES_MAX);
        traits->lanes = traits->lanes > traits->deciding ? traits->lanes : traits->deciding + 1;
    } else if (is(line, "dedupe")) {
        traits->dedupe_ms = first(world, line, INT64_MAX);
    } else if (is(line, "topics")) {
        traits->topics_at = first(world, line, INT64_MAX);
    } else if (is(line, "timeout")) {
        traits->timeout_ms = first(world, line, INT64_MAX);
    } else if (is(line, "option")) {
        set_option(world, line);
    } else if (is(line, "delivery") && line->word_count == 2) {
        world->options.exactly_once = strcmp(line->words[1], "exactly_once") == 0;
    } else if (is(line, "in_flight")) {
        for (int i = 0; i < WORLD_LANES_MAX; i++) {
            world->lane_options[i].max_in_flight = (uint32_t)first(world, line, 1000001);
        }
    } else {
        return false;
    }
    return true;
}

void world_script_options(struct world *world)
{
    world->traits = (struct world_traits){
        .partitions = 1, .instances = 1, .lanes = 1, .latency_ms = 1, .timeout_ms = 10 * SECOND_MS, .topics_at = TIME_NEVER, .tight_stats = true,
        .validate_every = 1, .deciding = -1};
    core_options_default(&world->options);
    for (int i = 0; i < WORLD_LANES_MAX; i++) {
        world->lane_options[i] =
            (struct core_lane_options){.max_in_flight = 1000, .max_in_flight_bytes = 1 << 20, .catches_up = true};
    }
    for (size_t i = 0; i < world->script->count; i++) {
        (void)set(world, &world->script->lines[i]);
    }
    world->traits.misfire_ms = INT64_MAX;
    if (world->traits.deciding >= 0) {
        world->lane_options[world->traits.deciding].decides = true;
    }
}

/* -------------------------------------------------------------------------------------------- what happens */

static void add_schedule(struct world *world, const struct script_line *line, struct world_record *record)
{
    record->timestamp_ms = WORLD_WALL_0 + world->now;
    record->schedule = (struct world_schedule){
        .nominal_ms = record->due_ms,
        .every_ms = world_script_number(world, line, "period", 0),
        .until_ms = -1,
        .count = (uint32_t)world_script_number(world, line, "runs", 1),
        .conditional = world_script_value(line, "if") != NULL,
        .unwritable = world_script_value(line, "again") != NULL,
        .lane = record->lane,
    };
    record->schedule.undecided = record->schedule.conditional;
    if (record->schedule.undecided && world->traits.deciding < 0) {
        broken(world, line, "no lane decides");
    }
    world_schedules_place(world, record);
}

static void write_record(struct world *world, const struct script_line *line, int64_t turn)
{
    const char *target = world_script_value(line, "target");
    int partition = (int)world_script_number(world, line, "partition", 0);
    bool cancel = is(line, "cancel");
    struct world_record record = {
        .due_ms = cancel ? 0 : WORLD_WALL_0 + world_script_number(world, line, "due", 0) +
                                   turn * world_script_number(world, line, "apart", 0),
        .bytes = cancel ? 0 : (uint32_t)world_script_number(world, line, "bytes", 10),
        .lane = (lane_index)world_script_number(world, line, "lane", 0),
        .id = id_of(world, line),
        .cancel = cancel,
        .root = -1,
        .target = target == NULL                     ? TARGET_GOOD
                  : strcmp(target, "unknown") == 0 ? TARGET_UNKNOWN
                                                   : TARGET_FAULT,
    };
    add_schedule(world, line, &record);
    const char *foreign = world_script_value(line, "foreign");
    if (foreign != NULL) {
        world_log_foreign(world, partition, &record, world_script_number(world, line, "open", 1000),
                          strcmp(foreign, "commits") == 0);
    } else {
        (void)world_log_append(world, partition, &record);
    }
    world->partitions[partition].log_end += world_script_number(world, line, "hole", 0);
    world_log_wake(world, partition);
}

static void crash(struct world *world, const struct script_line *line)
{
    int number = (int)first(world, line, world->traits.instances);
    struct world_instance *instance = &world->instances[number];
    const char *disk = world_script_value(line, "disk");
    world_faults_crash(world, number, world_script_number(world, line, "back", 1000));
    if (disk != NULL && strcmp(disk, "lost") == 0) {
        world_disk_free(&instance->disk);
    } else if (disk != NULL && strcmp(disk, "stale") == 0) {
        world_disk_copy(&instance->disk, &instance->old_disk);
    }
}

static void turn_lane(struct world *world, const struct script_line *line)
{
    int lane = (int)first(world, line, world->traits.lanes);
    const char *paused = world_script_value(line, "paused");
    world->lane_down_until[lane] = world->now + world_script_number(world, line, "down", 0);
    for (int i = 0; paused != NULL && i < world->traits.instances; i++) {
        struct world_instance *instance = &world->instances[i];
        world->lane_options[lane].paused = strcmp(paused, "yes") == 0;
        instance->paused[lane] = world->lane_options[lane].paused;
        if (instance->alive) {
            instance->touched = true;
            core_lane_change(instance->core, (lane_index)lane, &world->lane_options[lane]);
        }
    }
}

static void turn_clock(struct world *world, const struct script_line *line)
{
    struct world_instance *instance = &world->instances[first(world, line, world->traits.instances)];
    int64_t offset = world_script_number(world, line, "to", TIME_NEVER);
    world_clock_set(world, instance, offset, (int32_t)world_script_number(world, line, "speed", instance->wall_permille));
}

static void turn_slot(struct world *world, const struct script_line *line)
{
    struct world_instance *instance = &world->instances[first(world, line, world->traits.instances)];
    int partition = (int)world_script_number(world, line, "partition", 0);
    for (int i = 0; i < WORLD_PARTITIONS_MAX; i++) {
        struct world_slot *slot = &instance->slots[i];
        if (!slot->held || slot->partition != partition) {
            continue;
        }
        if (is(line, "lose")) {
            world_shell_lose(world, instance, i);
        } else if (is(line, "reading") && !slot->reading_stopped) {
            slot->reading_stopped = true;
            instance->forget[partition] = true;
            (void)world_shell_input(instance, INPUT_READING_STOPPED, i, slot->epoch);
        } else if (is(line, "leave") && !slot->leaving) {
            slot->leaving = true;
            (void)world_shell_input(instance, INPUT_SLOT_LEAVING, i, slot->epoch);
        } else if (is(line, "retention")) {
            world_shell_input(instance, INPUT_RETENTION, i, slot->epoch)->as.retention.offset =
                world_script_number(world, line, "below", 0);
        } else if (is(line, "steer")) {
            bool waits = world_script_value(line, "wait") != NULL;
            int64_t due_ms = WORLD_WALL_0 + world_script_number(world, line, waits ? "wait" : "due", 0);
            world_steer_ask(world, instance->number, i, id_of(world, line), waits ? STEER_PAUSE : STEER_MOVE, due_ms);
        } else if (is(line, "pause") || is(line, "resume")) {
            world_steer_pause(world, instance->number, i, (int)world_script_number(world, line, "lane", 0), is(line, "pause"));
        }
    }
}

static void slow_down(struct world *world, const struct script_line *line)
{
    static const struct {
        const char *name;
        enum event_kind kind;
    } kinds[] = {{"poll", EVENT_POLL},     {"report", EVENT_REPORT},       {"scan", EVENT_SCAN},
                 {"write", EVENT_WRITE},   {"written", EVENT_WRITTEN},     {"commit", EVENT_COMMIT},
                 {"committed", EVENT_COMMITTED}, {"gain", EVENT_GAIN},     {"end", EVENT_TRANSACTION_END},
                 {"known", EVENT_TRANSACTION_KNOWN}, {"marker", EVENT_TRANSACTION_MARK}};
    for (size_t i = 0; line->word_count > 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(line->words[1], kinds[i].name) == 0) {
            world->slow_ms[kinds[i].kind] = parse(world, line, line->words[2]);
            return;
        }
    }
    broken(world, line, "no such answer");
}

static void stop(struct world *world, const struct script_line *line)
{
    struct world_instance *instance = &world->instances[first(world, line, world->traits.instances)];
    if (instance->alive && !instance->stopping) {
        instance->stopping = true;
        instance->stop_at = world->now;
        (void)world_shell_input(instance, INPUT_STOP, 0, 0);
    }
}

static void freeze(struct world *world, const struct script_line *line)
{
    int64_t away = world_script_number(world, line, "for", 1000);
    world_faults_freeze(world, (int)first(world, line, world->traits.instances),
                        world_script_number(world, line, "fence", away), away);
}

static void save_disk(struct world *world, const struct script_line *line)
{
    struct world_instance *instance = &world->instances[first(world, line, world->traits.instances)];
    world_disk_copy(&instance->old_disk, &instance->disk);
}

static void turn_letters(struct world *world, const struct script_line *line)
{
    world->letters_down_until = world->now + world_script_number(world, line, "down", 0);
    world->letters_unsaid_next = (uint32_t)world_script_number(world, line, "unsaid", 0);
}

static void change(struct world *world, const struct script_line *line)
{
    if (is(line, "owner")) {
        world->preferred = (int)first(world, line, world->traits.instances);
    } else if (is(line, "abort")) {
        world->aborts_next = (uint32_t)first(world, line, INT32_MAX);
    } else if (is(line, "refuse")) {
        world->refusals_next = (uint32_t)first(world, line, INT32_MAX);
    } else {
        world->store_full_until = world->now + first(world, line, INT64_MAX);
    }
}

static const struct verb {
    const char *name;
    void (*run)(struct world *world, const struct script_line *line);
} verbs[] = {{"crash", crash},     {"lane", turn_lane},   {"clock", turn_clock},     {"lose", turn_slot},
             {"leave", turn_slot}, {"slow", slow_down},   {"retention", turn_slot},  {"stop", stop},
             {"steer", turn_slot}, {"pause", turn_slot},  {"resume", turn_slot},   {"reading", turn_slot},
             {"freeze", freeze},   {"save", save_disk},   {"owner", change},         {"abort", change},
             {"refuse", change},   {"full", change},      {"letters", turn_letters},      {"expect", world_script_expect}};

void world_script_event(struct world *world, const struct event *event)
{
    const struct script_line *line = &world->script->lines[event->sequence];
    world_say(world, "line %d: %s", line->number, line->words[0]);
    if (is(line, "produce") || is(line, "cancel")) {
        write_record(world, line, event->code);
        return;
    }
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (is(line, verbs[i].name)) {
            verbs[i].run(world, line);
            return;
        }
    }
    broken(world, line, "no such directive");
}

void world_script_begin(struct world *world)
{
    for (size_t i = 0; i < world->script->count; i++) {
        const struct script_line *line = &world->script->lines[i];
        if (set(world, line) || (is(line, "expect") && world_script_value(line, "at") == NULL)) {
            continue;
        }
        int64_t count = world_script_number(world, line, "count", 1);
        for (int64_t turn = 0; turn < count; turn++) {
            struct event event = world_event(world, EVENT_SCRIPT, -1);
            event.at = world_script_number(world, line, "at", 0) + turn * world_script_number(world, line, "every", 0);
            event.sequence = i;
            event.code = (int)turn;
            world_events_add(world, &event);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ expected */

static uint64_t figure(const struct world *world, const struct script_line *line, const char *name)
{
    const struct world_result *result = &world->result;
    const struct {
        const char *name;
        uint64_t value;
    } figures[] = {{"delivered", result->outputs},   {"deliveries", result->deliveries}, {"repeats", result->repeats},
                   {"cancelled", result->cancelled}, {"copies", result->copies},       {"commits", result->commits},
                   {"transactions", result->transactions}, {"aborts", result->aborts}, {"checkpoints", result->checkpoints},
                   {"steps", result->steps},         {"crashes", result->crashes},     {"fenced", result->fenced},
                   {"records", result->records},     {"letters", result->letters}, {"steered", result->steered},     {"postponed", result->postponed},
                   {"behind", result->behind},       {"late", (uint64_t)result->late_ms},
                   {"outcomes", result->outcomes},   {"duplicates", result->duplicates}, {"too_late", result->told[OUTCOME_TOO_LATE]},
                   {"told_cancelled", result->told[OUTCOME_CANCELLED]}, {"not_found", result->told[OUTCOME_NOT_FOUND]}, {"rejected", result->told[OUTCOME_REJECTED]},
                   {"dropped", result->told[OUTCOME_DROPPED]}, {"skipped", result->told[OUTCOME_SKIPPED]},
                       {"low", (uint64_t)world->partitions[0].group.low_offset}};
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        if (strcmp(figures[i].name, name) == 0) {
            return figures[i].value;
        }
    }
    broken(world, line, "no such figure");
}

/* expect [at T] NAME N, expect [at T] NAME [least N] [most N] */
void world_script_expect(struct world *world, const struct script_line *line)
{
    if (line->word_count < 3) {
        broken(world, line, "what is expected?");
    }
    size_t name = strcmp(line->words[1], "at") == 0 && line->word_count > 4 ? 3 : 1;
    uint64_t value = figure(world, line, line->words[name]);
    bool range = world_script_value(line, "least") != NULL || world_script_value(line, "most") != NULL;
    int64_t exact = range ? 0 : parse(world, line, line->words[name + 1]);
    uint64_t least = (uint64_t)world_script_number(world, line, "least", range ? 0 : exact);
    uint64_t most = (uint64_t)world_script_number(world, line, "most", range ? INT64_MAX : exact);
    PROMISE(world, value >= least && value <= most, "%s:%d: %s is %" PRIu64, world->script->path, line->number,
            line->words[name], value);
}

void world_script_end(struct world *world)
{
    for (size_t i = 0; i < world->script->count; i++) {
        const struct script_line *line = &world->script->lines[i];
        if (is(line, "expect") && world_script_value(line, "at") == NULL) {
            world_script_expect(world, line);
        }
    }
}
