/* The streams as they should be. */
#include <stdio.h>
#include <string.h>

#include "dlq/streams_state.h"

#define DUPLICATES_NS (120LL * 1000000000) /* two minutes, JetStream's own default: a letter found again after a restart is dropped as long */

enum which { WAITING, PARKED, LARGE, JOBS };

void streams_large(const struct streams_options *options, char name[STREAMS_NAME_SIZE])
{
    snprintf(name, STREAMS_NAME_SIZE, "%s_LARGE", options->stream);
}

void streams_jobs(const struct streams_options *options, char name[STREAMS_NAME_SIZE])
{
    snprintf(name, STREAMS_NAME_SIZE, "%s_JOBS", options->stream);
}

static void add_subject(struct streams_wanted *wanted, const char *prefix, const char *rest)
{
    int n = wanted->config.SubjectsLen++;
    snprintf(wanted->texts[n], SUBJECT_SIZE, "%s%s", prefix, rest);
    wanted->subjects[n] = wanted->texts[n];
}

static void name_it(const struct streams_options *options, int which, struct streams_wanted *wanted)
{
    if (which == LARGE) {
        streams_large(options, wanted->name);
        add_subject(wanted, options->prefix, "large.>");
    } else if (which == JOBS) {
        streams_jobs(options, wanted->name);
        add_subject(wanted, options->prefix, "job.>");
    } else if (which == PARKED) {
        snprintf(wanted->name, STREAMS_NAME_SIZE, "%s", options->parked_stream);
        add_subject(wanted, options->prefix, "parked.>");
    } else {
        snprintf(wanted->name, STREAMS_NAME_SIZE, "%s", options->stream);
        add_subject(wanted, options->prefix, "dlq.>");
        add_subject(wanted, options->prefix, "nack.>");
    }
}

/* nats.c puts the description into JSON as it is. */
static void label_it(const char *owner, struct streams_wanted *wanted)
{
    if (owner == NULL) {
        return;
    }
    snprintf(wanted->label, sizeof wanted->label, STREAMS_STATE_LABEL "%s", owner);
    for (char *at = wanted->label; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == '"' || *at == '\\') {
            *at = '_';
        }
    }
    wanted->config.Description = wanted->label;
}

void streams_wanted_fill(const struct streams_options *options, int which, struct streams_wanted *wanted)
{
    memset(wanted, 0, sizeof *wanted);
    jsStreamConfig *config = &wanted->config;
    jsStreamConfig_Init(config);
    name_it(options, which, wanted);
    label_it(options->owner, wanted);
    config->Name = wanted->name;
    config->Subjects = wanted->subjects;
    config->Retention = js_LimitsPolicy;
    config->Storage = js_FileStorage;
    config->Discard = which == JOBS ? js_DiscardOld : js_DiscardNew;
    config->MaxMsgsPerSubject = which == JOBS ? 1 : -1;
    config->MaxConsumers = -1;
    config->MaxMsgs = -1;
    config->MaxMsgSize = -1;
    config->MaxBytes = options->max_bytes;
    config->Replicas = options->replicas;
    config->Duplicates = DUPLICATES_NS;
}
