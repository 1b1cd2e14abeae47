/* See nack_reader.h. */
#include "ops/nack_reader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "bridge/nack_source.h"
#include "dlq/mailer.h"
#include "ops/clock.h"
#include "ops/letter_options.h"
#include "ops/nack_reader_state.h"
#include "ops/signals.h"

enum { BATCH = 256 };

#define READ_MS 200         /* so long a stop may wait */
#define POST_MS 5000
#define ENSURE_MS 2000
#define ENSURE_EVERY_MS 3000 /* between two looks at whose the streams are: a new connection may be one to other streams, a description may be edited */
#define WAIT_LEAST_MS 250   /* before what was not kept is posted again; doubles */
#define WAIT_MOST_MS 10000
#define SAY_EVERY_MS 60000

struct nack_reader {
    pthread_t thread;
    pthread_mutex_t lock;
    struct nack_source *source;
    struct mailer *mailer;
    struct link *link;
    struct streams_options streams;
    int64_t ensure_ms; /* the streams are looked at then, before a post */
    const char **matches;
    struct nack_source_record records[BATCH];
    struct nack_reader_item items[BATCH];
    struct mailer_item posts[BATCH];
    size_t post_item[BATCH]; /* of each post, its item */
    int64_t said_ms;         /* when standing still was last told; -SAY_EVERY_MS: never */
    /* Under the lock: */
    struct nack_reader_rules rules; /* of these the policies change */
    struct nack_reader_counts counts;
    bool stop;
};

static bool stopping(struct nack_reader *reader)
{
    pthread_mutex_lock(&reader->lock);
    bool stop = reader->stop;
    pthread_mutex_unlock(&reader->lock);
    return stop;
}

static void count(struct nack_reader *reader, uint64_t read, uint64_t parked, uint64_t failed)
{
    pthread_mutex_lock(&reader->lock);
    reader->counts.read += read;
    reader->counts.parked += parked;
    reader->counts.failed += failed;
    reader->counts.standing = failed > 0;
    pthread_mutex_unlock(&reader->lock);
}

/* ------------------------------------------------------------------------------------------------- a batch */

static void make_items(struct nack_reader *reader, size_t size)
{
    int64_t now_ms = clock_wall().ms;
    pthread_mutex_lock(&reader->lock); /* a reload waits for this: some microseconds a record */
    for (size_t i = 0; i < size; i++) {
        nack_reader_item_make(&reader->items[i], &reader->rules, &reader->records[i], now_ms);
    }
    pthread_mutex_unlock(&reader->lock);
}

static void free_items(struct nack_reader *reader, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        nack_reader_item_free(&reader->items[i]);
    }
}

/* Names what is not kept yet; returns how many. */
static size_t gather(struct nack_reader *reader, size_t size)
{
    size_t posts = 0;
    for (size_t i = 0; i < size; i++) {
        if (!reader->items[i].kept) {
            reader->posts[posts] = (struct mailer_item){.letter = &reader->items[i].letter, .state = reader->items[i].state};
            reader->post_item[posts++] = i;
        }
    }
    return posts;
}

/* Once in a while, not at every try. */
static void say_standing(struct nack_reader *reader, const struct nack_source_record *record, const char *why)
{
    int64_t now_ms = clock_mono().ms;
    if (now_ms - reader->said_ms < SAY_EVERY_MS) {
        return;
    }
    reader->said_ms = now_ms;
    log_write(LOG_LEVEL_WARNING, "nacks_stand",
              LOG_FIELDS(LOG_TEXT("topic", record->topic), LOG_NUMBER("partition", record->partition), LOG_NUMBER("offset", record->record.offset)),
              "nack topics are not read on, as no letter can be kept; nothing is lost, and it is tried again: %s", why);
}

/* True: the streams are there, usable and ours: who posts into those of another cluster or group has his letters redelivered there. */
static bool ensure_streams(struct nack_reader *reader, struct error *error)
{
    if (clock_mono().ms < reader->ensure_ms) {
        return true;
    }
    struct streams_findings findings; /* told by the outbox, which looks at the same streams */
    bool usable = streams_ensure(reader->link, &reader->streams, ENSURE_MS, &findings, error);
    reader->ensure_ms = usable ? clock_mono().ms + ENSURE_EVERY_MS : 0;
    return usable;
}

