/* Room-internal: What the mailer looks at of a message that stands in a stream. Included by mailer_state.h. */
#ifndef TARRY_DLQ_MAILER_VERIFY_H
#define TARRY_DLQ_MAILER_VERIFY_H

#include "dlq/mailer_state.h"

void mailer_verify_id(const struct mailer_message *message, char id[MAILER_ID_SIZE]);

const char *mailer_verify_stream(const struct mailer *mailer, const struct mailer_message *message);

#endif
