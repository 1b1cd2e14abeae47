/* Health documents: see health.h. */
#include "ops/health.h"

#include "ops/clock.h"
#include "ops/json.h"

static const char *status_name(enum health_status status)
{
    switch (status) {
    case HEALTH_UP:
        return "UP";
    case HEALTH_OUT_OF_SERVICE:
        return "OUT_OF_SERVICE";
    case HEALTH_UNKNOWN:
        return "UNKNOWN";
    case HEALTH_DOWN:
        break;
    }
    return "DOWN";
}

/* Greater is worse. */
static int badness(enum health_status status)
{
    static const int order[] = {[HEALTH_UP] = 0, [HEALTH_UNKNOWN] = 1, [HEALTH_OUT_OF_SERVICE] = 2, [HEALTH_DOWN] = 3};
    return order[status];
}

static enum health_status overall(const struct health *health)
{
    enum health_status worst = HEALTH_UP;
    for (size_t i = 0; i < health->component_count; i++) {
        const struct health_component *component = &health->components[i];
        if (component->required && badness(component->status) > badness(worst)) {
            worst = component->status;
        }
    }
    return worst;
}

bool health_ready(const struct health *health)
{
    return overall(health) == HEALTH_UP;
}

static void add_reason(struct cJSON *reasons, const struct health_component *component)
{
    struct cJSON *reason = json_object_in_array(reasons);
    json_add_text(reason, "component", component->name);
    json_add_text(reason, "code", component->code != NULL ? component->code : "not_up");
    json_add_text(reason, "message", component->message != NULL ? component->message : status_name(component->status));
}

void health_readiness_json(const struct health *health, struct buffer *buffer)
{
    struct cJSON *document = json_object();
    json_add_text(document, "status", health_ready(health) ? "ready" : "not_ready");
    struct cJSON *reasons = json_add_array(document, "reasons");
    for (size_t i = 0; i < health->component_count; i++) {
        if (health->components[i].required && health->components[i].status != HEALTH_UP) {
            add_reason(reasons, &health->components[i]);
        }
    }
    json_print(document, buffer);
}

static void add_component(struct cJSON *components, const struct health_component *component)
{
    struct cJSON *object = json_add_object(components, component->name);
    json_add_text(object, "status", status_name(component->status));
    struct cJSON *details = json_add_object(object, "details");
    if (component->code != NULL) {
        json_add_text(details, "code", component->code);
    }
    if (component->message != NULL) {
        json_add_text(details, "message", component->message);
    }
    for (size_t i = 0; i < component->detail_count; i++) {
        const struct health_detail *detail = &component->details[i];
        if (detail->text != NULL) {
            json_add_text(details, detail->name, detail->text);
        } else {
            json_add_number(details, detail->name, detail->number);
        }
    }
}

void health_json(const struct health *health, struct buffer *buffer)
{
    struct cJSON *document = json_object();
    json_add_text(document, "status", status_name(overall(health)));
    struct cJSON *components = json_add_object(document, "components");
    for (size_t i = 0; i < health->component_count; i++) {
        add_component(components, &health->components[i]);
    }
    char time[CLOCK_TEXT_SIZE];
    (void)clock_text(health->now, time, sizeof(time));
    json_add_text(document, "timestamp", time);
    json_print(document, buffer);
}
