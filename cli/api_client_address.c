#include "cli/api_client_address.h"

#include <stdio.h>
#include <string.h>

#include "bridge/decimal.h"
#include "ops/config_value.h"

#define UNIX "unix:"
#define HTTP "http://"
#define HTTPS "https://"
#define UNIX_PATH_MOST 107 /* of sun_path */

/* A host's name, an IPv4 address or an IPv6 address in brackets, and perhaps a port. */
struct place {
    const char *host;
    size_t host_length;
    const char *port; /* NULL: none */
    size_t port_length;
};

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
static const char digits_of_ipv6[] = "0123456789abcdefABCDEF:.";

static bool is_port(const char *text, size_t length)
{
    int64_t number = 0;
    return length <= 5 && decimal_parse((struct span){(const uint8_t *)text, length}, &number) == DECIMAL_READ && number >= 1 && number <= 65535;
}

/* Takes `length` bytes of text apart; false: it is not of that form. */
static bool split(const char *text, size_t length, struct place *place)
{
    bool bracket = length > 0 && text[0] == '[';
    size_t inner = bracket ? strspn(text + 1, digits_of_ipv6) : strspn(text, letters);
    size_t host = bracket ? inner + 2 : inner;
    if (inner == 0 || host > length || (bracket && text[host - 1] != ']')) {
        return false;
    }
    *place = (struct place){.host = text, .host_length = host};
    if (host < length) {
        place->port = text + host + 1;
        place->port_length = length - host - 1;
        return text[host] == ':' && is_port(place->port, place->port_length);
    }
    return true;
}

/* Bytes of a path that need no percent sign, and the percent sign. */
static bool is_path(const char *path)
{
    return strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/%") == strlen(path);
}

static void fill(struct api_client_address *address, const struct place *place, bool https, const char *path)
{
    size_t path_length = strlen(path);
    while (path_length > 0 && path[path_length - 1] == '/') {
        path_length--;
    }
    (void)snprintf(address->url, sizeof address->url, "%s%.*s%s%.*s%.*s", https ? HTTPS : HTTP, (int)place->host_length, place->host, place->port == NULL ? "" : ":",
                   (int)place->port_length, place->port == NULL ? "" : place->port, (int)path_length, path);
    memcpy(address->shown, address->url, sizeof address->shown);
    address->https = https;
}

static bool refuse(const char *text, struct error *error)
{
    if (strchr(text, '@') != NULL) {
        return error_set(error, ERROR_INVALID, "the address of the daemon has a name or password in it: leave it out, and name a --token-file");
    }
    return error_set(error, ERROR_INVALID, "the address of the daemon is %s: give http://host:port, https://host:port, host:port or unix:PATH",
                     config_value_show(text).text);
}

static bool parse_unix(const char *text, struct api_client_address *address, struct error *error)
{
    const char *path = text + strlen(UNIX);
    if (path[0] == '\0' || strlen(path) > UNIX_PATH_MOST) {
        return error_set(error, ERROR_INVALID, "the address of the daemon is %s: the path of a socket has 1 to %d bytes", config_value_show(text).text, UNIX_PATH_MOST);
    }
    (void)snprintf(address->socket_path, sizeof address->socket_path, "%s", path);
    (void)snprintf(address->url, sizeof address->url, "http://localhost");
    (void)snprintf(address->shown, sizeof address->shown, "%s", config_value_show(text).text);
    return true;
}

static bool parse_tcp(const char *text, struct api_client_address *address, struct error *error)
{
    char with_port[API_CLIENT_ADDRESS_MAX + 16];
    struct place place;
    bool https = strncmp(text, HTTPS, strlen(HTTPS)) == 0;
    bool http = strncmp(text, HTTP, strlen(HTTP)) == 0;
    const char *rest = https ? text + strlen(HTTPS) : http ? text + strlen(HTTP) : text;
    size_t length = strcspn(rest, "/");
    if (!split(rest, length, &place) || !is_path(rest + length) || (!http && !https && rest[length] != '\0')) {
        return refuse(text, error);
    }
    if (!http && !https && place.port == NULL) {
        (void)snprintf(with_port, sizeof with_port, "%s:%d", text, API_CLIENT_ADDRESS_PORT);
        return parse_tcp(with_port, address, error); /* once: it has a port now */
    }
    fill(address, &place, https, rest + length);
    return true;
}

bool api_client_address_parse(const char *text, struct api_client_address *address, struct error *error)
{
    *address = (struct api_client_address){0};
    if (strlen(text) > API_CLIENT_ADDRESS_MAX) {
        return error_set(error, ERROR_INVALID, "the address of the daemon is longer than %d bytes", API_CLIENT_ADDRESS_MAX);
    }
    return strncmp(text, UNIX, strlen(UNIX)) == 0 ? parse_unix(text, address, error) : parse_tcp(text, address, error);
}

bool api_client_address_owner(const struct api_client_address *asked, const char *owner, struct api_client_address *address)
{
    struct place place;
    size_t length = strlen(owner);
    if (length > API_CLIENT_ADDRESS_MAX || !split(owner, length, &place) || place.port == NULL) {
        return false;
    }
    *address = (struct api_client_address){0};
    fill(address, &place, asked->https, "");
    return true;
}
