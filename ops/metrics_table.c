/* The one table of metrics: see metrics_table.h. A new metric is a row here, a value in enum metrics_id, and
 * `metrics_set` where it happens. */
#include "ops/metrics_table.h"

#include "ops/steering.h"

static const double lateness_bounds[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5,
                                         1,     2.5,   5,     10,   30,   60,   300, 900,  3600};
static const double duration_bounds[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};

static const struct metrics_table_buckets lateness = {lateness_bounds, sizeof(lateness_bounds) / sizeof(double)};
static const struct metrics_table_buckets duration = {duration_bounds, sizeof(duration_bounds) / sizeof(double)};

#define NONE METRICS_LABEL_NONE
#define SOURCE METRICS_LABEL_SOURCE
#define TARGET METRICS_LABEL_TARGET
#define FAILURE METRICS_LABEL_FAILURE
#define COUNTER METRICS_TABLE_COUNTER
#define GAUGE METRICS_TABLE_GAUGE
#define HISTOGRAM METRICS_TABLE_HISTOGRAM
#define ALIAS METRICS_TABLE_ALIAS
#define PLAIN METRICS_TABLE_PLAIN

/* Two lines a row. */
/* clang-format off */
const struct metrics_table_row metrics_table_rows[METRIC_COUNT] = {
    [METRIC_RECORDS_READ] = {"tarry_records_read_total", COUNTER, {SOURCE, NONE}, NULL, false,
        "Records read from an input topic.", PLAIN},
    [METRIC_RECORDS_REFUSED] = {"tarry_records_refused_total", COUNTER, {SOURCE, METRICS_LABEL_REASON}, NULL, false,
        "Records refused, at reading or at delivery; each becomes a dead letter.", PLAIN},
    [METRIC_DELIVERED] = {"tarry_delivered_total", COUNTER, {TARGET, NONE}, NULL, false,
        "Records acknowledged by their target; with exactly_once, when their transaction was committed.", PLAIN},
    [METRIC_DELIVERY_FAILURES] = {"tarry_delivery_failures_total", COUNTER, {TARGET, FAILURE}, NULL, false,
        "Delivery attempts that failed; an attempt is made again unless the record itself is at fault.", PLAIN},
    [METRIC_DELIVERY_RETRIES] = {"tarry_delivery_retries_total", COUNTER, {TARGET, NONE}, NULL, false,
        "Delivery attempts made again after a failure.", PLAIN},
    [METRIC_UNDELIVERABLE] = {"tarry_undeliverable_total", COUNTER, {TARGET, METRICS_LABEL_REASON}, NULL, false,
        "Records that their target will never take; each became a dead letter.", PLAIN},
    [METRIC_LATENESS_SECONDS] = {"tarry_lateness_seconds", HISTOGRAM, {TARGET, NONE}, &lateness, false,
        "Time from a record's due time to its acknowledgement by the target; with exactly_once to the commit of its transaction.", PLAIN},
    [METRIC_DELIVERY_SECONDS] = {"tarry_delivery_seconds", HISTOGRAM, {NONE, NONE}, &duration, false,
        "Time from sending a record to its acknowledgement.", PLAIN},
    [METRIC_PENDING] = {"tarry_pending", GAUGE, {SOURCE, METRICS_LABEL_TIER}, NULL, false,
        "Records held and not yet done, by where their entry is.", PLAIN},
    [METRIC_PENDING_BYTES] = {"tarry_pending_bytes", GAUGE, {SOURCE, NONE}, NULL, false,
        "Bytes of the records held and not yet done.", PLAIN},
    [METRIC_OVERDUE] = {"tarry_overdue", GAUGE, {TARGET, NONE}, NULL, false,
        "Records that are due and not yet acknowledged.", PLAIN},
    [METRIC_OLDEST_OVERDUE] = {"tarry_oldest_overdue_seconds", GAUGE, {TARGET, NONE}, NULL, false,
        "How long the most overdue record of the target has been due; 0 when none is.", PLAIN},
    [METRIC_IN_FLIGHT] = {"tarry_in_flight", GAUGE, {TARGET, NONE}, NULL, false,
        "Records sent and not yet acknowledged.", PLAIN},
    [METRIC_NEXT_DUE] = {"tarry_next_due_timestamp_seconds", GAUGE, {NONE, NONE}, NULL, false,
        "Due time of the next pending record, or before it: while that record is on disk alone, the start of its bucket there; absent when none is pending.", PLAIN},
    [METRIC_LAST_DUE] = {"tarry_last_due_timestamp_seconds", GAUGE, {NONE, NONE}, NULL, false,
        "Due time of the last pending record (of one that was cancelled, until its bucket is empty); absent when none is pending.", PLAIN},
    [METRIC_LANES_APART] = {"tarry_lanes_apart", GAUGE, {NONE, NONE}, NULL, false,
        "Lanes whose progress needs an entry of its own in the commit metadata.", PLAIN},
    [METRIC_LANES_BEHIND] = {"tarry_lanes_behind", GAUGE, {NONE, NONE}, NULL, false,
        "Lanes of partitions that still work off what was overdue at the start (catch_up).", PLAIN},
    [METRIC_COMMITS] = {"tarry_commits_total", COUNTER, {METRICS_LABEL_RESULT, NONE}, NULL, false,
        "Commits of the frontier to the consumer group.", PLAIN},
    [METRIC_TRANSACTIONS] = {"tarry_transactions_total", COUNTER, {METRICS_LABEL_RESULT, NONE}, NULL, false,
        "Kafka transactions that ended, by whether they were committed; what is in an aborted one goes again.", PLAIN},
    [METRIC_TRANSACTION_SECONDS] = {"tarry_transaction_seconds", HISTOGRAM, {NONE, NONE}, &duration, false,
        "Time from ordering a transaction's end to knowing it.", PLAIN},
    [METRIC_REAPPENDED] = {"tarry_reappended_total", COUNTER, {METRICS_LABEL_WHY, NONE}, NULL, false,
        "Records written again to the end of their own partition, and committed.", PLAIN},
    [METRIC_CANCELLED] = {"tarry_cancelled_total", COUNTER, {SOURCE, NONE}, NULL, false,
        "Events that a cancel ended before they left.", PLAIN},
    [METRIC_REPLACED] = {"tarry_replaced_total", COUNTER, {SOURCE, NONE}, NULL, false,
        "Events that a later record of their id replaced before they left.", PLAIN},
    [METRIC_REJECTED] = {"tarry_rejected_total", COUNTER, {SOURCE, METRICS_LABEL_REJECTION}, NULL, false,
        "Records that were read and let fall by a rule that their producer or the source asked for.", PLAIN},
    [METRIC_TOO_LATE] = {"tarry_too_late_total", COUNTER, {METRICS_LABEL_ACTION, NONE}, NULL, false,
        "Cancels and replacements that found their event's delivery under way, and it went out.", PLAIN},
    [METRIC_NOT_FOUND] = {"tarry_not_found_total", COUNTER, {SOURCE, NONE}, NULL, false,
        "Cancels whose id nothing pending had.", PLAIN},
    [METRIC_SKIPPED] = {"tarry_skipped_total", COUNTER, {SOURCE, METRICS_LABEL_SKIP}, NULL, false,
        "Times that a schedule passed over occurrences that are not to come; with why=\"misfire\" one for each gap, however many occurrences lay in it.", PLAIN},
    [METRIC_DROPPED_LATE] = {"tarry_dropped_late_total", COUNTER, {SOURCE, NONE}, NULL, false,
        "Events let fall as they were later than max_lateness (late: drop).", PLAIN},
    [METRIC_STEERED] = {"tarry_steered_total", COUNTER, {METRICS_LABEL_STEER, NONE}, NULL, false,
        "Wishes of people for one schedule (move, run now, pause, resume) that were answered.", PLAIN},
    [METRIC_LANES_PAUSED] = {"tarry_lanes_paused", GAUGE, {TARGET, NONE}, NULL, false,
        "Partitions in which the lane stands still because a person paused it.", PLAIN},
    [METRIC_DEDUPE_IDS] = {"tarry_dedupe_ids", GAUGE, {SOURCE, NONE}, NULL, false,
        "Ids kept in memory for the source's dedupe; 1,000,000 of all sources are the most.", PLAIN},
    [METRIC_DEDUPE_FORGOTTEN] = {"tarry_dedupe_forgotten_total", COUNTER, {NONE, NONE}, NULL, false,
        "Ids that dedupe had no room for any more while their window was open, in the partitions held now: a duplicate of theirs passes.", PLAIN},
    [METRIC_HISTORY] = {"tarry_history_total", COUNTER, {NONE, NONE}, NULL, false,
        "Outcomes that history.topic has.", PLAIN},
    [METRIC_HISTORY_DROPPED] = {"tarry_history_dropped_total", COUNTER, {NONE, NONE}, NULL, false,
        "Outcomes that were not written to history.topic: there was no room, or the brokers did not take them in time.", PLAIN},
    [METRIC_LETTERS] = {"tarry_letters_total", COUNTER, {TARGET, METRICS_LABEL_REASON}, NULL, true,
        "Dead letters that JetStream keeps, made of records that this instance refused or could not deliver.", PLAIN},
    [METRIC_LETTER_FAILURES] = {"tarry_letter_failures_total", COUNTER, {METRICS_LABEL_LETTER, NONE}, NULL, false,
        "Dead letters that JetStream did not take; each record is tried again dlq.retry_later later.", PLAIN},
    [METRIC_DEAD_LETTERS] = {"tarry_dead_letters", GAUGE, {METRICS_LABEL_STATE, NONE}, NULL, false,
        "Messages in the streams of dead letters, of all instances; absent until JetStream has answered.", PLAIN},
    [METRIC_DEAD_LETTERS_BYTES] = {"tarry_dead_letters_bytes", GAUGE, {NONE, NONE}, NULL, false,
        "Bytes of both streams together.", PLAIN},
    [METRIC_OLDEST_DEAD_LETTER] = {"tarry_oldest_dead_letter_seconds", GAUGE, {METRICS_LABEL_STATE, NONE}, NULL, false,
        "How long the oldest message has been in the stream; absent when there is none.", PLAIN},
    [METRIC_REDELIVERIES] = {"tarry_redeliveries_total", COUNTER, {METRICS_LABEL_REDELIVERY, NONE}, NULL, false,
        "Redeliveries that ended, by this instance.", PLAIN},
    [METRIC_PARKED] = {"tarry_parked_total", COUNTER, {NONE, NONE}, NULL, false,
        "Letters that this instance parked, at once or after their last redelivery.", PLAIN},
    [METRIC_NACKS] = {"tarry_nacks_total", COUNTER, {METRICS_LABEL_RESULT, NONE}, NULL, false,
        "What consumers failed on: `ok`, it became a dead letter; `failed`, JetStream did not take its letter, which is posted again.", PLAIN},
    [METRIC_CHECKPOINT_SECONDS] = {"tarry_checkpoint_seconds", HISTOGRAM, {NONE, NONE}, &duration, false,
        "Time that writing a checkpoint took.", PLAIN},
    [METRIC_CHECKPOINT_AGE] = {"tarry_checkpoint_age_seconds", GAUGE, {NONE, NONE}, NULL, false,
        "Time since the last checkpoint was written.", PLAIN},
    [METRIC_STORE_USED_BYTES] = {"tarry_store_used_bytes", GAUGE, {NONE, NONE}, NULL, false,
        "Bytes of the store in use.", PLAIN},
    [METRIC_STORE_MAX_BYTES] = {"tarry_store_max_bytes", GAUGE, {NONE, NONE}, NULL, false,
        "Bytes that the store may use (store.max_size).", PLAIN},
    [METRIC_STORE_FULL] = {"tarry_store_full", GAUGE, {NONE, NONE}, NULL, false,
        "1 while a checkpoint finds no room, in the store or on the disk, else 0; a part of the store is kept free for what makes room.", PLAIN},
    [METRIC_INTAKE_LAG] = {"tarry_intake_lag", GAUGE, {SOURCE, NONE}, NULL, false,
        "Records that stand in the input topic and are not yet read.", PLAIN},
    [METRIC_LOG_SPAN] = {"tarry_log_span", GAUGE, {SOURCE, NONE}, NULL, false,
        "Offsets from the oldest record still needed to the end of the input topic.", PLAIN},
    [METRIC_RETENTION] = {"tarry_retention_seconds", GAUGE, {SOURCE, NONE}, NULL, false,
        "How long the input topic keeps records (retention.ms); absent when for ever, or not known.", PLAIN},
    [METRIC_RETENTION_HEADROOM] = {"tarry_retention_headroom_seconds", GAUGE, {SOURCE, NONE}, NULL, false,
        "Time until the topic's retention reaches the oldest pending record, the least of the partitions here; 0: the topic may drop it, or has dropped it, and it is on this disk alone. Looked up once in a hundredth of the retention (10 minutes at most), and never too large by more than the clocks differ. Absent when nothing is pending, or the topic keeps it for ever.", PLAIN},
    [METRIC_IDENTITY_MISMATCH] = {"tarry_partition_identity_mismatch", GAUGE, {SOURCE, NONE}, NULL, false,
        "Partitions that are not the ones the stored progress speaks of (recreated, truncated, another cluster).", PLAIN},
    [METRIC_CONNECTION_UP] = {"tarry_connection_up", GAUGE, {METRICS_LABEL_SYSTEM, NONE}, NULL, false,
        "1 while the system is reachable, else 0.", PLAIN},
    [METRIC_CLOCK_STEPS] = {"tarry_clock_steps_total", COUNTER, {METRICS_LABEL_DIRECTION, NONE}, NULL, false,
        "Steps of the host's wall clock against its monotonic clock.", PLAIN},
    [METRIC_CLOCK_SYNCHRONISED] = {"tarry_clock_synchronised", GAUGE, {NONE, NONE}, NULL, false,
        "1 when the kernel holds the host's clock for synchronised (adjtimex), else 0; absent where the kernel does not tell, as in some containers.", PLAIN},
    [METRIC_CLOCK_OFFSET] = {"tarry_clock_offset_seconds", GAUGE, {NONE, NONE}, NULL, false,
        "By how much the kernel is still correcting the clock (adjtimex), negative: it is ahead. 0 under daemons that correct by frequency alone, as chrony does. Absent as tarry_clock_synchronised.", METRICS_TABLE_SIGNED},
    [METRIC_CLOCK_MAX_ERROR] = {"tarry_clock_max_error_seconds", GAUGE, {NONE, NONE}, NULL, false,
        "The most that the clock can be wrong by, as the kernel reckons: it grows from one synchronisation to the next. Absent as tarry_clock_synchronised.", PLAIN},
    [METRIC_TURNS] = {"tarry_turns_total", COUNTER, {NONE, NONE}, NULL, false,
        "Turns of the main loop.", PLAIN},
    [METRIC_LAST_TURN] = {"tarry_last_turn_timestamp_seconds", GAUGE, {NONE, NONE}, NULL, false,
        "When the main loop last turned.", PLAIN},
    [METRIC_HTTP_REQUESTS] = {"http_requests_total", COUNTER, {METRICS_LABEL_METHOD, METRICS_LABEL_STATUS}, NULL, true,
        "HTTP requests answered.", PLAIN},
    [METRIC_BUILD_INFO] = {"tarry_build_info", GAUGE, {METRICS_LABEL_VERSION, NONE}, NULL, false,
        "Always 1; the label says which version runs.", PLAIN},
    [METRIC_PROCESS_CPU_SECONDS] = {"process_cpu_seconds_total", COUNTER, {NONE, NONE}, NULL, false,
        "User and system CPU time spent.", PLAIN},
    [METRIC_PROCESS_OPEN_FDS] = {"process_open_fds", GAUGE, {NONE, NONE}, NULL, false,
        "Open file descriptors.", PLAIN},
    [METRIC_PROCESS_MAX_FDS] = {"process_max_fds", GAUGE, {NONE, NONE}, NULL, false,
        "Most file descriptors that may be open.", PLAIN},
    [METRIC_PROCESS_VIRTUAL] = {"process_virtual_memory_bytes", GAUGE, {NONE, NONE}, NULL, false,
        "Address space; the store's map counts in full, so it says little.", PLAIN},
    [METRIC_PROCESS_RESIDENT] = {"process_resident_memory_bytes", GAUGE, {NONE, NONE}, NULL, false,
        "Resident memory, with the pages of the store's map, which the kernel can take back.", PLAIN},
    [METRIC_PROCESS_RESIDENT_ANON] = {"process_resident_anonymous_bytes", GAUGE, {NONE, NONE}, NULL, false,
        "Resident memory that is the process's own: the number to alert on.", PLAIN},
    [METRIC_PROCESS_RESIDENT_FILE] = {"process_resident_file_bytes", GAUGE, {NONE, NONE}, NULL, false,
        "Resident pages of files, mostly of the store's map.", PLAIN},
    [METRIC_PROCESS_START_TIME] = {"process_start_time_seconds", GAUGE, {NONE, NONE}, NULL, false,
        "When the process started.", PLAIN},
    [METRIC_PROCESS_THREADS] = {"process_threads", GAUGE, {NONE, NONE}, NULL, false,
        "Threads of the process.", PLAIN},
    [METRIC_ALIAS_PENDING] = {"pending_notifications_total", GAUGE, {NONE, NONE}, NULL, false,
        "Alias: the sum of tarry_pending. A gauge, whatever its name says.", ALIAS},
    [METRIC_ALIAS_LATENCY] = {"notification_send_latency_seconds", HISTOGRAM, {NONE, NONE}, &lateness, false,
        "Alias: tarry_lateness_seconds of all targets, from due to acknowledged.", ALIAS},
    [METRIC_ALIAS_EXECUTIONS] = {"scheduler_task_executions_total", COUNTER, {METRICS_LABEL_EXECUTION, NONE}, NULL, false,
        "Alias: attempts at delivery that ended.", ALIAS},
    [METRIC_ALIAS_DURATION] = {"scheduler_task_duration_seconds", HISTOGRAM, {NONE, NONE}, &duration, false,
        "Alias: tarry_delivery_seconds, from sent to acknowledged.", ALIAS},
    [METRIC_ALIAS_RUNNING] = {"scheduler_running_tasks", GAUGE, {NONE, NONE}, NULL, false,
        "Alias: the sum of tarry_in_flight.", ALIAS},
};
/* clang-format on */

