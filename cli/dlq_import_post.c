#include "cli/dlq_import_post.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"

#define SEND_TIMEOUT_MS 30000

bool dlq_import_post_new(const struct dlq_context *context, struct dlq_import_post **post, struct error *error)
{
    struct streams_findings findings = {0};
    if (!streams_ensure(context->link, &context->streams, DLQ_CONTEXT_TIMEOUT_MS, &findings, error)) {
        return false;
    }
    struct dlq_import_post *made = memory_new(1, sizeof *made);
    made->context = context;
    made->mailer = mailer_new(context->link, &context->streams);
    for (size_t i = 0; i < DLQ_IMPORT_POST_BATCH; i++) {
        made->places[i].room = buffer_new(DLQ_IMPORT_POST_ROOM);
    }
    *post = made;
    return true;
}

void dlq_import_post_free(struct dlq_import_post *post)
{
    if (post == NULL) {
        return;
    }
    for (size_t i = 0; i < DLQ_IMPORT_POST_BATCH; i++) {
        buffer_free(&post->places[i].room);
    }
    mailer_free(post->mailer);
    free(post);
}

struct dlq_import_post_place *dlq_import_post_place(struct dlq_import_post *post)
{
    return &post->places[post->count];
}

void dlq_import_post_taken(struct dlq_import_post *post, struct dlq_import_post_place *place, uint64_t line)
{
    place->line = line;
    post->items[post->count] = (struct mailer_item){.letter = &place->letter, .state = place->state};
    post->bytes += place->room.length;
    post->count += 1;
}

bool dlq_import_post_full(const struct dlq_import_post *post)
{
    return post->count == DLQ_IMPORT_POST_BATCH || post->bytes >= DLQ_IMPORT_POST_BYTES;
}

/* Counts one answer. False: it stands in the way of all others. */
static bool count(struct dlq_import_post *post, const struct mailer_item *item, uint64_t line, struct error *error)
{
    switch (item->result) {
    case MAILER_KEPT:
        post->kept += !item->duplicate;
        post->duplicates += item->duplicate;
        return true;
    case MAILER_REFUSED:
        post->refused += 1;
        dlq_context_say(post->context, "line %" PRIu64 " is not taken: %s", line, item->error);
        return true;
    case MAILER_FULL:
        return error_set(error, ERROR_FULL, "line %" PRIu64 ": %s", line, item->error);
    case MAILER_UNAVAILABLE:
        return error_set(error, ERROR_UNAVAILABLE, "line %" PRIu64 ": %s", line, item->error);
    }
    return true;
}

bool dlq_import_post_send(struct dlq_import_post *post, struct error *error)
{
    struct error first = {ERROR_NONE, ""};
    post->kept = 0;
    post->duplicates = 0;
    post->refused = 0;
    mailer_post(post->mailer, post->items, post->count, SEND_TIMEOUT_MS);
    for (size_t i = 0; i < post->count; i++) {
        (void)count(post, &post->items[i], post->places[i].line, first.code == ERROR_NONE ? &first : NULL);
        buffer_clear(&post->places[i].room);
    }
    post->count = 0;
    post->bytes = 0;
    return first.code == ERROR_NONE || error_set(error, first.code, "%s", first.text);
}
