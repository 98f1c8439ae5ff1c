/* Stops all processes of a sandbox for a moment and finds those that use a mount. */
#ifndef ISOLA_QUIESCE_H
#define ISOLA_QUIESCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { STOPPED_MAX = 4096 };

struct stopped_tree {
    int proc; /* /proc of the host */
    int count;
    pid_t pids[STOPPED_MAX];
    uint64_t starts[STOPPED_MAX]; /* start times, which tell reused pids apart; 0 when the process has ended */
    bool ours[STOPPED_MAX];       /* stopped by the launcher and not before */
};

/*
 * Stops a process and all its descendants, parents first, so that no parent observes a stopped child. Returns false
 * with a message in `why` on timeout; call quiesce_end in either case to continue them.
 */
bool quiesce_begin(struct stopped_tree *s, pid_t first, char *why, size_t room);
void quiesce_end(struct stopped_tree *s);

/* Continues the processes below `first` that a killed launcher left stopped. */
void quiesce_recover(struct stopped_tree *s, pid_t first);

/*
 * Describes a process that has its working directory or an open file in a mount; returns false if there is
 * none.
 */
bool quiesce_find_user(const struct stopped_tree *s, uint64_t mount, uint64_t device, const char *path,
                       char *description, size_t room);

#endif
