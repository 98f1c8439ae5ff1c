/* Reads PID/stat of a /proc folder, for the agent and for the launcher. */
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
    uint64_t ticks; /* CPU time, with that of the children it has waited for */
    uint64_t start; /* clock ticks since boot; tells two processes of one pid apart */
    uint64_t pages; /* resident */
};

/* Reads NAME/stat in `folder`, which is /proc or PID/task of it. False when that is gone, or is not such a file. */
bool process_stat_read(int folder, const char *name, struct process_stat *out);

#endif
