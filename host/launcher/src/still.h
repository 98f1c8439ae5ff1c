/* Stops all processes of a sandbox for a moment and finds those that use a mount. */
#ifndef ISOLA_STILL_H
#define ISOLA_STILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { STILL_MAX = 4096 };

struct still {
    int proc; /* /proc of the host */
    int count;
    pid_t pids[STILL_MAX];
    uint64_t starts[STILL_MAX]; /* start times, which tell reused pids apart; 0 when the process has ended */
    bool ours[STILL_MAX];       /* stopped by the launcher and not before */
};

/*
 * Stops a process and all its descendants, parents first, so that no parent observes a stopped child. Returns false
 * with a message in `why` on timeout; call quiesce_end in either case to continue them.
 */
bool still_begin(struct still *s, pid_t first, char *why, size_t room);
void still_end(struct still *s);

/* Continues the processes below `first` that a killed launcher left stopped. */
void still_wake(struct still *s, pid_t first);

/*
 * Describes in `who` a process that has its working directory or an open file in a mount; returns false if there is
 * none.
 */
bool still_uses(const struct still *s, uint64_t mount, uint64_t device, const char *path, char *who, size_t room);

#endif
