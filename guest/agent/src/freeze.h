/*
 * Freezes all commands while their files are captured: stops every process of every command and delays new commands.
 * Supervisors keep running, so that a frozen command can still be killed.
 */
#ifndef ISOLA_FREEZE_H
#define ISOLA_FREEZE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct frozen_process {
    pid_t pid;
    uint64_t start;
}; /* identifies a process, since its pid may be reused before the thaw */

struct freeze {
    struct frozen_process *stopped; /* in the order they were stopped: parents before their children */
    int count, capacity;
    int proc; /* /proc, while frozen */
    uint64_t began_ns;
};

/* Called before the first command: sets up the state shared with its supervisor. */
void freeze_prepare(void);
/*
 * Returns once no process of a command runs. Concurrent callers wait. Returns false with errno; nothing is frozen then.
 */
bool freeze_begin(struct freeze *h);
/* Continues the processes that freeze_begin stopped. Returns for how long they were frozen, in ns. */
uint64_t freeze_end(struct freeze *h);
/* For a supervisor about to start a command. */
bool freeze_is_active(void);

#endif