/* Posts what is not kept yet. True: all is. */
static bool post(struct nack_reader *reader, size_t size)
{
    size_t posts = gather(reader, size);
    uint64_t read = 0;
    uint64_t parked = 0;
    struct error error = {0};
    if (posts > 0 && !ensure_streams(reader, &error)) {
        say_standing(reader, &reader->records[reader->post_item[0]], error.text);
        count(reader, 0, 0, posts);
        return false;
    }
    if (posts > 0) {
        mailer_post(reader->mailer, reader->posts, posts, POST_MS);
    }
    for (size_t i = 0; i < posts; i++) {
        struct nack_reader_item *item = &reader->items[reader->post_item[i]];
        item->kept = reader->posts[i].result == MAILER_KEPT;
        if (item->kept) {
            read++;
            parked += item->state == LETTER_PARKED ? 1 : 0;
        } else {
            say_standing(reader, &reader->records[reader->post_item[i]], reader->posts[i].error);
            reader->ensure_ms = 0;
        }
    }
    count(reader, read, parked, posts - read);
    return read == posts;
}

/* True: all letters of the batch are kept. False: the batch is gone, its records come again; or the end is near. */
static bool post_all(struct nack_reader *reader, size_t size)
{
    int64_t wait_ms = WAIT_LEAST_MS;
    while (!post(reader, size)) {
        for (int64_t left_ms = wait_ms; left_ms > 0; left_ms -= READ_MS) {
            if (stopping(reader) || !nack_source_wait(reader->source, left_ms < READ_MS ? left_ms : READ_MS)) {
                return false;
            }
        }
        wait_ms = wait_ms < WAIT_MOST_MS / 2 ? 2 * wait_ms : WAIT_MOST_MS;
    }
    return true;
}

static void commit(struct nack_reader *reader)
{
    struct error error = {0};
    if (!nack_source_commit(reader->source, &error)) {
        /* no harm: a later commit makes up for it, and a letter made twice has the same id */
        log_write(LOG_LEVEL_WARNING, "nacks_uncommitted", NULL, 0, "progress in the nack topics was not committed (%s): some may be read again, which makes no second letter", error.text);
    }
}

static void *run(void *context)
{
    struct nack_reader *reader = context;
    signals_block_in_thread();
    while (!stopping(reader)) {
        size_t size = nack_source_read(reader->source, READ_MS, reader->records, BATCH);
        if (size == 0) {
            continue;
        }
        make_items(reader, size);
        bool kept = post_all(reader, size);
        free_items(reader, size);
        if (kept) {
            commit(reader);
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- start and end */

static bool open_source(struct nack_reader *reader, const struct config *config, struct error *error)
{
    char group[512];
    (void)snprintf(group, sizeof(group), "%s.nacks", config->group);
    reader->matches = memory_new(config->nack_count, sizeof(*reader->matches));
    for (size_t i = 0; i < config->nack_count; i++) {
        reader->matches[i] = config->nacks[i].match;
    }
    const struct nack_source_options options = {.properties = config->kafka_consumer.items,
                                                .property_count = config->kafka_consumer.count,
                                                .group = group,
                                                .instance = config->instance,
                                                .matches = reader->matches,
                                                .match_count = config->nack_count};
    return nack_source_open(&options, &reader->source, error);
}

static void free_all(struct nack_reader *reader)
{
    nack_source_close(reader->source);
    mailer_free(reader->mailer);
    pthread_mutex_destroy(&reader->lock);
    free(reader->matches);
    free(reader);
}

bool nack_reader_start(const struct config *config, const char *owner, struct link *link, struct nack_reader **reader, struct error *error)
{
    *reader = NULL;
    if (config->nack_count == 0) {
        return true;
    }
    struct nack_reader *made = memory_new(1, sizeof(*made));
    pthread_mutex_init(&made->lock, NULL);
    made->rules = (struct nack_reader_rules){.opened = config, .policies = config};
    made->said_ms = -SAY_EVERY_MS;
    made->link = link;
    made->streams = letter_options_streams(config, owner);
    made->mailer = mailer_new(link, &made->streams);
    if (!open_source(made, config, error)) {
        free_all(made);
        return false;
    }
    if (pthread_create(&made->thread, NULL, run, made) != 0) {
        free_all(made);
        return error_set(error, ERROR_SYSTEM, "cannot start the thread that reads nacks: raise the limit of threads (ulimit -u)");
    }
    *reader = made;
    return true;
}

void nack_reader_reload(struct nack_reader *reader, const struct config *config)
{
    if (reader != NULL) {
        pthread_mutex_lock(&reader->lock);
        reader->rules.policies = config;
        pthread_mutex_unlock(&reader->lock);
    }
}

void nack_reader_stop(struct nack_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    pthread_mutex_lock(&reader->lock);
    reader->stop = true;
    pthread_mutex_unlock(&reader->lock);
    pthread_join(reader->thread, NULL);
    free_all(reader);
}

struct nack_reader_counts nack_reader_counts(struct nack_reader *reader)
{
    struct nack_reader_counts counts = {0};
    if (reader != NULL) {
        pthread_mutex_lock(&reader->lock);
        counts = reader->counts;
        pthread_mutex_unlock(&reader->lock);
    }
    return counts;
}
