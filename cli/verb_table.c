#include "cli/verb_table.h"

#include <string.h>

#include "cli/verb_table_part.h"

static const struct verb_table_part *const PARTS[] = {
    &verb_table_local, &verb_table_events, &verb_table_daemon, &verb_table_letters, &verb_table_about,
};

#define PART_COUNT (sizeof PARTS / sizeof PARTS[0])

size_t verb_table_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < PART_COUNT; i++) {
        count += PARTS[i]->count;
    }
    return count;
}

const struct verb *verb_table_at(size_t index)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (index < PARTS[i]->count) {
            return &PARTS[i]->verbs[index];
        }
        index -= PARTS[i]->count;
    }
    return NULL;
}

const struct verb *verb_table_find(const char *name)
{
    for (size_t i = 0; i < verb_table_count(); i++) {
        if (strcmp(verb_table_at(i)->name, name) == 0) {
            return verb_table_at(i);
        }
    }
    return NULL;
}

const struct verb_group *verb_table_group(enum verb_group_index index)
{
    return &verb_table_shared[index];
}

static bool is_child(const struct verb *verb, const struct verb *parent)
{
    if (parent == NULL) {
        return strchr(verb->name, ' ') == NULL;
    }
    size_t length = strlen(parent->name);
    return strncmp(verb->name, parent->name, length) == 0 && verb->name[length] == ' ';
}

const char *verb_table_word(const struct verb *verb)
{
    const char *blank = strrchr(verb->name, ' ');
    return blank == NULL ? verb->name : blank + 1;
}

const struct verb *verb_table_child_at(const struct verb *parent, size_t index)
{
    for (size_t i = 0; i < verb_table_count(); i++) {
        const struct verb *verb = verb_table_at(i);
        if (is_child(verb, parent) && index-- == 0) {
            return verb;
        }
    }
    return NULL;
}

const struct verb *verb_table_child(const struct verb *parent, const char *word)
{
    const struct verb *verb = NULL;
    for (size_t i = 0; (verb = verb_table_child_at(parent, i)) != NULL; i++) {
        if (strcmp(verb_table_word(verb), word) == 0) {
            return verb;
        }
    }
    return NULL;
}

const struct verb_flag *verb_table_flag_at(const struct verb *verb, size_t index)
{
    if (index < verb->flag_count) {
        return &verb->flags[index];
    }
    index -= verb->flag_count;
    for (size_t i = 0; i < VERB_GROUPS; i++) {
        if ((verb->groups & (1U << i)) == 0) {
            continue;
        }
        if (index < verb_table_shared[i].flag_count) {
            return &verb_table_shared[i].flags[index];
        }
        index -= verb_table_shared[i].flag_count;
    }
    return NULL;
}

static bool is_named(const struct verb_flag *flag, const char *text)
{
    size_t length = strlen(flag->name);
    if (flag->letter != '\0' && text[0] == '-' && text[1] == flag->letter) {
        return text[2] == '\0' || text[2] == '=';
    }
    return strncmp(text, flag->name, length) == 0 && (text[length] == '\0' || text[length] == '=');
}

const struct verb_flag *verb_table_flag(const struct verb *verb, const char *text)
{
    const struct verb_flag *flag = NULL;
    for (size_t i = 0; (flag = verb_table_flag_at(verb, i)) != NULL; i++) {
        if (is_named(flag, text)) {
            return flag;
        }
    }
    return NULL;
}

bool verb_table_choice(const char **at, char word[VERB_TABLE_WORD_SIZE])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-/";
    while (**at != '\0') {
        const char *start = *at + strspn(*at, "[]| ");
        size_t length = strcspn(start, "[]| ");
        *at = start + length;
        bool small = length > 0 && length < VERB_TABLE_WORD_SIZE && strspn(start, letters) >= length;
        if (small && (length > 1 || *start != '-')) {
            memcpy(word, start, length);
            word[length] = '\0';
            return true;
        }
    }
    return false;
}

bool verb_table_is_file(const char *argument)
{
    return argument != NULL && strstr(argument, "FILE") != NULL;
}
