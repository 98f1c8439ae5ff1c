/* Waits for a sandbox to boot. */
#ifndef ISOLA_READY_H
#define ISOLA_READY_H

#include <sys/types.h>

#include "plan.h"

/*
 * Prints the answer: that the agent is ready, or the output of a failed boot. Ends the sandbox if the client
 * disconnects. Returns the exit code.
 */
int ready_await(int report, int errors, const struct plan *plan, pid_t child);

#endif
