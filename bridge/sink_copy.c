/* Records written again to the end of their own partition (R4). */
#include <stdio.h>

#include "bridge/sink_headers.h"
#include "bridge/sink_transaction.h"
#include "bridge/sink_transaction_state.h"

void sink_copy(struct sink *sink, const struct row *row, const struct sink_origin *origin)
{
    if (!sink_transaction_open_for_records(sink)) {
        sink_transaction_not_now(sink);
        return;
    }
    struct sink_report report = {.failure = DELIVERY_FAULT};
    struct sink_topic *topic = sink_topic_get(sink, span_of_text(origin->topic));
    enum sink_result result = SINK_FAILED;
    snprintf(report.error, sizeof report.error, "the delay topic's name is no legal one");
    if (topic != NULL) {
        result = sink_send_by(sink, sink_transaction_way(sink), topic, origin->partition, row->record.key, row->record.value,
                              sink_headers_copied(row, origin), sink_transaction_copy_token(sink), &report);
    }
    sink_transaction_sent(sink, result, result == SINK_FAILED ? &report : NULL);
}
