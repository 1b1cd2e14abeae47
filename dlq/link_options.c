/* nats.c's options from ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "dlq/link_inner.h"

#define ADDRESSES_MAX 32
#define TRY_MS 2000            /* for one address: its connection, greeting and login */
#define WRITE_MS 5000          /* a write that does not get on that long ends the connection */
#define PING_MS 5000           /* so that a server which is there and silent is left after about three of them */
#define PINGS_MAX 2
#define HOSTS_MAX 4096

/* One address, taken apart: "tls://user:secret@host:port". */
static bool add_address(struct link *link, struct buffer *hosts, const char *address, struct error *error)
{
    const char *scheme_end = strstr(address, "://");
    size_t scheme = scheme_end == NULL ? 0 : (size_t)(scheme_end - address) + 3;
    const char *at = strrchr(address, '@');
    const char *host = at == NULL ? address + scheme : at + 1;
    if (at != NULL && at > address + scheme) {
        char *user = memory_text(address + scheme, (size_t)(at - address) - scheme);
        char *colon = strchr(user, ':');
        link_text_keep_secret(&link->secrets, user);
        link_text_keep_secret(&link->secrets, colon == NULL ? NULL : colon + 1);
        free(user);
    }
    bool known = scheme == 0 || strncmp(address, "nats://", 7) == 0 || strncmp(address, "tls://", 6) == 0;
    size_t name = strcspn(host, " /?#");
    if (!known || name == 0 || host[0] == ':' || host[name] != '\0') {
        return error_set(error, ERROR_INVALID, "nats.url: \"%.*s%.100s\" is no address: write nats://host:port or tls://host:port, several with commas between",
                         (int)(known ? scheme : 0), address, host);
    }
    buffer_add_format(hosts, "%s%s", hosts->length == 0 ? "" : ", ", host);
    return true;
}

static bool set_secure(natsOptions *options, struct error *error)
{
    return natsOptions_SetSecure(options, true) == NATS_OK ||
           error_set(error, ERROR_INVALID, "nats.url, nats.tls: this system's nats.c was built without TLS: install one with it");
}

static bool set_addresses(struct link *link, const char *url, struct error *error)
{
    char *copy = memory_text(url, strlen(url));
    const char *addresses[ADDRESSES_MAX];
    size_t count = 0;
    bool ok = true;
    bool secure = false;
    char *place = NULL;
    struct buffer hosts = buffer_new(HOSTS_MAX);
    for (char *one = strtok_r(copy, ", ", &place); ok && one != NULL; one = strtok_r(NULL, ", ", &place)) {
        ok = count < ADDRESSES_MAX || error_set(error, ERROR_INVALID, "nats.url names more than %d addresses: leave some out", ADDRESSES_MAX);
        ok = ok && add_address(link, &hosts, one, error);
        secure = secure || strncmp(one, "tls://", 6) == 0;
        if (ok) {
            addresses[count++] = one;
        }
    }
    ok = ok && (count > 0 || error_set(error, ERROR_INVALID, "nats.url is empty: write nats://host:port"));
    ok = ok && (natsOptions_SetServers(link->options, addresses, (int)count) == NATS_OK ||
                error_set(error, ERROR_INVALID, "nats.url: nats.c does not take it: write nats://host:port"));
    link->hosts = memory_text(hosts.length == 0 ? "" : (const char *)hosts.data, hosts.length);
    ok = ok && (!secure || set_secure(link->options, error));
    buffer_free(&hosts);
    explicit_bzero(copy, strlen(url));
    free(copy);
    return ok;
}

/* `status` of setting the key; its value may be a secret and is not named. */
static bool taken(const char *key, natsStatus status, struct error *error)
{
    return status == NATS_OK || error_set(error, ERROR_INVALID, "%s: nats.c does not take it: %s", key, link_text_words(status));
}

static bool set_login(natsOptions *options, const struct link_options *given, struct error *error)
{
    return (given->user == NULL || taken("nats.user", natsOptions_SetUserInfo(options, given->user, given->password), error)) &&
           (given->token == NULL || taken("nats.token_file", natsOptions_SetToken(options, given->token), error)) &&
           (given->credentials_file == NULL ||
            taken("nats.credentials_file", natsOptions_SetUserCredentialsFromFiles(options, given->credentials_file, NULL), error));
}

static bool set_tls(natsOptions *options, const struct link_options *given, struct error *error)
{
    bool some = given->tls_ca_file != NULL || given->tls_certificate_file != NULL || given->tls_key_file != NULL;
    return (!some || set_secure(options, error)) &&
           (given->tls_ca_file == NULL ||
            taken("nats.tls.ca_file", natsOptions_LoadCATrustedCertificates(options, given->tls_ca_file), error)) &&
           (given->tls_certificate_file == NULL ||
            taken("nats.tls.certificate_file, nats.tls.key_file",
                  natsOptions_LoadCertificatesChain(options, given->tls_certificate_file, given->tls_key_file), error));
}

/* nats.c's own reconnecting is off: see link_state.h. */
static bool set_behaviour(natsOptions *options, const char *name, struct error *error)
{
    return taken("nats", natsOptions_SetAllowReconnect(options, false), error) && taken("nats", natsOptions_SetTimeout(options, TRY_MS), error) &&
           taken("nats", natsOptions_SetWriteDeadline(options, WRITE_MS), error) &&
           taken("nats", natsOptions_SetPingInterval(options, PING_MS), error) &&
           taken("nats", natsOptions_SetMaxPingsOut(options, PINGS_MAX), error) &&
           (name == NULL || taken("nats", natsOptions_SetName(options, name), error));
}

bool link_options_set(struct link *link, const struct link_options *options, struct error *error)
{
    link_text_keep_secret(&link->secrets, options->password);
    link_text_keep_secret(&link->secrets, options->token);
    if (!taken("nats", natsOptions_Create(&link->options), error)) {
        return false;
    }
    bool ok = set_addresses(link, options->url, error) && set_login(link->options, options, error) && set_tls(link->options, options, error) &&
              set_behaviour(link->options, options->name, error);
    if (!ok && error != NULL) {
        link_text_hide(&link->secrets, error->text);
    }
    return ok;
}
