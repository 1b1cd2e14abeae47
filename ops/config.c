#include "ops/config.h"

#include <stdlib.h>
#include <string.h>

void config_free(struct config *config)
{
    if (config == NULL) {
        return;
    }
    struct config_arena arena = config->arena;
    config_arena_free(&arena);
    free(config);
}

const char *config_source_field(const struct config_source *source, const char *field)
{
    for (size_t i = 0; i < source->fields.count; i++) {
        if (strcmp(source->fields.items[i].name, field) == 0) {
            return source->fields.items[i].value;
        }
    }
    return field;
}

bool config_source_speaks(const struct config_source *source, const char *dialect)
{
    for (size_t i = 0; i < source->dialects.count; i++) {
        if (strcmp(source->dialects.items[i], dialect) == 0) {
            return true;
        }
    }
    return false;
}