struct label_row {
    const char *name;
    const char *help;
    const char *const *values;
    size_t count;
};

static const char *const tier_values[] = {[METRICS_TIER_MEMORY] = "memory", [METRICS_TIER_DISK] = "disk"};
static const char *const result_values[] = {[METRICS_RESULT_OK] = "ok", [METRICS_RESULT_FAILED] = "failed"};
static const char *const why_values[] = {[METRICS_WHY_COPY] = "copy", [METRICS_WHY_LETTER] = "letter",
                                         [METRICS_WHY_NEXT] = "next", [METRICS_WHY_DECIDED] = "decided",
                                         [METRICS_WHY_MOVED] = "moved", [METRICS_WHY_PAUSED] = "paused"};
static const char *const rejection_values[] = {[METRICS_REJECTION_EXISTS] = "exists", [METRICS_REJECTION_DUPLICATE] = "duplicate",
                                               [METRICS_REJECTION_DROPPED] = "dropped"};
static const char *const action_values[] = {[METRICS_ACTION_CANCEL] = "cancel", [METRICS_ACTION_REPLACE] = "replace"};
static const char *const skip_values[] = {[METRICS_SKIP_MISFIRE] = "misfire", [METRICS_SKIP_ENDED] = "ended"};
static const char *const steer_values[] = {[STEERING_DONE] = "done", [STEERING_NOT_FOUND] = "not_found", [STEERING_TOO_LATE] = "too_late",
                                           [STEERING_NOT_HERE] = "not_here", [STEERING_FAILED] = "failed", [STEERING_TIMEOUT] = "timeout",
                                           [STEERING_UNREADABLE] = "unreadable"};
