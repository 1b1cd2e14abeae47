#include "bridge/sink_headers.h"

#define SPARE 8 /* what may come to the row's own */

static void add(void *list, struct span name, struct span value)
{
    /* a NULL value is a null header; an empty one has bytes to point to and the length 0 */
    rd_kafka_header_add(list, (const char *)name.data, (ssize_t)name.length, value.data, (ssize_t)value.length);
}

static rd_kafka_headers_t *new_list(const struct row *row)
{
    return rd_kafka_headers_new(row->record.header_count + SPARE);
}

/* The list when it is whole, else NULL. */
static rd_kafka_headers_t *whole(rd_kafka_headers_t *list, bool done)
{
    if (!done) {
        rd_kafka_headers_destroy(list);
        return NULL;
    }
    return list;
}

rd_kafka_headers_t *sink_headers_accepted(const struct row *row, const struct sink_origin *origin, enum output_headers style)
{
    rd_kafka_headers_t *list = new_list(row);
    return whole(list, outgoing_accepted(row, origin, style, add, list));
}

rd_kafka_headers_t *sink_headers_copied(const struct row *row, const struct sink_origin *origin, const struct outgoing_again *again)
{
    rd_kafka_headers_t *list = new_list(row);
    return whole(list, outgoing_copied(row, origin, again, add, list));
}
