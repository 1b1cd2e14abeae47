/* Carrying out what the core decided. Answers become facts for the next step. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ops/daemon_state.h"
#include "scheduler/bucket.h"

/* The row's bytes from the store. Mostly at the finest level; after the clock was set back a row may stand at a coarser one. */
bool daemon_commands_stored(struct daemon *daemon, slot_index slot, lane_index lane, struct key key, struct span *bytes, struct error *error)
{
    if (!daemon->store_reading && !store_read_begin(daemon->store, error)) {
        return false;
    }
    daemon->store_reading = true;
    bool found = false;
    error->code = ERROR_NOT_FOUND;
    for (unsigned level = 0; !found && error->code == ERROR_NOT_FOUND && level < BUCKET_LEVELS; level++) {
        found = store_read(daemon->store, slot, bucket_of(lane, level, key.due_ms), key.offset, bytes, error);
    }
    return found;
}

bool daemon_commands_row(struct daemon *daemon,
                         const struct partition *partition,
                         lane_index lane,
                         struct key key,
                         row_ref ref,
                         struct row *row,
                         struct span *bytes)
{
    struct error error = {0};
    struct span found_bytes;
    bool found = true;
    if (ref != 0) {
        found_bytes = arena_row(ref);
    } else {
        found = daemon_commands_stored(daemon, partition->slot, lane, key, &found_bytes, &error);
    }
    if (found && row_decode(found_bytes, row, &error)) {
        if (bytes != NULL) {
            *bytes = found_bytes;
        }
        return true;
    }
    error_prefix(&error, "the row of %s/%" PRId32 "/%" PRId64 " cannot be read back; nothing is lost, the topic has it: move %s away and "
                 "start again",
                 partition->topic, partition->number, key.offset, daemon->config->store_path);
    daemon_fail(daemon, &error);
    return false;
}

static struct daemon_scan *scan_room(struct daemon *daemon, uint32_t rows)
{
    if (daemon->scan_count == daemon->scan_capacity) {
        daemon->scan_capacity++;
        daemon->scans = memory_resize(daemon->scans, daemon->scan_capacity, sizeof(*daemon->scans));
        daemon->scans[daemon->scan_count] = (struct daemon_scan){0};
    }
    struct daemon_scan *scan = &daemon->scans[daemon->scan_count++];
    if (scan->capacity < rows) {
        scan->rows = memory_resize(scan->rows, rows, sizeof(*scan->rows));
        scan->capacity = rows;
    }
    return scan;
}

static void scan(struct daemon *daemon, const struct partition *partition, const struct command_scan *command)
{
    struct daemon_scan *room = scan_room(daemon, command->rows_max);
    struct input_rows rows = {.bucket = command->bucket, .purpose = command->purpose, .rows = room->rows};
    struct error error;
    if (!store_scan(daemon->store, partition->slot, command, room->rows, &rows.count, &rows.end, &error)) {
        daemon_fail(daemon, &error);
        return;
    }
    daemon_input(daemon, INPUT_ROWS, partition)->as.rows = rows;
}

/* The metadata text of a slot's frontier. The fingerprint before a change of configuration is kept until the C of this very text has passed the
 * change (R8): a checkpoint's is behind that of a commit that may never be acknowledged. */
static bool frontier_text(const struct daemon *daemon,
                          const struct partition *partition,
                          const struct partition_frontier *frontier,
                          char *text)
{
    static struct metadata metadata; /* large, and used by the owner thread alone */
    metadata.identity = partition->identity;
    if (frontier->low_offset >= metadata.identity.changed_at) {
        metadata.identity.fingerprint_before = 0;
        metadata.identity.changed_at = 0;
    }
    lanes_metadata(&daemon->lanes, frontier, &metadata);
    return metadata_encode(&metadata, text, METADATA_MAX + 1) > 0;
}

static void fail_metadata(struct daemon *daemon, const struct partition *partition)
{
    struct error error;
    error_set(&error, ERROR_FULL, "the frontier of %s/%" PRId32 " does not fit Kafka's %d bytes of metadata: fewer or shorter targets[].name",
              partition->topic, partition->number, METADATA_MAX);
    daemon_fail(daemon, &error);
}

bool daemon_commands_text(struct daemon *daemon, const struct partition *partition, const struct partition_frontier *frontier, char *text)
{
    bool fits = frontier_text(daemon, partition, frontier, text);
    if (!fits) {
        fail_metadata(daemon, partition);
    }
    return fits;
}

static void commit(struct daemon *daemon, const struct partition *partition, const struct partition_frontier *frontier)
{
    char text[METADATA_MAX + 1];
    struct error error;
    if (daemon_commands_text(daemon, partition, frontier, text) && !source_commit(daemon->source, partition->topic, partition->number, frontier->committed_offset, text,
                              partition->epoch, &error)) {
        daemon_log_commit_failed(daemon, partition, error.text);
        metrics_add(daemon->metrics, METRIC_COMMITS, METRICS_RESULT_FAILED, 0, 1);
        daemon_input(daemon, INPUT_COMMIT_DONE, partition)->as.commit = COMMIT_FAILED;
    }
}

