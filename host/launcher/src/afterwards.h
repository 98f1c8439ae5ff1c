/*
 * Removes the control groups of sandboxes that end when no server is left to do it, as at their deadline. Nothing in a
 * sandbox could: it does not see the host's groups. A launcher that stands by notes what it has booted; when its server
 * is gone a process of it stays until those sandboxes have ended.
 */
#ifndef ISOLA_AFTERWARDS_H
#define ISOLA_AFTERWARDS_H

#include <sys/types.h>

#include "plan.h"

/* In the launcher: begins to take notes; returns the descriptor that has them to be read, -1 when that cannot be. */
int afterwards_open(void);
/* In the process of one boot: tells the launcher that a sandbox runs whose first process is `pid`. */
void afterwards_tell(const struct plan *plan, pid_t pid, unsigned long long start);
/* In the launcher: takes down what was told. */
void afterwards_note(void);
/* In the launcher: its server is gone. Returns at once; a process of its own goes on where there is need. */
void afterwards_stay(void);

#endif
