/* Reads PID/stat of a /proc folder, for the agent and the launcher. */
#ifndef ISOLA_PROCESS_STAT_H
#define ISOLA_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_stat {
    char state; /* R, S, D, Z, T, t, X, ... */
    pid_t parent, session;
    unsigned flags; /* PF_KTHREAD and others */
    int threads;
    uint64_t ticks; /* CPU time, including that of waited-for children */
    uint64_t start; /* start time in clock ticks since boot; distinguishes processes with the same pid */
    uint64_t pages; /* resident */
};

/*
 * Reads NAME/stat in `folder`, which is /proc or a PID/task folder. Returns false when it does not exist or is
 * malformed.
 */
bool process_stat_read(int folder, const char *name, struct process_stat *out);

#endif
