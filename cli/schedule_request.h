/* What `tarry schedule` asks the daemon for, made of its arguments. */
#ifndef TARRY_CLI_SCHEDULE_REQUEST_H
#define TARRY_CLI_SCHEDULE_REQUEST_H

#include <stdbool.h>

#include "base/buffer.h"
#include "cli/verb_arguments.h"

#define SCHEDULE_REQUEST_VALUE_MAX ((size_t)16 * 1024 * 1024) /* more than a daemon takes, which says how much */

struct schedule_request {
    bool recurring;      /* --every or --cron */
    struct buffer value; /* its bytes */
    bool null;           /* no value */
};

/* Checks that the flags go together and reads the value (FILE, standard input, --value, --null). Files are read here, so that nothing is sent when one cannot be. Times are
 * not looked at: the daemon reads them by its own clock. 0, or the code to exit with, told. Free it in any case. */
int schedule_request_read(const struct verb_arguments *arguments, struct schedule_request *request);

void schedule_request_free(struct schedule_request *request);

/* Appends the JSON of the request, NUL-terminated. */
void schedule_request_json(const struct verb_arguments *arguments, const struct schedule_request *request, struct buffer *json);

#endif
