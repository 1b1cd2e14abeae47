/* One letter as JSON in an answer: the object of dlq/letter_json.h, as far as http.payloads lets it be seen. The worker of API_LETTERS alone. */
#ifndef TARRY_OPS_API_LETTERS_SHOW_H
#define TARRY_OPS_API_LETTERS_SHOW_H

#include "dlq/letter.h"
#include "ops/api.h"

struct link;

struct api_letters_show {
    struct api *api;
    struct link *link;
    bool payload;      /* key, value and headers too, with http.payloads: full */
    size_t bytes_most; /* of a record: a larger one is not shown, with "cut": true */
};

/*
 * Appends the object. A record that stands apart is loaded when it is shown; one that is gone, or damaged, is "cut": true, too. What http.payloads keeps back is told by "payloads".
 * Nothing is added to a letter that is shown whole: `tarry dlq import` reads it. `bytes`: of its message. False: ERROR_UNAVAILABLE (nobody answers), ERROR_FULL (even without payload).
 */
bool api_letters_show(const struct api_letters_show *show, enum letter_state state, const struct letter *letter, size_t bytes, struct buffer *out, struct error *error);

#endif
