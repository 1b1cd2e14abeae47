/* A stream that is there, key by key against the one that should be. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dlq/streams_state.h"

struct comparison {
    const char *stream;
    struct streams_findings *findings;
    bool usable;
};

static void add(struct comparison *comparison, bool unusable, const char *text)
{
    comparison->usable = comparison->usable && !unusable;
    struct streams_findings *findings = comparison->findings;
    if (findings->count < STREAMS_FINDINGS_MAX) {
        struct streams_finding *finding = &findings->items[findings->count++];
        finding->unusable = unusable;
        snprintf(finding->text, sizeof finding->text, "%.120s: %s", comparison->stream, text);
    }
}

/* What goes wrong by it, and the way to mend it. */
struct remedy {
    const char *key;
    const char *why;
    const char *how;
    bool unusable;
};

static void compare_number(struct comparison *comparison, const struct remedy *remedy, int64_t found, int64_t wanted)
{
    /* JetStream says "no limit" in two ways */
    if (found != wanted && !(found <= 0 && wanted <= 0)) {
        char text[256];
        snprintf(text, sizeof text, "%s is %" PRId64 ", not %" PRId64 " (%s): %s", remedy->key, found, wanted, remedy->why, remedy->how);
        add(comparison, remedy->unusable, text);
    }
}

static void compare_word(struct comparison *comparison, const struct remedy *remedy, const char *found, const char *wanted)
{
    if (strcmp(found, wanted) != 0) {
        char text[256];
        snprintf(text, sizeof text, "%s is %s, not %s (%s): %s", remedy->key, found, wanted, remedy->why, remedy->how);
        add(comparison, remedy->unusable, text);
    }
}

static void span_text(int64_t ns, char text[32])
{
    if (ns <= 0) {
        snprintf(text, 32, "0");
    } else if (ns % 1000000000 == 0) {
        snprintf(text, 32, "%" PRId64 "s", ns / 1000000000);
    } else {
        snprintf(text, 32, "%" PRId64 "ms", ns / 1000000);
    }
}

static void compare_times(struct comparison *comparison, const jsStreamConfig *found, const jsStreamConfig *wanted)
{
    char is[32];
    char should[32];
    span_text(found->MaxAge, is);
    span_text(wanted->MaxAge, should);
    compare_word(comparison, &(struct remedy){"max_age", "letters would age out", "nats stream edit --max-age=0", true}, is, should);
    span_text(found->Duplicates, is);
    span_text(wanted->Duplicates, should);
    bool shorter = found->Duplicates < wanted->Duplicates;
    if (shorter) {
        compare_word(comparison, &(struct remedy){"duplicate_window", "a failure found twice may make two letters", "nats stream edit --dupe-window=2m", false},
                     is, should);
    }
}

static bool has_subject(const jsStreamConfig *config, const char *subject)
{
    for (int i = 0; i < config->SubjectsLen; i++) {
        if (strcmp(config->Subjects[i], subject) == 0) {
            return true;
        }
    }
    return false;
}

static void compare_subjects(struct comparison *comparison, const jsStreamConfig *found, const jsStreamConfig *wanted)
{
    char text[256];
    for (int i = 0; i < wanted->SubjectsLen; i++) {
        if (!has_subject(found, wanted->Subjects[i])) {
            snprintf(text, sizeof text, "subjects hold %.60s, not %.60s (what is sent there would go nowhere): nats stream edit --subjects, or another dlq.stream",
                     found->SubjectsLen > 0 ? found->Subjects[0] : "nothing", wanted->Subjects[i]);
            add(comparison, true, text);
        }
    }
    for (int i = 0; i < found->SubjectsLen; i++) {
        if (!has_subject(wanted, found->Subjects[i])) {
            snprintf(text, sizeof text, "subjects hold %.60s too, not ours alone (strange messages stand among the letters): nats stream edit --subjects",
                     found->Subjects[i]);
            add(comparison, false, text);
        }
    }
}

static const char *retention_name(jsRetentionPolicy retention)
{
    return retention == js_LimitsPolicy ? "limits" : retention == js_InterestPolicy ? "interest" : "workqueue";
}