static const char *const letter_values[] = {
    [METRICS_LETTER_FULL] = "full", [METRICS_LETTER_UNAVAILABLE] = "unavailable", [METRICS_LETTER_REFUSED] = "refused"};
static const char *const state_values[] = {[METRICS_STATE_WAITING] = "waiting", [METRICS_STATE_PARKED] = "parked"};
static const char *const redelivery_values[] = {[METRICS_REDELIVERY_DELIVERED] = "delivered",
                                                [METRICS_REDELIVERY_RETRIED] = "retried",
                                                [METRICS_REDELIVERY_FAILED] = "failed",
                                                [METRICS_REDELIVERY_POSTPONED] = "postponed"};
static const char *const direction_values[] = {
    [METRICS_DIRECTION_BACK] = "back", [METRICS_DIRECTION_FORWARD] = "forward"};
static const char *const system_values[] = {[METRICS_SYSTEM_KAFKA] = "kafka", [METRICS_SYSTEM_NATS] = "nats"};
static const char *const method_values[METRICS_METHODS] = {
    [METRICS_METHOD_GET] = "GET",    [METRICS_METHOD_HEAD] = "HEAD",     [METRICS_METHOD_POST] = "POST",
    [METRICS_METHOD_PUT] = "PUT",    [METRICS_METHOD_DELETE] = "DELETE", [METRICS_METHOD_OPTIONS] = "OPTIONS",
    [METRICS_METHOD_OTHER] = "other"};
