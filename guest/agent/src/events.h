/*
 * What modules report to those above them, which they neither include nor call. main sets the handlers, once. Handlers
 * run on the main thread unless stated otherwise.
 */
#ifndef ISOLA_EVENTS_H
#define ISOLA_EVENTS_H

#include "frame.h"

struct events {
    /* Of the authenticated connection (connection.c). */
    void (*connected)(void);
    void (*frame)(const struct frame *f); /* every frame except PING and PONG */
    void (*lost)(void);                   /* nothing can be sent any more; with connection_lock */
    void (*disconnected)(void);           /* follows `lost`, without the lock */
    void (*flushed)(void);                /* the send queue may be shorter; with connection_lock */
    void (*room)(void);                   /* the send queue has room again */
    /* Of commands (execution.c) and sudo helpers (sudo_listen.c). */
    void (*command_started)(void);
    void (*command_starved)(void); /* the kernel refused a process for a command, because there are too many */
};

extern const struct events *events;

#endif
