/* How many letters of which target go where: what a dry run says. Bounded: beyond DLQ_TALLY_MAX rows only a sum. */
#ifndef TARRY_CLI_DLQ_TALLY_H
#define TARRY_CLI_DLQ_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/span.h"
#include "cli/output.h"

#define DLQ_TALLY_MAX 1000

struct dlq_tally_row {
    char *from; /* "_refused": none */
    char *to;   /* NULL: nowhere (parked, purged) */
    uint64_t letters;
};

/* Zeroed: empty. */
struct dlq_tally {
    struct dlq_tally_row rows[DLQ_TALLY_MAX];
    size_t count;
    size_t last;   /* the row found last */
    uint64_t rest; /* letters of all other targets */
};

void dlq_tally_free(struct dlq_tally *tally);

/* One letter more. target absent: refused; to absent: nowhere. Copies. */
void dlq_tally_add(struct dlq_tally *tally, struct span target, struct span to);

/* As a table on stdout; `to`: with the column that says where to. */
void dlq_tally_print(const struct dlq_tally *tally, const struct output *output, bool to);

/* `"targets":[{"target":"orders","to":"orders","letters":3}],"others":0` */
void dlq_tally_json(const struct dlq_tally *tally, struct buffer *json);

#endif
