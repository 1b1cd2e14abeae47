/* Dead letters: the list, page by page, and one of them. Shapes as `tarry dlq list -o json` and `tarry dlq get -o json` print them. */
#include <inttypes.h>

#include "ops/api.h"
#include "ops/api_event.h"
#include "ops/api_letters_link.h"
#include "ops/api_letters_scan.h"
#include "ops/api_letters_show.h"

#define PAGE_MS 2000                       /* then a page is as it is */
#define GET_MS 10000
#define PAGE_BYTES_MOST ((size_t)16 << 20) /* a page ends there */
#define GET_BYTES_MOST ((size_t)40 << 20)  /* of a record: as base64 it still fits the answer */

struct page {
    struct api_letters_scan scan;
    struct api_letters_show show;
    struct buffer *body;
    int64_t limit;
    int64_t count;
    bool unavailable; /* error says why */
    struct error error;
};

static void answer_with(struct http_request *request, const char *content_type)
{
    request->status = 200;
    request->content_type = content_type;
    request->allow_retry_s = NULL;
}

static bool show_in(struct page *page, enum letter_state state, const struct letter *letter, size_t bytes)
{
    page->unavailable = !api_letters_show(&page->show, state, letter, bytes, page->body, &page->error);
    page->count++;
    return !page->unavailable;
}

/* ------------------------------------------------------------------------------------------------------ the list */

static bool visit_page(void *visitor, enum letter_state state, const struct letter *letter, size_t bytes)
{
    struct page *page = visitor;
    buffer_add_text(page->body, page->count == 0 ? "" : ",");
    return show_in(page, state, letter, bytes) && page->count < page->limit && page->body->length < PAGE_BYTES_MOST;
}

static void end_page(struct page *page, enum api_letters_scan_result result)
{
    char cursor[API_LETTERS_CURSOR_SIZE];
    api_letters_cursor_text(&page->scan.next, cursor);
    bool more = result != API_LETTERS_SCAN_ALL;
    buffer_add_format(page->body, more ? "],\"next_cursor\":\"%s\"" : "],\"next_cursor\":null%s", more ? cursor : "");
    buffer_add_format(page->body, ",\"complete\":%s,\"damaged\":%" PRIu64 "}\n", result == API_LETTERS_SCAN_PART ? "false" : "true", page->scan.damaged);
    answer_with(page->scan.request, "application/json");
}

static void make_page(struct page *page)
{
    buffer_clear(page->body);
    buffer_add_text(page->body, "{\"items\":[");
    enum api_letters_scan_result result = api_letters_scan_run(&page->scan);
    if (page->unavailable) {
        api_letters_link_unavailable(page->scan.request, page->scan.api, &page->error);
    } else if (result != API_LETTERS_SCAN_FAILED) {
        end_page(page, result);
    }
}

/* Reads `payload`: true or false; *payload stays as it is when it was not given. */
static bool read_payload(struct http_request *request, bool *payload)
{
    static const char *const words[] = {"false", "true", NULL};
    int word = -1;
    if (!api_parameter_choice(request, "payload", words, &word)) {
        return false;
    }
    *payload = word >= 0 ? word == 1 : *payload;
    return true;
}

static struct page page_of(struct http_request *request, struct api *api)
{
    return (struct page){.scan = {.request = request, .api = api, .filter = {.reason = -1}, .time_ms = PAGE_MS},
                         .show = {.api = api, .bytes_most = API_EVENT_VALUE_MOST},
                         .body = &request->body};
}

static bool connect_page(struct page *page)
{
    page->scan.visitor = page;
    page->scan.link = api_letters_link_up(page->scan.request, page->scan.api);
    page->show.link = page->scan.link;
    return page->scan.link != NULL;
}

void api_letters_list(struct http_request *request, struct api *api)
{
    static const char *const known[] = {"state", "reason", "target", "limit", "cursor", "payload", NULL};
    struct page page = page_of(request, api);
    page.scan.visit = visit_page;
    if (api_parameter_known(request, known) && api_parameter_number(request, "limit", 1, 1000, 50, &page.limit) && read_payload(request, &page.show.payload) &&
        api_letters_scan_read(&page.scan) && connect_page(&page)) {
        make_page(&page);
    }
}

/* ------------------------------------------------------------------------------------------------------ one letter */

static bool visit_one(void *visitor, enum letter_state state, const struct letter *letter, size_t bytes)
{
    (void)show_in(visitor, state, letter, bytes);
    return false;
}

static void answer_one(struct page *page)
{
    struct http_request *request = page->scan.request;
    buffer_clear(page->body);
    enum api_letters_scan_result result = api_letters_scan_run(&page->scan);
    if (page->unavailable) {
        api_letters_link_unavailable(request, page->scan.api, &page->error);
    } else if (page->count > 0 && result != API_LETTERS_SCAN_FAILED) {
        buffer_add_text(page->body, "\n");
        answer_with(request, "application/json");
    } else if (result == API_LETTERS_SCAN_PART) {
        api_answer_problem(request, 503, "too_much_to_look_through", "Service Unavailable",
                           "It was not among the %" PRIu64 " letters that could be looked at in %d s: narrow it with state and target.", page->scan.seen, GET_MS / 1000);
    } else if (result != API_LETTERS_SCAN_FAILED) {
        api_answer_problem(request, 404, "not_found", "Not Found", "There is no dead letter of this id (any more), nor one whose schedule id it is.");
    }
}

void api_letters_get(struct http_request *request, struct api *api)
{
    static const char *const known[] = {"state", "target", NULL};
    struct page page = page_of(request, api);
    page.scan.visit = visit_one;
    page.scan.time_ms = GET_MS;
    page.show.payload = true;
    page.show.bytes_most = GET_BYTES_MOST;
    page.scan.filter.id = request->parameter;
    if (api_parameter_known(request, known) && api_letters_scan_read(&page.scan) && connect_page(&page)) {
        answer_one(&page);
    }
}
