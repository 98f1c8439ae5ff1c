/* Waits for a sandbox that is being booted. */
#ifndef ISOLA_READY_H
#define ISOLA_READY_H

#include <sys/types.h>

#include "plan.h"

/*
 * Prints the line: that the agent said it is ready, or what was said on the way. Ends the sandbox when nobody is left
 * who could read it. Returns the exit code.
 */
int ready_await(int report, int errors, const struct plan *plan, pid_t child);

#endif
