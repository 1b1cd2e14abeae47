#include <string.h>

#include "base/memory.h"
#include "ops/config.h"
#include "ops/config_apply.h"
#include "ops/config_check.h"
#include "ops/config_credential.h"
#include "ops/config_file.h"
#include "ops/config_kafka.h"
#include "ops/config_override.h"
#include "ops/yaml_tree.h"

/* Reads the file into config->tree. *open_to_all: anybody may read it. */
static bool read_tree(const char *path, struct config *config, bool *open_to_all, struct config_problems *problems)
{
    struct error error = {ERROR_NONE, ""};
    struct buffer bytes = buffer_new(YAML_TREE_BYTES_MAX);
    const char *name = config_arena_text(&config->arena, path, strlen(path));
    bool done = config_file_read(path, &bytes, open_to_all, &error);
    if (!done) {
        const char *remedy = error.code == ERROR_FULL ? ": this is no configuration of tarry"
                                                      : "; check the path after -c, and who may read it";
        config_problems_error(problems, path, "%s%s", error.text, remedy);
    }
    done = done && yaml_tree_parse(buffer_span(&bytes), name, &config->arena, problems, &config->tree);
    buffer_free(&bytes);
    return done;
}

/* Reads the file that the key `key` names (NULL: none) into *secret. */
static void read_secret(struct config *config, const char *key, const char *file, const char **secret, struct config_problems *problems)
{
    if (file == NULL) {
        return;
    }
    struct error error = {ERROR_NONE, ""};
    bool open_to_all = false;
    const struct config_entry *entry = config_node_at(config->tree, NULL, 0, key);
    struct config_place_text place = config_node_place_text(entry == NULL ? config->tree->place : entry->place);
    if (!config_file_secret(file, &config->arena, secret, &open_to_all, &error)) {
        config_problems_error(problems, place.text, "%s: file %s: %s", key, config_value_show(file).text, error.text);
    } else if (open_to_all) {
        config_problems_warning(problems, place.text, "%s: anybody on this machine can read %s: chmod 600", key,
                                config_value_show(file).text);
    }
}

/* The same for a file that a library reads itself, and says what is wrong with it: only who may read it is looked at. */
static void look_at_secret(const struct config *config, const char *key, const char *file, struct config_problems *problems)
{
    if (file != NULL && config_file_open_to_all(file)) {
        const struct config_entry *entry = config_node_at(config->tree, NULL, 0, key);
        config_problems_warning(problems, config_node_place_text(entry == NULL ? config->tree->place : entry->place).text,
                                "%s: anybody on this machine can read %s: chmod 600", key, config_value_show(file).text);
    }
}

/* One warning for a file that anybody can read and that holds a secret itself. */
static void warn_of_open_file(const struct config *config, const char *path, struct config_problems *problems)
{
    for (size_t group = 0; group < CONFIG_KAFKA_GROUPS; group++) {
        const struct config_entry *map = config_node_at(config->tree, NULL, 0, config_kafka_group(group));
        for (size_t i = 0; map != NULL && i < map->node->count; i++) {
            const struct config_entry *entry = &map->node->entries[i];
            size_t length = strlen(entry->name);
            bool from_file = length > 5 && strcmp(entry->name + length - 5, "_file") == 0;
            if (config_kafka_confidential(entry->name) && !from_file &&
                entry->node->place.origin == CONFIG_ORIGIN_FILE) {
                config_problems_warning(problems, config_node_place_text(entry->place).text,
                                        "%s.%s: anybody on this machine can read %s: chmod 600, or use %s_file",
                                        config_kafka_group(group), entry->name, config_value_show(path).text,
                                        entry->name);
                return;
            }
        }
    }
}

static void
fill(const struct config_request *request, struct config *config, bool open_to_all, struct config_problems *problems)
{
    config_override_environment(config->tree, request->environment, &config->arena, problems);
    config_override_settings(config->tree, request->settings, request->setting_count, &config->arena, problems);
    config_credential_resolve(config->tree, request->environment, &config->arena, problems);
    config_apply(config->tree, config, problems);
    (void)config_value_address(config->http_listen, &config->http_address, NULL); /* was checked when it was applied */
    config_kafka_resolve(config, &request->hooks, problems);
    read_secret(config, "http.token_file", config->http_token_file, &config->http_token, problems);
    read_secret(config, "nats.password_file", config->nats_password_file, &config->nats_password, problems);
    read_secret(config, "nats.token_file", config->nats_token_file, &config->nats_token, problems);
    look_at_secret(config, "nats.credentials_file", config->nats_credentials_file, problems);
    look_at_secret(config, "nats.tls.key_file", config->nats_tls_key_file, problems);
    if (open_to_all) {
        warn_of_open_file(config, request->path, problems);
    }
    config_check(config, problems);
}

bool config_load(const struct config_request *request, struct config **config, struct config_problems *problems)
{
    struct config *loaded = memory_new(1, sizeof *loaded);
    size_t errors_before = problems->errors;
    bool open_to_all = false;
    bool readable = true;
    if (request->path == NULL) {
        loaded->tree = config_node_new(&loaded->arena, CONFIG_NODE_MAP, (struct config_place){0});
    } else {
        readable = read_tree(request->path, loaded, &open_to_all, problems);
    }
    if (readable) {
        fill(request, loaded, open_to_all, problems);
    }
    if (problems->errors > errors_before) {
        config_free(loaded);
        return false;
    }
    *config = loaded;
    return true;
}
