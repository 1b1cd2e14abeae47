/*
 * What the owner thread takes from its mailbox: something to be run there, with the daemon at hand, which ends within microseconds and never waits.
 *
 * The payload of every ticket of daemon->mailbox begins with one. Workers use it to learn what only the owner knows (ops/api.h).
 */
#ifndef TARRY_OPS_OWNER_CALL_H
#define TARRY_OPS_OWNER_CALL_H

struct http_owner_view;

struct owner_call {
    /* Owner thread. `view` is borrowed for the call; view->context is the struct daemon. */
    void (*run)(struct owner_call *call, const struct http_owner_view *view);
};

#endif
