/* Waits for a sandbox that is being booted. */
#ifndef ISOLA_READY_H
#define ISOLA_READY_H

#include <sys/types.h>

#include "plan.h"

/* When a process was started, in clock ticks; 0 when there is none. */
unsigned long long start_time(pid_t pid);
/*
 * Prints the line: that the agent said it is ready, or what was said on the way. Ends the sandbox when nobody is left
 * who could read it. Returns the exit code.
 */
int ready_await(int report, int errors, const struct plan *plan, pid_t child);

#endif
