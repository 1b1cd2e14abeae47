/* docs/openapi.yaml, as it was when this program was built (cmake/embed.cmake makes an array of it). */
#include "ops/api.h"

extern const unsigned char api_openapi_text[];
extern const unsigned long api_openapi_text_length;

void api_openapi(struct http_request *request, const struct http_owner_view *view)
{
    (void)view;
    buffer_clear(&request->body);
    buffer_add(&request->body, api_openapi_text, api_openapi_text_length);
    request->status = 200;
    request->content_type = "application/yaml";
}
