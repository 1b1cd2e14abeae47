/* See http_upload.h. */
#include "ops/http_upload.h"

static void hold(size_t *held_of_all, struct http_upload *upload, struct http_admit *admit, const char *bytes, size_t length)
{
    struct buffer *body = &admit->request->upload;
    bool room = *held_of_all + length <= HTTP_UPLOAD_HELD_MOST;
    if (room) {
        buffer_add(body, bytes, length);
    }
    if (room && !body->full) {
        upload->held += length;
        *held_of_all += length;
        return;
    }
    admit->admitted = false;
    admit->problem = room ? HTTP_PROBLEM_UPLOAD_TOO_LARGE : HTTP_PROBLEM_BUSY;
    buffer_free(body);
    http_upload_end(held_of_all, upload);
}

bool http_upload_add(size_t *held_of_all, struct http_upload *upload, struct http_admit *admit, const char *bytes, size_t length)
{
    if (admit->admitted && admit->route->access == HTTP_ACCESS_WRITE) {
        hold(held_of_all, upload, admit, bytes, length);
        return true;
    }
    upload->discarded += length;
    return upload->discarded <= HTTP_UPLOAD_DISCARDED_MOST;
}

void http_upload_end(size_t *held_of_all, struct http_upload *upload)
{
    *held_of_all -= upload->held;
    upload->held = 0;
}
