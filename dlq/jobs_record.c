#include "dlq/jobs_record.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#define WHOLE_MOST 9007199254740992.0
#define NUMBER_SIZE 24

static void keep_number(cJSON *item)
{
    double number = item->valuedouble;
    if (number < -WHOLE_MOST || number > WHOLE_MOST || number != (double)(int64_t)number) {
        return;
    }
    item->valuestring = cJSON_malloc(NUMBER_SIZE); /* which cJSON_Delete frees */
    if (item->valuestring != NULL) {
        (void)snprintf(item->valuestring, NUMBER_SIZE, "%.0f", number);
        item->type = cJSON_Raw;
    }
}

/* As deep as cJSON reads. */
static void keep_numbers(cJSON *item)
{
    for (cJSON *child = item->child; child != NULL; child = child->next) {
        if (cJSON_IsNumber(child)) {
            keep_number(child);
        } else {
            keep_numbers(child);
        }
    }
}

struct cJSON *jobs_record_read(struct span bytes)
{
    cJSON *record = cJSON_ParseWithLength((const char *)bytes.data, bytes.length);
    if (!cJSON_IsObject(record)) {
        cJSON_Delete(record);
        return NULL;
    }
    keep_numbers(record);
    return record;
}

const char *jobs_record_state(const struct cJSON *record)
{
    const char *state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(record, "state"));
    return state == NULL ? "unknown" : state;
}