static void compare_words(struct comparison *comparison, const jsStreamConfig *found, const jsStreamConfig *wanted)
{
    const char *again = "it cannot be changed: name another stream in dlq, or copy and delete this one";
    compare_word(comparison, &(struct remedy){"retention", "letters would vanish unasked", again, true}, retention_name(found->Retention),
                 retention_name(wanted->Retention));
    compare_word(comparison, &(struct remedy){"storage", "a restart of the server would lose letters", again, true},
                 found->Storage == js_FileStorage ? "file" : "memory", "file");
    bool keeps_new = wanted->Discard == js_DiscardNew;
    compare_word(comparison,
                 &(struct remedy){"discard", keeps_new ? "when full, the oldest letters would be dropped silently" : "when full, jobs could not be written",
                                  keeps_new ? "nats stream edit --discard=new" : "nats stream edit --discard=old", keeps_new},
                 found->Discard == js_DiscardNew ? "new" : "old", keeps_new ? "new" : "old");
    compare_word(comparison, &(struct remedy){"no_ack", "nothing would be confirmed", again, true}, found->NoAck ? "true" : "false", "false");
    compare_word(comparison, &(struct remedy){"sealed", "nothing can be added or removed", again, true}, found->Sealed ? "true" : "false", "false");
    compare_word(comparison, &(struct remedy){"deny_delete", "what was redelivered could not be removed", again, true},
                 found->DenyDelete ? "true" : "false", "false");
    compare_word(comparison, &(struct remedy){"mirror", "it takes no messages of its own", again, true},
                 found->Mirror != NULL ? "another stream" : "none", "none");
    compare_word(comparison, &(struct remedy){"deny_purge", "tarry dlq purge would fail", again, false}, found->DenyPurge ? "true" : "false", "false");
}

static void compare_numbers(struct comparison *comparison, const jsStreamConfig *found, const jsStreamConfig *wanted)
{
    bool jobs = wanted->MaxMsgsPerSubject == 1;
    compare_number(comparison,
                   &(struct remedy){"max_msgs_per_subject", jobs ? "old states of jobs would stay" : "letters of one topic would push each other out",
                                    jobs ? "nats stream edit --max-msgs-per-subject=1" : "nats stream edit --max-msgs-per-subject=-1", !jobs},
                   found->MaxMsgsPerSubject, wanted->MaxMsgsPerSubject);
    compare_number(comparison, &(struct remedy){"max_bytes", "not as dlq.max_bytes says", "nats stream edit --max-bytes, or dlq.max_bytes", false}, found->MaxBytes,
                   wanted->MaxBytes);
    compare_number(comparison, &(struct remedy){"max_msgs", "it is full then, whatever max_bytes says", "nats stream edit --max-msgs=-1", false}, found->MaxMsgs,
                   wanted->MaxMsgs);
    compare_number(comparison, &(struct remedy){"max_msg_size", "greater letters are refused", "nats stream edit --max-msg-size=-1", false}, found->MaxMsgSize,
                   wanted->MaxMsgSize);
    compare_number(comparison, &(struct remedy){"max_consumers", "readers may be refused", "it cannot be changed: name another stream in dlq", false}, found->MaxConsumers,
                   wanted->MaxConsumers);
    compare_number(comparison, &(struct remedy){"num_replicas", "not as dlq.replicas says", "nats stream edit --replicas, or dlq.replicas", false}, found->Replicas,
                   wanted->Replicas);
}

/* Two that share streams by mistake would redeliver each other's letters to topics of the wrong cluster. */
static void compare_owner(struct comparison *comparison, const jsStreamConfig *found, const struct streams_wanted *wanted)
{
    const size_t length = strlen(STREAMS_STATE_LABEL);
    const char *label = found->Description == NULL ? "" : found->Description;
    char text[600];
    if (wanted->label[0] == '\0' || strcmp(label, wanted->label) == 0) {
        return;
    }
    if (strncmp(label, STREAMS_STATE_LABEL, length) != 0) {
        snprintf(text, sizeof text, "description does not say whose letters it holds (another group may take it for its own): nats stream edit %.80s --description "
                                    "\"%.200s\"", wanted->name, wanted->label);
        add(comparison, false, text);
        return;
    }
    snprintf(text, sizeof text, "it holds letters of %.90s, not of %.90s: give this group streams of its own (dlq.stream, dlq.parked_stream, dlq.subject_prefix); "
                                "or, if its cluster was really replaced: nats stream edit %.80s --description \"%.120s\"",
             label + length, wanted->label + length, wanted->name, wanted->label);
    comparison->findings->foreign = true;
    add(comparison, true, text);
}

bool streams_compare(const struct streams_wanted *wanted, const jsStreamConfig *found, struct streams_findings *findings)
{
    struct comparison comparison = {wanted->name, findings, true};
    compare_owner(&comparison, found, wanted);
    compare_subjects(&comparison, found, &wanted->config);
    compare_words(&comparison, found, &wanted->config);
    compare_times(&comparison, found, &wanted->config);
    compare_numbers(&comparison, found, &wanted->config);
    return comparison.usable;
}
