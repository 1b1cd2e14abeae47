/*
 * sd_notify(3) spoken by hand: one datagram per message to $NOTIFY_SOCKET, so libsystemd is not needed.
 *
 * Nothing here fails: without a service manager each call does nothing, and one that is stuck costs a second at most.
 * Owner thread.
 */
#ifndef TARRY_OPS_NOTIFY_H
#define TARRY_OPS_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

struct notify;

/* `socket_path` is $NOTIFY_SOCKET (a path, or @name for an abstract one), NULL or empty when there is none. Never NULL.
 * */
struct notify *notify_new(const char *socket_path);

/* NULL is fine. */
void notify_free(struct notify *notify);

/* The service works: recovery is done. */
void notify_ready(struct notify *notify);

/* A reload began at mono_us (CLOCK_MONOTONIC); notify_ready says when it is over. */
void notify_reloading(struct notify *notify, uint64_t mono_us);

/* The end has begun. */
void notify_stopping(struct notify *notify);

/* "I am alive", from inside a turn of the owner. */
void notify_watchdog(struct notify *notify);

/* True when somebody listens: what costs something to say is worth saying. */
bool notify_listens(const struct notify *notify);

/* The start, or the end, goes on and may take `ms` more from now on, whatever the unit's timeouts say. */
void notify_extend(struct notify *notify, int64_t ms);

/* One line for `systemctl status`; line feeds become blanks. */
void notify_status(struct notify *notify, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How often notify_watchdog is due, in ms: half of WATCHDOG_USEC, when that is meant for this process (WATCHDOG_PID);
 * else 0. The arguments are the values of these variables or NULL. */
int64_t notify_watchdog_ms(const char *watchdog_usec, const char *watchdog_pid, int64_t own_pid);

#endif
