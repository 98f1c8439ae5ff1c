/*
 * Copies bytes between two TCP connections. The first may belong to a sandbox that still holds a descriptor of it, so
 * no call depends on its flags: all of them return at once.
 */
#ifndef ISOLA_TCP_PAIR_H
#define ISOLA_TCP_PAIR_H

#include <stddef.h>

#include "loop.h"

struct tcp_pair {
    struct watch side[2];
    struct tcp_flow {
        uint64_t bytes;
        size_t most;                   /* how much is read at a time: about as much as the other side accepts */
        bool full, eof;                /* the other side accepts no more now; this one has sent its last byte */
    } from[2];                         /* what each side sends */
    void (*ended)(struct tcp_pair *p); /* both sides are closed */
};

/* Starts to copy; `side[].fd` and `ended` are set. */
void tcp_pair_start(struct tcp_pair *p);
/* Resets both connections. Does not call `ended`. */
void tcp_pair_reset(struct tcp_pair *p);

#endif
