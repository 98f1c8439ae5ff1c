/* All processes of a sandbox, stopped for a moment, and what of a mount they use. */
#ifndef ISOLA_STILL_H
#define ISOLA_STILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { STILL_MAX = 4096 };

struct still {
    int proc; /* /proc, as the host sees processes */
    int count;
    pid_t pids[STILL_MAX];
    uint64_t starts[STILL_MAX]; /* tells a process from a later one of the same pid; 0: it has ended */
    bool ours[STILL_MAX];       /* stopped by us, and not by somebody before */
};

/*
 * Stops a process and all that descends from it, parents before their children, so that nobody sees a stopped child.
 * False with a sentence in `why` when that takes too long; then, too, still_end lets them go on.
 */
bool still_begin(struct still *s, pid_t first, char *why, size_t room);
void still_end(struct still *s);

/* Lets the processes beneath `first` go on that somebody else stopped who is gone. */
void still_wake(struct still *s, pid_t first);

/* Tells who works in a mount or has something of it open, in a sentence; false for nobody. */
bool still_uses(const struct still *s, uint64_t mount, uint64_t device, const char *path, char *who, size_t room);

#endif
