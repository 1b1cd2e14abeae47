/* The service manager's protocol: see notify.h. */
#include "ops/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"

#define MESSAGE_MAX 512
#define SEND_WAIT_S 1

struct notify {
    int fd; /* -1: nobody listens */
    struct sockaddr_un address;
    socklen_t address_length;
};

static bool fill_address(struct notify *notify, const char *path)
{
    size_t length = strlen(path);
    if ((path[0] != '/' && path[0] != '@') || length < 2 || length >= sizeof(notify->address.sun_path)) {
        return false;
    }
    notify->address.sun_family = AF_UNIX;
    memcpy(notify->address.sun_path, path, length);
    size_t room = offsetof(struct sockaddr_un, sun_path) + length;
    if (path[0] == '@') {
        notify->address.sun_path[0] = '\0'; /* an abstract name: exactly its bytes, no NUL at the end */
    } else {
        room++;
    }
    notify->address_length = (socklen_t)room;
    return true;
}

struct notify *notify_new(const char *socket_path)
{
    struct notify *notify = memory_new(1, sizeof(*notify));
    notify->fd = -1;
    if (socket_path != NULL && fill_address(notify, socket_path)) {
        notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct timeval most = {.tv_sec = SEND_WAIT_S};
        (void)setsockopt(notify->fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
    }
    return notify;
}

void notify_free(struct notify *notify)
{
    if (notify != NULL && notify->fd >= 0) {
        (void)close(notify->fd);
    }
    free(notify);
}

/* A change of state may wait a moment for room; a watchdog or status message is dropped then, as the next one follows
 * soon. */
static void send_message(struct notify *notify, const char *message, bool may_wait)
{
    if (notify->fd < 0) {
        return;
    }
    (void)sendto(notify->fd, message, strlen(message), (may_wait ? 0 : MSG_DONTWAIT) | MSG_NOSIGNAL,
                 (const struct sockaddr *)&notify->address, notify->address_length);
}

void notify_ready(struct notify *notify)
{
    send_message(notify, "READY=1\n", true);
}

void notify_stopping(struct notify *notify)
{
    send_message(notify, "STOPPING=1\n", true);
}

void notify_watchdog(struct notify *notify)
{
    send_message(notify, "WATCHDOG=1\n", false);
}

void notify_reloading(struct notify *notify, uint64_t mono_us)
{
    char message[MESSAGE_MAX];
    (void)snprintf(message, sizeof(message), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\n", mono_us);
    send_message(notify, message, true);
}

bool notify_listens(const struct notify *notify)
{
    return notify->fd >= 0;
}

void notify_extend(struct notify *notify, int64_t ms)
{
    char message[MESSAGE_MAX];
    (void)snprintf(message, sizeof(message), "EXTEND_TIMEOUT_USEC=%" PRId64 "\n", ms * 1000);
    send_message(notify, message, true);
}

void notify_status(struct notify *notify, const char *format, ...)
{
    char message[MESSAGE_MAX] = "STATUS=";
    size_t prefix = strlen(message);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message + prefix, sizeof(message) - prefix, format, arguments);
    va_end(arguments);
    if (length < 0) {
        return;
    }
    for (char *at = message; *at != '\0'; at++) {
        if (*at == '\n') {
            *at = ' ';
        }
    }
    send_message(notify, message, false);
}

/* A positive decimal number and nothing else; -1 when it is none. */
static int64_t number_of(const char *text)
{
    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return -1;
    }
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0' ? (int64_t)number : -1;
}

int64_t notify_watchdog_ms(const char *watchdog_usec, const char *watchdog_pid, int64_t own_pid)
{
    int64_t usec = number_of(watchdog_usec);
    if (usec <= 0 || (watchdog_pid != NULL && number_of(watchdog_pid) != own_pid)) {
        return 0;
    }
    int64_t ms = usec / 2000;
    return ms > 0 ? ms : 1;
}
