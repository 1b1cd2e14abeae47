/* What fails how often: groups of dead letters, as `tarry dlq reasons -o json` prints them. */
#include <inttypes.h>

#include "dlq/reasons.h"
#include "ops/api.h"
#include "ops/api_letters_link.h"
#include "ops/api_letters_scan.h"

#define COUNT_MS 5000
#define GROUPS_MOST REASONS_TABLE_MAX
#define GROUPS 1000

struct count {
    struct api_letters_scan scan;
    enum reasons_by by;
    int64_t limit;
    struct reasons_table table;
    struct buffer name;
};

static bool visit(void *visitor, enum letter_state state, const struct letter *letter, size_t bytes)
{
    struct count *count = visitor;
    (void)bytes;
    buffer_clear(&count->name);
    reasons_name(count->by, letter, &count->name);
    reasons_table_add(&count->table, buffer_span(&count->name), letter, state);
    return true;
}

static void answer(struct count *count, enum api_letters_scan_result result)
{
    struct http_request *request = count->scan.request;
    struct buffer *body = &request->body;
    char cursor[API_LETTERS_CURSOR_SIZE];
    bool all = result == API_LETTERS_SCAN_ALL;
    api_letters_cursor_text(&count->scan.next, cursor);
    reasons_table_sort(&count->table, count->by == REASONS_BY_HOUR);
    buffer_clear(body);
    buffer_add_text(body, "{\"items\":[");
    for (size_t i = 0; i < count->table.count && i < (size_t)count->limit; i++) {
        buffer_add_text(body, i == 0 ? "" : ",");
        reasons_json(count->by, &count->table.groups[i], count->table.letters, body);
    }
    buffer_add_format(body, "],\"groups\":%zu,\"letters\":%" PRIu64, count->table.count, count->table.letters);
    buffer_add_format(body, all ? ",\"next_cursor\":null%s" : ",\"next_cursor\":\"%s\"", all ? "" : cursor);
    buffer_add_format(body, ",\"complete\":%s,\"damaged\":%" PRIu64 "}\n", all ? "true" : "false", count->scan.damaged);
    request->status = 200;
    request->content_type = "application/json";
}

static bool read_query(struct count *count)
{
    static const char *const known[] = {"by", "state", "reason", "target", "limit", "cursor", NULL};
    struct http_request *request = count->scan.request;
    int by = -1;
    bool read = api_parameter_known(request, known) && api_parameter_choice(request, "by", reasons_by_names, &by) &&
                api_parameter_number(request, "limit", 1, GROUPS_MOST, GROUPS, &count->limit) && api_letters_scan_read(&count->scan);
    count->by = by < 0 ? REASONS_BY_REASON : (enum reasons_by)by;
    return read;
}

void api_letters_reasons(struct http_request *request, struct api *api)
{
    struct count count = {.scan = {.request = request, .api = api, .filter = {.reason = -1}, .time_ms = COUNT_MS, .visit = visit},
                          .name = buffer_new(REASONS_NAME_MAX)};
    count.scan.visitor = &count;
    if (read_query(&count)) {
        count.scan.link = api_letters_link_up(request, api);
        enum api_letters_scan_result result = count.scan.link == NULL ? API_LETTERS_SCAN_FAILED : api_letters_scan_run(&count.scan);
        if (result != API_LETTERS_SCAN_FAILED) {
            answer(&count, result);
        }
    }
    buffer_free(&count.name);
    reasons_table_free(&count.table);
}
