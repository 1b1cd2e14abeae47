#include "ops/api_letters_link.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dlq/letter.h"
#include "ops/clock.h"
#include "ops/config_arena.h"
#include "ops/letter_options.h"

#define CONNECT_MS 1000 /* a server that is there has answered by then */
#define AWAY_MS 2000    /* so long nobody waits again for one that was not */

struct api_letters {
    struct config_arena texts;
    struct link_options options;
    struct streams_options streams;
    struct link *link;  /* NULL: not needed yet */
    int64_t missed_ms;  /* monotonic: when it was last waited for in vain; 0: never, or it has come since */
};

static const char *keep(struct api_letters *letters, const char *text)
{
    return text == NULL ? NULL : config_arena_text(&letters->texts, text, strlen(text));
}

struct api_letters *api_letters_link_new(const struct config *config)
{
    struct api_letters *letters = memory_new(1, sizeof *letters);
    struct link_options link = letter_options_link(config, "tarry api");
    struct streams_options streams = letter_options_streams(config, NULL);
    letters->options = (struct link_options){.url = keep(letters, link.url),
                                             .name = "tarry api",
                                             .user = keep(letters, link.user),
                                             .password = keep(letters, link.password),
                                             .token = keep(letters, link.token),
                                             .credentials_file = keep(letters, link.credentials_file),
                                             .tls_ca_file = keep(letters, link.tls_ca_file),
                                             .tls_certificate_file = keep(letters, link.tls_certificate_file),
                                             .tls_key_file = keep(letters, link.tls_key_file)};
    letters->streams = streams;
    letters->streams.stream = keep(letters, streams.stream);
    letters->streams.parked_stream = keep(letters, streams.parked_stream);
    letters->streams.prefix = keep(letters, streams.prefix);
    return letters;
}

void api_letters_link_free(struct api_letters *letters)
{
    if (letters != NULL) {
        link_close(letters->link);
        config_arena_free(&letters->texts);
        free(letters);
    }
}

const struct streams_options *api_letters_link_streams(const struct api *api)
{
    return &api->letters->streams;
}

const char *api_letters_link_stream(const struct api *api, unsigned state)
{
    return state == LETTER_PARKED ? api->letters->streams.parked_stream : api->letters->streams.stream;
}

void api_letters_link_unavailable(struct http_request *request, const struct api *api, const struct error *error)
{
    if (api_stopping(api)) {
        api_answer_problem(request, 503, "stopping", "Service Unavailable", "The scheduler is stopping.");
        return;
    }
    api_answer_problem(request, 503, "dead_letters_unavailable", "Service Unavailable", "%s", error->text);
    request->allow_retry_s = "2";
}

bool api_letters_link_in_time(const struct http_request *request, const struct api *api, int64_t spare_ms)
{
    return !api_stopping(api) && clock_mono().ms + spare_ms < request->deadline.ms;
}

static bool wait_for(struct http_request *request, struct api *api, struct error *error)
{
    struct api_letters *letters = api->letters;
    int64_t began_ms = clock_mono().ms;
    bool lately = letters->missed_ms != 0 && began_ms - letters->missed_ms < AWAY_MS;
    while (!link_wait(letters->link, lately ? 0 : API_SLICE_MS, error)) {
        if (lately || clock_mono().ms - began_ms >= CONNECT_MS || !api_letters_link_in_time(request, api, API_SLICE_MS)) {
            letters->missed_ms = lately ? letters->missed_ms : clock_mono().ms;
            return false;
        }
    }
    letters->missed_ms = 0;
    return true;
}

struct link *api_letters_link_up(struct http_request *request, struct api *api)
{
    struct error error = {ERROR_NONE, ""};
    struct api_letters *letters = api->letters;
    bool up = (letters->link != NULL || link_open(&letters->options, &letters->link, &error)) && wait_for(request, api, &error);
    if (!up) {
        api_letters_link_unavailable(request, api, &error);
        return NULL;
    }
    return letters->link;
}
