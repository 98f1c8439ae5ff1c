/*
 * Holds all commands for as long as somebody looks at files that nobody is to change meanwhile: every process of every
 * command is stopped, and none is started. Supervisors go on, so that a held command can still be killed.
 */
#ifndef ISOLA_HOLD_H
#define ISOLA_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct held_process {
    pid_t pid;
    uint64_t start;
}; /* a pid alone may be another's when it is let go */

struct hold {
    struct held_process *stopped; /* in the order in which they were: a parent before its children */
    int count, capacity;
    int proc; /* /proc, while it is held */
    uint64_t began_ns;
};

/* Before the first command: what its supervisor has to see. */
void hold_prepare(void);
/* Returns once nothing of a command runs; one at a time holds, others wait. False: errno, and nothing is held. */
bool hold_begin(struct hold *h);
/* Lets go of what was stopped, not of what was so before. Returns for how long it was held, in ns. */
uint64_t hold_end(struct hold *h);
/* For a supervisor that is to start a command. */
bool hold_is_on(void);

#endif
