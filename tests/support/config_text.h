/* Configurations in tests: a text as a file, loaded. */
#ifndef TARRY_TESTS_SUPPORT_CONFIG_TEXT_H
#define TARRY_TESTS_SUPPORT_CONFIG_TEXT_H

#include "ops/config.h"

/* The least that is good. */
#define CONFIG_TEXT_LEAST                                                                                              \
    "instance: i\nkafka: {bootstrap.servers: 'b:1'}\nsources: [{topic: in, default_target: out}]\n"

/* Loads `text` as the file "tarry.yaml" of an empty folder (mode 0600), which is removed again. `request` (NULL: none)
 * gives the rest. NULL: it is bad, *problems says why. */
struct config *
config_text_load(const char *text, const struct config_request *request, struct config_problems *problems);

/* Same, for texts that must be good and without warnings: else the test fails. */
struct config *config_text_good(const char *text);

/* True when a problem's place ends in `place` and its text contains `part`. */
bool config_text_has(const struct config_problems *problems, bool warning, const char *place, const char *part);

#endif
