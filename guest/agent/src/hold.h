/*
 * Freezes all commands while their files are captured: stops every process of every command and delays new commands.
 * Supervisors keep running, so that a frozen command can still be killed.
 */
#ifndef ISOLA_HOLD_H
#define ISOLA_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct held_process {
    pid_t pid;
    uint64_t start;
}; /* identifies a process, since its pid may be reused before the thaw */

struct hold {
    struct held_process *stopped; /* in the order they were stopped: parents before their children */
    int count, capacity;
    int proc; /* /proc, while frozen */
    uint64_t began_ns;
};

/* Called before the first command: sets up the state shared with its supervisor. */
void hold_prepare(void);
/*
 * Returns once no process of a command runs. Concurrent callers wait. Returns false with errno; nothing is frozen then.
 */
bool hold_begin(struct hold *h);
/* Continues the processes that freeze_begin stopped. Returns for how long they were frozen, in ns. */
uint64_t hold_end(struct hold *h);
/* For a supervisor about to start a command. */
bool hold_is_on(void);

#endif