static const char *const status_values[METRICS_STATUSES] = {
    [METRICS_STATUS_200] = "200", [METRICS_STATUS_201] = "201", [METRICS_STATUS_202] = "202",
    [METRICS_STATUS_400] = "400", [METRICS_STATUS_401] = "401", [METRICS_STATUS_403] = "403",
    [METRICS_STATUS_404] = "404", [METRICS_STATUS_405] = "405", [METRICS_STATUS_409] = "409",
    [METRICS_STATUS_413] = "413", [METRICS_STATUS_415] = "415", [METRICS_STATUS_421] = "421",
    [METRICS_STATUS_422] = "422", [METRICS_STATUS_500] = "500", [METRICS_STATUS_502] = "502",
    [METRICS_STATUS_503] = "503", [METRICS_STATUS_504] = "504"};
static const char *const execution_values[] = {[METRICS_EXECUTION_SUCCESS] = "success", [METRICS_EXECUTION_FAILURE] = "failure"};
static const char *const version_values[] = {TARRY_VERSION};

#define FIXED(list) (list), sizeof(list) / sizeof((list)[0])

static const struct label_row label_rows[METRICS_LABELS] = {
    [METRICS_LABEL_NONE] = {"", "", NULL, 0},
    [METRICS_LABEL_SOURCE] = {"source", "an input topic, as configured", NULL, 0},
    [METRICS_LABEL_TARGET] = {"target", "a lane: a name of `targets`, `default`, `_refused` or `_undecided` (what is decided when all of its partition is read)", NULL, 0},
    [METRICS_LABEL_REASON] = {"reason", "why a record failed: the reason of its dead letter", NULL, 0},
    [METRICS_LABEL_FAILURE] = {"reason", "the class of the failure", NULL, 0},
    [METRICS_LABEL_TIER] = {"tier", "", FIXED(tier_values)},
    [METRICS_LABEL_RESULT] = {"result", "", FIXED(result_values)},
    [METRICS_LABEL_WHY] = {"why", "`copy`: copied forward (docs/operating.md); `letter`: to be tried later, as JetStream did not take its letter; `next`: the next "
                           "occurrence of a schedule; `decided`: what was undecided; `moved`, `paused`: by a person", FIXED(why_values)},
    [METRICS_LABEL_REJECTION] = {"reason", "`exists`: tarry-if-exists: reject, and its id was pending; `duplicate`: within dedupe; `dropped`: a newer control "
                                 "of its id was read before it was decided", FIXED(rejection_values)},
    [METRICS_LABEL_ACTION] = {"action", "", FIXED(action_values)},
    [METRICS_LABEL_SKIP] = {"why", "`misfire`: it had passed (misfire: skip); `ended`: its schedule was cancelled or replaced", FIXED(skip_values)},
    [METRICS_LABEL_STEER] = {"result", "`not_here`: another instance has its partition; `too_late`: its delivery was under way", FIXED(steer_values)},
    [METRICS_LABEL_LETTER] = {"result", "`full`: the stream is at its limit; `unavailable`: no server, no answer, no stream", FIXED(letter_values)},
    [METRICS_LABEL_STATE] = {"state", "`waiting`: for its redelivery; `parked`: for a person", FIXED(state_values)},
    [METRICS_LABEL_REDELIVERY] = {"result", "`retried`: failed, has a next one; `failed`: was its last; `postponed`: the target had an outage, not counted as one",
                                  FIXED(redelivery_values)},
    [METRICS_LABEL_DIRECTION] = {"direction", "", FIXED(direction_values)},
    [METRICS_LABEL_SYSTEM] = {"system", "", FIXED(system_values)},
    [METRICS_LABEL_METHOD] = {"method", "", FIXED(method_values)},
    [METRICS_LABEL_STATUS] = {"status", "", FIXED(status_values)},
    [METRICS_LABEL_VERSION] = {"version", "the version of tarry", FIXED(version_values)},
    [METRICS_LABEL_EXECUTION] = {"status", "of an alias: `success`: the sum of tarry_delivered_total; `failure`: of tarry_delivery_failures_total", FIXED(execution_values)},
};

const char *metrics_table_label_name(enum metrics_label label)
{
    return label_rows[label].name;
}

const char *const *metrics_table_label_values(enum metrics_label label, size_t *count)
{
    *count = label_rows[label].count;
    return label_rows[label].values;
}

const char *metrics_table_label_help(enum metrics_label label)
{
    return label_rows[label].help;
}
