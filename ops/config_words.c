#include "ops/config_words.h"

#include <stdio.h>

#define SECOND INT64_C(1000)
#define DAY (INT64_C(86400) * SECOND)
#define MIB (INT64_C(1024) * 1024)
#define GIB (1024 * MIB)

struct unit {
    const char *name;
    int64_t factor;
};

/* The number in its greatest unit that divides it. */
static void write_number(char *text, size_t size, int64_t number, const struct unit *units)
{
    const struct unit *unit = units;
    while (number % unit->factor != 0 || (number < unit->factor && unit->factor > 1)) {
        unit++;
    }
    snprintf(text, size, "%lld%s", (long long)(number / unit->factor), unit->name);
}

static struct config_words words_of_range(const struct config_key *key, const char *type, const struct unit *units)
{
    char least[32];
    char most[32];
    write_number(least, sizeof least, key->least, units);
    write_number(most, sizeof most, key->most, units);
    struct config_words words;
    snprintf(words.text, sizeof words.text, "%s, %s to %s", type, least, most);
    return words;
}

static struct config_words words_of_choices(const struct config_key *key, const char *before)
{
    struct config_words words;
    size_t used = (size_t)snprintf(words.text, sizeof words.text, "%s", before);
    for (const char *at = key->choices; *at != '\0' && used < sizeof words.text - 3; at++) {
        const char *piece = *at == '|' ? ", " : (char[]){*at, '\0'};
        used += (size_t)snprintf(words.text + used, sizeof words.text - used, "%s", piece);
    }
    return words;
}

struct config_words config_words_of(const struct config_key *key)
{
    static const struct unit counts[] = {{"", 1}};
    static const struct unit times[] = {{"d", DAY}, {"h", 3600 * SECOND}, {"m", 60 * SECOND}, {"s", SECOND}, {"ms", 1}};
    static const struct unit sizes[] = {{"TiB", 1024 * GIB}, {"GiB", GIB}, {"MiB", MIB}, {"KiB", 1024}, {"", 1}};
    struct config_words words = {""};
    switch (key->type) {
    case CONFIG_TYPE_NAME:
        snprintf(words.text, sizeof words.text, "name, [a-zA-Z0-9._-], 1 to %lld characters", (long long)key->most);
        return words;
    case CONFIG_TYPE_LANE:
        snprintf(words.text, sizeof words.text, "name, [a-zA-Z0-9_-], 1 to %lld characters", (long long)key->most);
        return words;
    case CONFIG_TYPE_TOPIC:
        return (struct config_words){"topic"};
    case CONFIG_TYPE_PATTERN:
        return (struct config_words){"topic with *"};
    case CONFIG_TYPE_ADDRESS:
        return (struct config_words){"host:port"};
    case CONFIG_TYPE_PATH:
        return (struct config_words){"path"};
    case CONFIG_TYPE_TEXT:
        return (struct config_words){"text"};
    case CONFIG_TYPE_SERVERS:
        return (struct config_words){"nats://host:port or tls://host:port, more than one with commas"};
    case CONFIG_TYPE_STREAM:
        snprintf(words.text, sizeof words.text, "name, [a-zA-Z0-9_-], 1 to %lld characters", (long long)key->most);
        return words;
    case CONFIG_TYPE_SUBJECT:
        return (struct config_words){"words of [a-zA-Z0-9_-] with dots between"};
    case CONFIG_TYPE_BOOL:
        return (struct config_words){"true or false"};
    case CONFIG_TYPE_COUNT:
    case CONFIG_TYPE_TIMES:
        return words_of_range(key, "number", counts);
    case CONFIG_TYPE_PERCENT:
        snprintf(words.text, sizeof words.text, "number, %g to %g", (double)key->least / 100.0, (double)key->most / 100.0);
        return words;
    case CONFIG_TYPE_DURATION:
        return words_of_range(key, "duration", times);
    case CONFIG_TYPE_SIZE:
        return words_of_range(key, "size", sizes);
    case CONFIG_TYPE_CHOICE:
        return words_of_choices(key, "one of: ");
    case CONFIG_TYPE_RATE:
        snprintf(words.text, sizeof words.text, "rate, %lld/s to %lld/s", (long long)key->least, (long long)key->most);
        return words;
    case CONFIG_TYPE_NAMES:
        return (struct config_words){"list of names"};
    case CONFIG_TYPE_MAP:
        return (struct config_words){"map of names to texts"};
    case CONFIG_TYPE_PROPERTIES:
        return (struct config_words){"map of librdkafka's properties"};
    case CONFIG_TYPE_LIST:
        return (struct config_words){"list of maps"};
    case CONFIG_TYPE_NAMED:
        return (struct config_words){"map of names to maps"};
    }
    return words;
}
