#include "cli/demo_place.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/text.h"

#define CONFIG_MAX 16384
#define SHOWN 8000
#define OPEN_FOLDERS 16

bool demo_place_open(struct demo_place *place, struct error *error)
{
    const char *base = getenv("TMPDIR");
    *place = (struct demo_place){0};
    char folder[DEMO_PLACE_PATH_MAX];
    int length =
        snprintf(folder, sizeof folder, "%s/tarry-demo.XXXXXX", base == NULL || base[0] != '/' ? "/tmp" : base);
    if (length < 0 || (size_t)length >= sizeof folder) {
        return error_set(error, ERROR_INVALID, "TMPDIR is too long: name a shorter one");
    }
    if (mkdtemp(folder) == NULL) {
        return error_set(error, ERROR_SYSTEM, "making a folder %s: %s; TMPDIR chooses another place", folder,
                         strerror(errno));
    }
    memcpy(place->folder, folder, sizeof place->folder);
    snprintf(place->config, sizeof place->config, "%s/tarry.yaml", folder);
    snprintf(place->log, sizeof place->log, "%s/tarry.log", folder);
    snprintf(place->nats_log, sizeof place->nats_log, "%s/nats.log", folder);
    return true;
}

/* As a double-quoted YAML scalar. */
static void add_quoted(struct buffer *text, const char *value)
{
    buffer_add_text(text, "\"");
    for (; *value != '\0'; value++) {
        unsigned char byte = (unsigned char)*value;
        if (byte < ' ' || byte == 0x7f) {
            buffer_add_format(text, "\\x%02X", byte);
        } else {
            buffer_add_text(text, byte == '"' || byte == '\\' ? "\\" : "");
            buffer_add(text, value, 1);
        }
    }
    buffer_add_text(text, "\"");
}

static void add_kafka(struct buffer *text, const struct demo_broker *broker)
{
    buffer_add_format(
        text, "# Written by `tarry demo`.\ninstance: demo\ngroup: %s\nkafka:\n  bootstrap.servers: ", broker->prefix);
    add_quoted(text, broker->bootstrap);
    if (broker->mock != NULL) {
        /* unlike a Kafka, librdkafka's mock cluster keeps a reader waiting for so long although a record has come */
        buffer_add_text(text, "\n  consumer: {fetch.wait.max.ms: 10}");
    }
}

static void add_sources(struct buffer *text, const struct demo_broker *broker)
{
    buffer_add_format(text,
                      "sources:\n"
                      "  - topic: %s\n"
                      "    default_target: %s\n",
                      broker->names[DEMO_BROKER_REMINDERS], broker->names[DEMO_BROKER_EVENTS]);
    buffer_add_format(text,
                      "  - topic: %s\n"
                      "    envelope: true\n"
                      "    routes: {PAYMENT_TIMEOUT: %s}\n"
                      "    default_target: %s\n",
                      broker->names[DEMO_BROKER_DELAYED], broker->names[DEMO_BROKER_PAYMENTS],
                      broker->names[DEMO_BROKER_EVENTS]);
}

static void add_targets(struct buffer *text, const struct demo_broker *broker)
{
    buffer_add_format(text,
                      "targets:\n"
                      "  - {name: orders, match: \"%s\"}\n"
                      "  - name: invoices\n"
                      "    match: \"%s\"\n"
                      "    retry: {max_deliver: %d, backoff: %dms, factor: 2, jitter: 0}\n"
                      "unknown_topic_grace: 0ms\n",
                      broker->names[DEMO_BROKER_ORDERS], broker->names[DEMO_BROKER_INVOICES], DEMO_PLACE_REDELIVERIES,
                      DEMO_PLACE_BACKOFF_MS);
}

/* Without a NATS of its own the demo must not find the user's: nobody listens at port 1. tarry is ready before its streams are, and the demo is not
 * patient. */
static void add_nats(struct buffer *text, const char *nats)
{
    buffer_add_format(text, "nats: {url: \"%s\"}\ndlq: {max_bytes: 16MiB, retry_later: 500ms}\n", nats == NULL ? "nats://127.0.0.1:1" : nats);
}

static bool write_file(const char *path, struct span bytes, struct error *error)
{
    FILE *file = fopen(path, "wxe");
    bool done = file != NULL && fwrite(bytes.data, 1, bytes.length, file) == bytes.length;
    if (file != NULL && fclose(file) != 0) {
        done = false;
    }
    return done || error_set(error, ERROR_SYSTEM, "writing %s: %s", path, strerror(errno));
}

bool demo_place_write_config(const struct demo_place *place,
                             const struct demo_broker *broker,
                             const char *nats,
                             uint16_t port,
                             struct error *error)
{
    char store[DEMO_PLACE_PATH_MAX + 16];
    snprintf(store, sizeof store, "%s/store", place->folder);
    struct buffer text = buffer_new(CONFIG_MAX);
    add_kafka(&text, broker);
    buffer_add_text(&text, "\nstore:\n  path: ");
    add_quoted(&text, store);
    buffer_add_text(&text, "\n  max_size: 64MiB\n");
    add_sources(&text, broker);
    add_targets(&text, broker);
    add_nats(&text, nats);
    buffer_add_format(&text,
                      "http: {listen: \"127.0.0.1:%u\"}\nlog: {level: info, format: text}\nshutdown_timeout: 5s\n",
                      (unsigned)port);
    bool done = text.full ? error_set(error, ERROR_INVALID, "the name of the broker is too long")
                          : write_file(place->config, buffer_span(&text), error);
    buffer_free(&text);
    return done;
}

void demo_place_show(const char *path, const char *indent, FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    FILE *log = fopen(path, "re");
    if (log == NULL) {
        return;
    }
    if (fseek(log, -SHOWN, SEEK_END) != 0) {
        rewind(log);
    }
    for (ssize_t length = getline(&line, &room, log); length > 0; length = getline(&line, &room, log)) {
        char shown[1024];
        size_t whole = (size_t)length - (line[length - 1] == '\n' ? 1 : 0);
        text_printable((struct span){(const uint8_t *)line, whole}, shown, sizeof shown);
        fprintf(file, "%s%s\n", indent, shown);
    }
    free(line);
    fclose(log);
}

static void show_log(const char *path, const char *whose, FILE *file)
{
    if (access(path, R_OK) == 0) {
        fprintf(file, "---- the end of the log of %s:\n", whose);
        demo_place_show(path, "", file);
        fprintf(file, "----\n");
    }
}

void demo_place_show_logs(const struct demo_place *place, FILE *file)
{
    if (place->folder[0] != '\0') {
        show_log(place->nats_log, "nats-server", file);
        show_log(place->log, "`tarry serve`", file);
    }
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

bool demo_place_remove(struct demo_place *place, struct error *error)
{
    if (place->folder[0] != '\0' &&
        nftw(place->folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0) {
        return error_set(error, ERROR_SYSTEM, "removing %s: %s", place->folder, strerror(errno));
    }
    place->folder[0] = '\0';
    return true;
}
