/* See api_get_absent.h. */
#include "ops/api_get_absent.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "ops/clock.h"

#define SHOWN 200

void api_get_absent_not_ready(struct http_request *request, const struct daemon_api_get *question)
{
    const struct api_list_place *place = question->unready;
    if (place == NULL) {
        api_answer_problem(request, 503, "not_ready", "Service Unavailable", "No Kafka broker has answered since the start, so nothing is known of any event: ask again");
    } else {
        api_answer_problem(request, 503, "not_ready", "Service Unavailable",
                           "It is not among what has been read so far, and partition %" PRId32 " of %s is not read up to its end yet, as it is after a start or a takeover: ask again",
                           place->partition, place->topic);
    }
    request->allow_retry_s = "1";
}

void api_get_absent_not_found(
    struct http_request *request, const struct daemon_api_get *question, const char *topic, const struct api_get_elsewhere *elsewhere, struct cJSON *members)
{
    char id[SHOWN];
    char started[CLOCK_TEXT_SIZE];
    char rest[256] = "";
    (void)text_printable(request->parameter, id, sizeof(id));
    (void)clock_text((struct wall_ms){question->started_ms}, started, sizeof(started));
    if (elsewhere->count > 0) {
        (void)snprintf(rest, sizeof(rest), " %zu partitions of %s are not here: ask their owners (`elsewhere`).", elsewhere->count, topic == NULL ? "the sources" : topic);
    } else if (elsewhere->unknown) {
        (void)snprintf(rest, sizeof(rest), " Whether there are partitions elsewhere is not known just now: Kafka did not say.");
    }
    char detail[1024];
    (void)snprintf(detail, sizeof(detail),
                   "Nothing of the id \"%s\" is pending in the partitions that this instance has (%zu), and it remembers no end of it: it keeps the last %d outcomes of what has an "
                   "id, since its start at %s.%s",
                   id, question->here_count, HISTORY_EVENTS_MAX, started, rest);
    api_answer_problem_with(request, 404, "not_found", "Not Found", detail, members);
}
