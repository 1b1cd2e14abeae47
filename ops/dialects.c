/* See dialects.h. */
#include "ops/dialects.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void make(struct dialect *dialect, const struct config_dialect *given, struct dialect_entry *entries)
{
    for (size_t i = 0; i < given->headers.count; i++) {
        entries[i].header = given->headers.items[i].name;
        (void)dialect_meaning(span_of_text(given->headers.items[i].value), &entries[i]); /* was checked */
    }
    *dialect = (struct dialect){.name = given->name,
                                .entries = entries,
                                .count = given->headers.count,
                                .id_from_key = given->id_from_key,
                                .null_is_cancel = given->null_is_cancel};
    dialect_index(dialect);
}

struct dialects dialects_new(const struct config *config)
{
    struct dialects dialects = {.count = config->dialect_count};
    size_t headers = 0;
    for (size_t i = 0; i < config->dialect_count; i++) {
        headers += config->dialects[i].headers.count;
    }
    dialects.own = memory_new(config->dialect_count + 1, sizeof(*dialects.own));
    dialects.entries = memory_new(headers + 1, sizeof(*dialects.entries));
    headers = 0;
    for (size_t i = 0; i < config->dialect_count; i++) {
        make(&dialects.own[i], &config->dialects[i], dialects.entries + headers);
        headers += config->dialects[i].headers.count;
    }
    return dialects;
}

void dialects_free(struct dialects *dialects)
{
    free(dialects->own);
    free(dialects->entries);
    *dialects = (struct dialects){0};
}

const struct dialect *dialects_find(const struct dialects *dialects, const char *name)
{
    for (size_t i = 0; i < dialects->count; i++) {
        if (strcmp(dialects->own[i].name, name) == 0) {
            return &dialects->own[i];
        }
    }
    return dialect_preset(span_of_text(name));
}
