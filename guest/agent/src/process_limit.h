/*
 * Process limit. The kernel's pids controller counts threads, so the agent counts the processes of commands while there
 * are any and kills the execution with the most when the limit is exceeded. When threads have used up the kernel's
 * limit for a second, it also kills an execution so that commands can start again.
 */
#ifndef ISOLA_PROCESS_LIMIT_H
#define ISOLA_PROCESS_LIMIT_H

#include <stdint.h>

/*
 * Takes effect only for an agent with a pid namespace; 0 for no limit. With `threads`, the limit that the kernel of a
 * virtual machine enforces, few threads show that there are few processes.
 */
void process_limit_setup(uint64_t processes, uint64_t threads);
/* A command has started. */
void process_limit_started(void);
/* A command could not be started because there are too many threads. */
void process_limit_starved(void);

#endif
