/* The parts of a scenario; for world_script.c. */
#ifndef TARRY_TESTS_WORLD_SCRIPT_H
#define TARRY_TESTS_WORLD_SCRIPT_H

#include "tests/sim/world_state.h"

#define SCRIPT_WORDS_MAX 32

struct script_line {
    int number;
    size_t word_count;
    char *words[SCRIPT_WORDS_MAX];
};

struct world_script {
    const char *path;
    struct script_line *lines;
    size_t count;
    size_t capacity;
};

/* The word that follows `name`, NULL: none. */
const char *world_script_value(const struct script_line *line, const char *name);
int64_t world_script_number(const struct world *world, const struct script_line *line, const char *name, int64_t none);
void world_script_expect(struct world *world, const struct script_line *line);

#endif
