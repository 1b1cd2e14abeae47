#include "cli/sse.h"

#include <string.h>

struct sse sse_new(sse_on_event *on_event, void *context)
{
    return (struct sse){.on_event = on_event,
                        .context = context,
                        .line = buffer_new(SSE_EVENT_MAX),
                        .name = buffer_new(SSE_EVENT_MAX),
                        .data = buffer_new(SSE_EVENT_MAX),
                        .next_id = buffer_new(SSE_ID_MAX),
                        .last_id = buffer_new(SSE_ID_MAX)};
}

void sse_free(struct sse *sse)
{
    buffer_free(&sse->line);
    buffer_free(&sse->name);
    buffer_free(&sse->data);
    buffer_free(&sse->next_id);
    buffer_free(&sse->last_id);
}

static void forget_event(struct sse *sse)
{
    buffer_clear(&sse->next_id);
    buffer_clear(&sse->name);
    buffer_clear(&sse->data);
    sse->has_data = false;
}

void sse_restart(struct sse *sse)
{
    buffer_clear(&sse->line);
    forget_event(sse);
    sse->after_cr = false;
}

const char *sse_last_id(const struct sse *sse)
{
    return sse->last_id.length <= 1 ? NULL : (const char *)sse->last_id.data;
}

/* An id that would break a header, or is too long, is not taken. */
static void take_id(struct sse *sse, struct span value)
{
    for (size_t i = 0; i < value.length; i++) {
        if (value.data[i] < 0x20 || value.data[i] > 0x7e) {
            return;
        }
    }
    if (value.length + 1 <= SSE_ID_MAX) {
        buffer_clear(&sse->next_id);
        buffer_add_span(&sse->next_id, value);
        buffer_add(&sse->next_id, "", 1);
    }
}

static void take_field(struct sse *sse, struct span name, struct span value)
{
    if (span_equals_text(name, "data")) {
        if (sse->has_data) {
            buffer_add_text(&sse->data, "\n");
        }
        buffer_add_span(&sse->data, value);
        sse->has_data = true;
    } else if (span_equals_text(name, "event")) {
        buffer_clear(&sse->name);
        buffer_add_span(&sse->name, value);
    } else if (span_equals_text(name, "id")) {
        take_id(sse, value);
    }
}

/* The event is whole: only now is its id the last one, or it would be passed over when the connection breaks in the middle of it. */
static void end_event(struct sse *sse)
{
    if (sse->next_id.length > 0) {
        buffer_clear(&sse->last_id);
        buffer_add_span(&sse->last_id, buffer_span(&sse->next_id));
    }
    if (!sse->has_data) {
        forget_event(sse);
        return;
    }
    buffer_add(&sse->data, "", 1);
    buffer_add(&sse->name, "", 1);
    if (sse->data.full || sse->name.full) {
        sse->left_out += 1;
    } else {
        bool named = sse->name.length > 1;
        sse->stopped = !sse->on_event(sse->context, named ? (const char *)sse->name.data : "message", (const char *)sse->data.data);
    }
    forget_event(sse);
}

static void end_line(struct sse *sse)
{
    struct span line = buffer_span(&sse->line);
    if (sse->line.full) {
        sse->data.full = true; /* a part of it is missing */
        sse->has_data = true;
    } else if (line.length == 0) {
        end_event(sse);
    } else if (line.data[0] != ':') {
        const uint8_t *colon = memchr(line.data, ':', line.length);
        size_t name = colon == NULL ? line.length : (size_t)(colon - line.data);
        size_t value = name + (colon != NULL) + (colon != NULL && name + 1 < line.length && line.data[name + 1] == ' ');
        take_field(sse, (struct span){line.data, name}, (struct span){line.data + value, line.length - value});
    }
    buffer_clear(&sse->line);
}

bool sse_take(struct sse *sse, const void *bytes, size_t count)
{
    const char *at = bytes;
    const char *end = at + count;
    while (at < end && !sse->stopped) {
        if (sse->after_cr && *at == '\n') { /* \r\n is one end of a line */
            sse->after_cr = false;
            at++;
            continue;
        }
        const char *stop = at;
        while (stop < end && *stop != '\n' && *stop != '\r') {
            stop++;
        }
        buffer_add(&sse->line, at, (size_t)(stop - at));
        sse->after_cr = stop < end && *stop == '\r';
        if (stop < end) {
            end_line(sse);
        }
        at = stop < end ? stop + 1 : end;
    }
    return !sse->stopped;
}
