/*
 * Passes bytes between two TCP connections. The first may belong to a sandbox that still holds a descriptor of it and
 * changes its flags, so a call may wait for it although it should not; a timer ends that, and the connection with it.
 */
#ifndef ISOLA_TCP_PAIR_H
#define ISOLA_TCP_PAIR_H

#include <stddef.h>

#include "loop.h"

struct tcp_pair {
    struct watch side[2];
    struct tcp_flow {
        uint64_t bytes;
        size_t most; /* how much is read at a time: more if more arrives */
        bool bulk;   /* so much arrives that pages are moved instead of bytes copied */
        bool piped;  /* it has a pipe, */
        int pipe[2];
        size_t held;                   /* with bytes that the other side has not accepted */
        bool full, eof;                /* the other side accepts no more now; this one has sent its last byte */
        bool waits;                    /* the limit lets nothing pass now */
    } from[2];                         /* what each side sends */
    void (*ended)(struct tcp_pair *p); /* both sides are closed */
};

/* Once, before the first pair. */
void tcp_pairs_init(void);
/* Frees what no pair needs now. */
void tcp_pairs_trim(void);
/* Limits how many bytes of all pairs pass in a second, in each direction; 0 for no limit. */
void tcp_pairs_limit(uint64_t bytes_per_second);
/* Returns whether a pair waits for the limit, since the last call. Such pairs are to be resumed soon. */
bool tcp_pairs_wait(void);
/* Goes on with a pair that waits. May call `ended`. */
void tcp_pair_resume(struct tcp_pair *p);
/* Starts to pass bytes; `side[].fd` and `ended` are set. */
void tcp_pair_start(struct tcp_pair *p);
/* Resets both connections. Does not call `ended`. */
void tcp_pair_reset(struct tcp_pair *p);

#endif
