/*
 * The agent's event loop: descriptors, timers, and a wake-up for worker threads. Everything is called on the main
 * thread only, except loop_wake.
 */
#ifndef ISOLA_LOOP_H
#define ISOLA_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
    int fd;          /* -1 when not in use */
    uint32_t events; /* events requested now */
    bool added;
    void (*ready)(struct watch *w, uint32_t events);
};

struct timer {
    uint64_t at_ns; /* 0 when not set */
    void (*fire)(struct timer *t);
    struct timer *next, **link;
};

bool loop_open(void);
/* Requests `events` (EPOLLIN, EPOLLOUT, or 0 for errors only); adds the descriptor on first use. */
void loop_watch(struct watch *w, uint32_t events);
/* Stops watching the descriptor; no further event is delivered. Does not close it. */
void loop_forget(struct watch *w);
void timer_set(struct timer *t, uint64_t at_ns);
void timer_clear(struct timer *t);
/* Makes the loop call `woken` soon. Callable from any thread. */
void loop_wake(void);
/* Runs until loop_stop; calls `woken` after loop_wake and once per iteration. */
void loop_run(void (*woken)(void));
void loop_stop(void);
/* CLOCK_BOOTTIME in nanoseconds. */
uint64_t now_ns(void);

#endif
