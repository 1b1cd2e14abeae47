/* What the link says, without its secrets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dlq/link_inner.h"

/* Hiding a password of a few letters would only blot out words that happen to hold it, and so tell it. */
#define LEAST_SECRET 6

void link_text_keep_secret(struct link_secrets *secrets, const char *secret)
{
    if (secret != NULL && strlen(secret) >= LEAST_SECRET) {
        secrets->texts = memory_resize(secrets->texts, secrets->count + 1, sizeof *secrets->texts);
        secrets->texts[secrets->count++] = memory_text(secret, strlen(secret));
    }
}

void link_text_forget(struct link_secrets *secrets)
{
    for (size_t i = 0; i < secrets->count; i++) {
        explicit_bzero(secrets->texts[i], strlen(secrets->texts[i]));
        free(secrets->texts[i]);
    }
    free(secrets->texts);
}

void link_text_hide(const struct link_secrets *secrets, char *text)
{
    for (size_t i = 0; i < secrets->count; i++) {
        size_t length = strlen(secrets->texts[i]);
        for (char *found = strstr(text, secrets->texts[i]); found != NULL; found = strstr(found + length, secrets->texts[i])) {
            memset(found, '*', length);
        }
    }
}

/* nats.c puts the place in its source before the words: "(jsm.c:1033): ". */
const char *link_text_words(natsStatus status)
{
    const char *words = nats_GetLastError(NULL);
    if (words == NULL || words[0] == '\0') {
        return natsStatus_GetText(status);
    }
    const char *end = words[0] == '(' ? strstr(words, "): ") : NULL;
    return end == NULL ? words : end + 3;
}

static bool is_refusal(natsStatus status, const char *words)
{
    return status == NATS_CONNECTION_AUTH_FAILED || strcasestr(words, "authorization") != NULL;
}

void link_text_connect(const struct link *link, natsStatus status, char text[LINK_INNER_TEXT])
{
    const char *words = link_text_words(status);
    if (is_refusal(status, words)) {
        snprintf(text, LINK_INNER_TEXT,
                 "NATS at %s refuses the login: check nats.user and nats.password_file (or nats.token_file, nats.credentials_file)", link->hosts);
    } else if (status == NATS_NO_SERVER) {
        snprintf(text, LINK_INNER_TEXT, "no NATS server answers at %s: start it, or check nats.url", link->hosts);
    } else if (status == NATS_SECURE_CONNECTION_REQUIRED || status == NATS_SECURE_CONNECTION_WANTED) {
        snprintf(text, LINK_INNER_TEXT, "NATS at %s %s: check tls:// or nats:// in nats.url, and nats.tls", link->hosts,
                 status == NATS_SECURE_CONNECTION_REQUIRED ? "wants TLS" : "has no TLS");
    } else {
        snprintf(text, LINK_INNER_TEXT, "no connection to NATS at %s: %s", link->hosts, words);
    }
    link_text_hide(&link->secrets, text);
}
