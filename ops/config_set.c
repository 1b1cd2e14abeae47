#include "ops/config_set.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/span.h"
#include "bridge/target.h"
#include "ops/config_value.h"
#include "ops/config_words.h"

_Static_assert(sizeof(enum log_level) == sizeof(unsigned), "choices are stored as unsigned");

static bool in_range(const struct config_key *key, int64_t value, struct error *error)
{
    if (value < key->least || value > key->most) {
        return error_set(error, ERROR_INVALID, "is out of range (%s)", config_words_of(key).text);
    }
    return true;
}

static bool lane_valid(const char *text, int64_t most, struct error *error)
{
    if (!config_value_name(text, most, NULL) || strchr(text, '.') != NULL) {
        return error_set(error, ERROR_INVALID,
                         "is not a lane's name: write 1 to %lld letters, digits, underscores and hyphens",
                         (long long)most);
    }
    if (text[0] == '_' || strcmp(text, "default") == 0) {
        return error_set(error, ERROR_INVALID, "is a name of tarry's own: choose another, without _ in front");
    }
    return true;
}

static bool pattern_valid(const char *text, struct error *error)
{
    char plain[250];
    size_t length = strlen(text);
    if (length < sizeof plain) {
        memcpy(plain, text, length + 1);
        for (char *at = plain; *at != '\0'; at++) {
            if (*at == '*') {
                *at = 'x';
            }
        }
    }
    if (length >= sizeof plain || !target_name_valid(span_of_text(plain))) {
        return error_set(error, ERROR_INVALID,
                         "is not a topic with *: write 1 to 249 letters, digits, dots, underscores, hyphens and *");
    }
    return true;
}

/* Whether a text is one for this key. */
static bool text_valid(const struct config_key *key, const char *text, struct error *error)
{
    struct config_address address;
    if (key->type == CONFIG_TYPE_NAME) {
        return config_value_name(text, key->most, error);
    }
    if (key->type == CONFIG_TYPE_LANE) {
        return lane_valid(text, key->most, error);
    }
    if (key->type == CONFIG_TYPE_PATTERN) {
        return pattern_valid(text, error);
    }
    if (key->type == CONFIG_TYPE_ADDRESS) {
        return config_value_address(text, &address, error);
    }
    if (key->type == CONFIG_TYPE_TOPIC && !target_name_valid(span_of_text(text))) {
        return error_set(
            error, ERROR_INVALID,
            "is not a topic: write 1 to 249 letters, digits, dots, underscores and hyphens, and not . or ..");
    }
    if (key->type == CONFIG_TYPE_SERVERS) {
        return config_value_servers(text, error);
    }
    if (key->type == CONFIG_TYPE_SUBJECT) {
        return config_value_subject(text, key->most, error);
    }
    if (key->type == CONFIG_TYPE_STREAM && (!config_value_name(text, key->most, NULL) || strchr(text, '.') != NULL)) {
        return error_set(error, ERROR_INVALID,
                         "is not a stream's name: write 1 to %lld letters, digits, underscores and hyphens",
                         (long long)key->most);
    }
    size_t length = strlen(text);
    if (key->type == CONFIG_TYPE_TEXT && (length == 0 || length > (size_t)key->most)) {
        return error_set(error, ERROR_INVALID, "is not a text of 1 to %lld bytes", (long long)key->most);
    }
    if (key->type == CONFIG_TYPE_PATH && (length == 0 || length > (size_t)key->most)) {
        return error_set(error, ERROR_INVALID, "is not a path of 1 to %lld bytes", (long long)key->most);
    }
    return true;
}

static bool set_number(const struct config_key *key, const char *text, int64_t *field, struct error *error)
{
    int64_t value = 0;
    bool good = false;
    if (key->type == CONFIG_TYPE_RATE) {
        good = config_value_rate(text, &value, error);
    } else if (key->type == CONFIG_TYPE_PERCENT) {
        good = config_value_percent(text, &value, error);
    } else if (key->type == CONFIG_TYPE_COUNT || key->type == CONFIG_TYPE_TIMES) {
        good = config_value_count(text, &value, error);
    } else if (key->type == CONFIG_TYPE_SIZE) {
        good = config_value_size(text, &value, error);
    } else {
        good = config_value_duration(text, &value, error);
    }
    if (!good || !in_range(key, value, error)) {
        return false;
    }
    *field = value;
    return true;
}

bool config_set_scalar(const struct config_key *key, const char *text, void *field, struct error *error)
{
    switch (key->type) {
    case CONFIG_TYPE_NAME:
    case CONFIG_TYPE_LANE:
    case CONFIG_TYPE_TOPIC:
    case CONFIG_TYPE_PATTERN:
    case CONFIG_TYPE_ADDRESS:
    case CONFIG_TYPE_PATH:
    case CONFIG_TYPE_TEXT:
    case CONFIG_TYPE_SERVERS:
    case CONFIG_TYPE_STREAM:
    case CONFIG_TYPE_SUBJECT:
        if (!text_valid(key, text, error)) {
            return false;
        }
        *(const char **)field = text;
        return true;
    case CONFIG_TYPE_BOOL:
        return config_value_bool(text, field, error);
    case CONFIG_TYPE_TIMES:
    case CONFIG_TYPE_PERCENT:
    case CONFIG_TYPE_RATE: {
        int64_t value = 0;
        if (!set_number(key, text, &value, error)) {
            return false;
        }
        *(uint32_t *)field = (uint32_t)value;
        return true;
    }
    case CONFIG_TYPE_COUNT:
    case CONFIG_TYPE_DURATION:
    case CONFIG_TYPE_SIZE:
        return set_number(key, text, field, error);
    case CONFIG_TYPE_CHOICE:
        return config_value_choice(text, key->choices, field, error);
    case CONFIG_TYPE_NAMES:
    case CONFIG_TYPE_MAP:
    case CONFIG_TYPE_PROPERTIES:
    case CONFIG_TYPE_LIST:
    case CONFIG_TYPE_NAMED:
        break;
    }
    return error_set(error, ERROR_INVALID, "is no value for it");
}

void config_set_names(const char *text, struct config_arena *arena, struct config_names *field)
{
    size_t most = 1;
    for (const char *at = text; *at != '\0'; at++) {
        most += *at == ',';
    }
    const char **items = config_arena_new(arena, most, sizeof *items);
    size_t count = 0;
    for (const char *at = text; *at != '\0'; at += *at == ',' ? 1 : 0) {
        size_t length = strcspn(at, ",");
        items[count++] = config_arena_text(arena, at, length);
        at += length;
    }
    *field = (struct config_names){items, count};
}
