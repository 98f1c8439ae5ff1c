/*
 * The limit of processes. The kernel's controller counts threads, so the agent counts the processes that commands have
 * started, while there are any: as soon as they are too many, the execution that has most of them is ended. It also
 * makes room for a command where threads have taken all there is for a second.
 */
#ifndef ISOLA_PROCESS_LIMIT_H
#define ISOLA_PROCESS_LIMIT_H

#include <stdint.h>

/* Takes effect only for an agent that has a pid namespace; 0 for no limit. */
void process_limit_setup(uint64_t processes);
/* A command has started. */
void process_limit_started(void);
/* A command could not be started because there are too many threads. */
void process_limit_starved(void);
/* How often an execution was ended for the limit. */
uint64_t process_limit_met(void);

#endif
