#include "cli/dlq_tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/output_table.h"
#include "dlq/letter_json.h"
#include "dlq/subject.h"

void dlq_tally_free(struct dlq_tally *tally)
{
    for (size_t i = 0; i < tally->count; i++) {
        free(tally->rows[i].from);
        free(tally->rows[i].to);
    }
    *tally = (struct dlq_tally){0};
}

static bool is_row(const struct dlq_tally_row *row, struct span target, struct span to)
{
    return span_equals_text(target, row->from) && (to.data == NULL ? row->to == NULL : row->to != NULL && span_equals_text(to, row->to));
}

void dlq_tally_add(struct dlq_tally *tally, struct span target, struct span to)
{
    struct span from = target.data == NULL ? span_of_text(SUBJECT_REFUSED) : target;
    size_t row = tally->last;
    if (row >= tally->count || !is_row(&tally->rows[row], from, to)) {
        for (row = 0; row < tally->count && !is_row(&tally->rows[row], from, to);) {
            row++;
        }
    }
    if (row == DLQ_TALLY_MAX) {
        tally->rest += 1;
        return;
    }
    if (row == tally->count) {
        tally->rows[row] = (struct dlq_tally_row){memory_text(from.data, from.length), to.data == NULL ? NULL : memory_text(to.data, to.length), 0};
        tally->count += 1;
    }
    tally->rows[row].letters += 1;
    tally->last = row;
}

void dlq_tally_print(const struct dlq_tally *tally, const struct output *output, bool to)
{
    static const struct output_column columns[] = {{"letters", true, 0}, {"target", false, 0}, {"goes to", false, 0}};
    struct output_table *table = output_table_new(output, columns, to ? 3 : 2);
    char count[OUTPUT_COUNT_SIZE];
    for (size_t i = 0; i < tally->count; i++) {
        const struct dlq_tally_row *row = &tally->rows[i];
        output_count(row->letters, count);
        const struct span cells[] = {span_of_text(count), span_of_text(row->from), span_of_text(row->to)};
        output_table_row(table, cells);
    }
    if (tally->rest > 0) {
        output_count(tally->rest, count);
        const struct span cells[] = {span_of_text(count), span_of_text("(others)"), SPAN_ABSENT};
        output_table_row(table, cells);
    }
    output_table_end(table);
}

void dlq_tally_json(const struct dlq_tally *tally, struct buffer *json)
{
    buffer_add_text(json, "\"targets\":[");
    for (size_t i = 0; i < tally->count; i++) {
        const struct dlq_tally_row *row = &tally->rows[i];
        buffer_add_text(json, i == 0 ? "{\"target\":" : ",{\"target\":");
        letter_json_add_text(json, span_of_text(row->from));
        buffer_add_text(json, ",\"to\":");
        if (row->to == NULL) {
            buffer_add_text(json, "null");
        } else {
            letter_json_add_text(json, span_of_text(row->to));
        }
        buffer_add_format(json, ",\"letters\":%" PRIu64 "}", row->letters);
    }
    buffer_add_format(json, "],\"others\":%" PRIu64, tally->rest);
}
