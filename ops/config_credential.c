/* Credentials of the service manager: see config_credential.h. */
#include "ops/config_credential.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ops/config_value.h"

#define DIRECTORY "CREDENTIALS_DIRECTORY"
#define NAME_MAX_BYTES 255
#define PREFIX_LENGTH (sizeof(CONFIG_CREDENTIAL_PREFIX) - 1)

static bool is_credential(const char *value)
{
    return strncmp(value, CONFIG_CREDENTIAL_PREFIX, PREFIX_LENGTH) == 0;
}

static bool ends_with_file(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, "_file") == 0;
}

bool config_credential_path(const char *value, const char *directory, struct config_arena *arena, const char **path, struct error *error)
{
    if (!is_credential(value)) {
        *path = value;
        return true;
    }
    const char *name = value + PREFIX_LENGTH;
    if (!config_value_name(name, NAME_MAX_BYTES, NULL) || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return error_set(error, ERROR_INVALID,
                         "is no credential: write credential:NAME, with a name of letters, digits, dots, underscores and hyphens, as after LoadCredential=");
    }
    if (directory == NULL || directory[0] == '\0') {
        return error_set(error, ERROR_INVALID,
                         "is a credential of the service manager, and %s is not set: have the unit say LoadCredential=%.64s:/path/to/the/file; by hand, set %s to the "
                         "folder that holds the file %.64s",
                         DIRECTORY, name, DIRECTORY, name);
    }
    if (directory[0] != '/') {
        return error_set(error, ERROR_INVALID, "is a credential, and %s is no absolute path", DIRECTORY);
    }
    *path = config_arena_format(arena, "%s/%s", directory, name);
    return true;
}

static const char *directory_of(const char *const *environment)
{
    size_t length = sizeof(DIRECTORY) - 1;
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++) {
        if (strncmp(environment[i], DIRECTORY, length) == 0 && environment[i][length] == '=') {
            return environment[i] + length + 1;
        }
    }
    return NULL;
}

struct resolving {
    const char *directory;
    struct config_arena *arena;
    struct config_problems *problems;
};

static void resolve_scalar(const struct resolving *resolving, const char *path, const struct config_entry *entry)
{
    struct error error = {ERROR_NONE, ""};
    char key[256];
    (void)text_printable(span_of_text(path), key, sizeof(key));
    if (!config_credential_path(entry->node->text, resolving->directory, resolving->arena, &entry->node->text, &error)) {
        config_problems_error(resolving->problems, config_node_place_text(entry->node->place).text, "%s: %s %s", key,
                              config_value_show(entry->node->text).text, error.text);
        entry->node->kind = CONFIG_NODE_BROKEN;
    }
}

/* `depth` more levels of maps are looked into: kafka.producer and nats.tls are one. */
static void resolve_map(const struct resolving *resolving, const char *prefix, const struct config_node *map, int depth)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct config_entry *entry = &map->entries[i];
        char path[256];
        (void)snprintf(path, sizeof(path), "%.150s.%.100s", prefix, entry->name);
        if (entry->node->kind == CONFIG_NODE_MAP && depth > 0) {
            resolve_map(resolving, path, entry->node, depth - 1);
        } else if (entry->node->kind == CONFIG_NODE_SCALAR && ends_with_file(entry->name)) {
            resolve_scalar(resolving, path, entry);
        }
    }
}

void config_credential_resolve(
    struct config_node *tree, const char *const *environment, struct config_arena *arena, struct config_problems *problems)
{
    static const char *const groups[] = {"kafka", "nats", "http"};
    struct resolving resolving = {directory_of(environment), arena, problems};
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        const struct config_entry *entry = config_node_find(tree, groups[i]);
        if (entry != NULL && entry->node->kind == CONFIG_NODE_MAP) {
            resolve_map(&resolving, groups[i], entry->node, 1);
        }
    }
}
