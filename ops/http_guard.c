/* Access checks: see http_guard.h. */
#include "ops/http_guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/memory.h"

/* Looks at every byte of the shorter one whatever it finds. */
static bool equal_in_constant_time(const char *given, const char *token)
{
    size_t given_length = strlen(given);
    size_t token_length = strlen(token);
    volatile unsigned difference = given_length == token_length ? 0U : 1U;
    for (size_t i = 0; i < given_length && i < token_length; i++) {
        difference |= (unsigned)(unsigned char)given[i] ^ (unsigned)(unsigned char)token[i];
    }
    return difference == 0;
}

bool http_guard_bearer(const char *authorization, const char *token)
{
    static const char scheme[] = "Bearer ";
    if (authorization == NULL || strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0) {
        return false;
    }
    const char *given = authorization + sizeof(scheme) - 1;
    given += strspn(given, " ");
    return equal_in_constant_time(given, token);
}

/* Nothing, or ":" and 1 to 5 digits. */
static bool is_port_or_end(const char *text)
{
    if (text[0] == '\0') {
        return true;
    }
    size_t digits = strspn(text + 1, "0123456789");
    return text[0] == ':' && digits >= 1 && digits <= 5 && text[1 + digits] == '\0';
}

bool http_guard_local_host(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; host != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i]);
        if (strncasecmp(host, names[i], length) == 0 && is_port_or_end(host + length)) {
            return true;
        }
    }
    return false;
}

bool http_guard_same_origin(const char *origin, const char *host)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; origin != NULL && host != NULL && i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t length = strlen(schemes[i]);
        if (strncasecmp(origin, schemes[i], length) == 0 && strcasecmp(origin + length, host) == 0) {
            return true;
        }
    }
    return origin == NULL;
}

bool http_guard_same_site(const char *fetch_site)
{
    return fetch_site == NULL || strcmp(fetch_site, "same-origin") == 0 || strcmp(fetch_site, "none") == 0;
}

bool http_guard_is_json(const char *content_type)
{
    static const char json[] = "application/json";
    size_t length = sizeof(json) - 1;
    if (content_type == NULL || strncasecmp(content_type, json, length) != 0) {
        return false;
    }
    const char *rest = content_type + length;
    rest += strspn(rest, " \t");
    return *rest == '\0' || *rest == ';';
}

static void warn_of_mode(FILE *file, const char *path)
{
    struct stat status;
    if (fstat(fileno(file), &status) == 0 && (status.st_mode & S_IRWXO) != 0) {
        log_write(LOG_LEVEL_WARNING, "secret_file_open_to_others", LOG_FIELDS(LOG_TEXT("file", path)),
                  "everybody on this machine can use http.token_file; take the rights of others away (chmod o=)");
    }
}

/* Up to HTTP_GUARD_TOKEN_MOST + 2 bytes of the file, NUL-terminated. */
static bool read_text(const char *path, char *text, size_t size, struct error *error)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return error_set(error, ERROR_INVALID, "http.token_file: cannot open %s: %s", path, strerror(errno));
    }
    warn_of_mode(file, path);
    size_t length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    bool failed = ferror(file) != 0;
    int saved_errno = errno;
    (void)fclose(file);
    if (failed) {
        return error_set(error, ERROR_INVALID, "http.token_file: cannot read %s: %s", path, strerror(saved_errno));
    }
    if (strlen(text) != length || length == size - 1) {
        return error_set(error, ERROR_INVALID,
                         "http.token_file: %s is no token: it has NUL bytes or is longer than %d bytes", path,
                         HTTP_GUARD_TOKEN_MOST);
    }
    return true;
}

static bool check_token(const char *token, size_t length, const char *path, struct error *error)
{
    if (length < HTTP_GUARD_TOKEN_LEAST) {
        return error_set(
            error, ERROR_INVALID,
            "http.token_file: the token in %s is shorter than %d characters; make one with: openssl rand -hex 32", path,
            HTTP_GUARD_TOKEN_LEAST);
    }
    for (size_t i = 0; i < length; i++) {
        if (token[i] <= ' ' || token[i] > '~') {
            return error_set(
                error, ERROR_INVALID,
                "http.token_file: the token in %s has a blank or a byte that is not printable ASCII at position %zu",
                path, i + 1);
        }
    }
    return true;
}

char *http_guard_token_read(const char *path, struct error *error)
{
    char text[HTTP_GUARD_TOKEN_MOST + 64];
    char *token = NULL;
    if (read_text(path, text, sizeof(text), error)) {
        const char *start = text + strspn(text, " \t\r\n");
        size_t length = strlen(start);
        while (length > 0 && strchr(" \t\r\n", start[length - 1]) != NULL) {
            length--;
        }
        if (check_token(start, length, path, error)) {
            token = memory_text(start, length);
        }
    }
    explicit_bzero(text, sizeof(text));
    return token;
}

void http_guard_token_free(char *token)
{
    if (token != NULL) {
        explicit_bzero(token, strlen(token));
    }
    free(token);
}