static void begin_checkpoint(struct daemon *daemon, const struct checkpoint_plan *plan)
{
    if (daemon->plan_text_capacity < plan->slot_count) {
        daemon->plan_text_capacity = plan->slot_count;
        daemon->plan_texts = memory_resize(daemon->plan_texts, plan->slot_count, sizeof(*daemon->plan_texts));
        daemon->plan_text_list = memory_resize(daemon->plan_text_list, plan->slot_count, sizeof(char *));
    }
    for (size_t i = 0; i < plan->slot_count; i++) {
        const struct partition *partition = partitions_at(&daemon->partitions, plan->slots[i].slot);
        daemon->plan_text_list[i] = daemon->plan_texts[i];
        if (!daemon_commands_text(daemon, partition, &plan->slots[i].frontier, daemon->plan_texts[i])) {
            return;
        }
    }
    writer_begin(daemon->writer, plan, daemon->plan_text_list);
}

void daemon_commands_written(struct daemon *daemon)
{
    if (!writer_take(daemon->writer, &daemon->written)) {
        return;
    }
    const struct writer_result *result = &daemon->written;
    daemon->written_valid = true;
    metrics_observe(daemon->metrics, METRIC_CHECKPOINT_SECONDS, 0, 0, (double)result->took_ms / 1000.0);
    if (!result->written && result->error.code != ERROR_FULL) {
        daemon_fail(daemon, &result->error);
        return;
    }
    if (!store_in_place(daemon->store)) {
        struct error error;
        error_set(&error, ERROR_CORRUPT,
                  "the directory %s was removed or replaced while tarry runs: start again, what is pending is read from the topic",
                  daemon->config->store_path);
        daemon_fail(daemon, &error);
        return;
    }
    if (!result->written) {
        daemon_log_store_full(daemon, result->error.text);
    } else {
        daemon->written_at_ms = daemon->now.mono.ms;
    }
    daemon_input(daemon, INPUT_CHECKPOINT_DONE, NULL)->as.checkpoint =
        (struct input_checkpoint){result->written ? CHECKPOINT_WRITTEN : CHECKPOINT_FULL, result->store.touched,
                                  result->store.touched_count};
}

static void set_reading(struct daemon *daemon, const struct partition *partition, bool paused)
{
    struct error error;
    bool done = paused ? source_pause(daemon->source, partition->topic, partition->number, &error)
                       : source_resume(daemon->source, partition->topic, partition->number, &error);
    log_write(done ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, paused ? "reading_paused" : "reading_resumed",
              LOG_FIELDS(LOG_TEXT("topic", partition->topic), LOG_NUMBER("partition", partition->number)), "%s%s%s",
              paused ? "reading pauses until what was read is in a checkpoint (memory.unwritten is used up); deliveries go on" : "reading goes on",
              done ? "" : "; Kafka's client refused that: ", done ? "" : error.text);
}

static void carry_out(struct daemon *daemon, const struct command *command)
{
    struct partition *partition = partitions_at(&daemon->partitions, command->slot);
    switch (command->kind) {
    case COMMAND_READ_PAUSE:
        set_reading(daemon, partition, true);
        break;
    case COMMAND_READ_RESUME:
        set_reading(daemon, partition, false);
        break;
    case COMMAND_DELIVER:
        daemon_deliver(daemon, partition, &command->as.deliver);
        break;
    case COMMAND_SCAN:
        scan(daemon, partition, &command->as.scan);
        break;
    case COMMAND_CHECKPOINT:
        begin_checkpoint(daemon, command->as.plan);
        break;
    case COMMAND_COMMIT:
        commit(daemon, partition, command->as.frontier);
        break;
    case COMMAND_COPY:
        daemon_again_copy(daemon, partition, &command->as.copy);
        break;
    case COMMAND_TRANSACTION:
        daemon_transaction_end(daemon, &command->as.transaction);
        break;
    case COMMAND_SLOT_LEFT:
        daemon_open_left(daemon, partition);
        break;
    case COMMAND_OUTCOME:
        daemon_outcomes_take(daemon, partition, &command->as.outcome);
        break;
    case COMMAND_STEERED:
        daemon_steering_answer(daemon, &command->as.steered);
        break;
    case COMMAND_STOPPED:
        daemon->stopped = true;
        break;
    }
}

void daemon_commands(struct daemon *daemon, const struct commands *commands)
{
    for (size_t i = 0; i < commands->count; i++) {
        carry_out(daemon, &commands->items[i]);
    }
    for (size_t i = 0; i < commands->release_count; i++) {
        arena_release(&daemon->arena, commands->releases[i]);
    }
    if (daemon->store_reading) {
        store_read_end(daemon->store);
        daemon->store_reading = false;
    }
}
