/*
 * Each command has one supervisor process. It is a child subreaper, so that everything the command starts stays beneath
 * it and can be found and killed. It starts the command, reports its end to the agent and reaps. When no process is
 * left it waits for another command, which then needs no fork. When the agent is gone it kills its tree and exits.
 */
#ifndef ISOLA_SUPERVISOR_H
#define ISOLA_SUPERVISOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "launch.h"

/* Applies the limits of a command to the calling process, using system calls only. Returns false with errno. */
bool command_confine(const struct launch *launch);
/* Closes all descriptors from `first` on, using system calls only. */
void close_from(int first);

/* Lets a supervisor start the command. Returns its pid and the agent's end of the control socket, or -1 with errno. */
pid_t supervisor_start(const struct launch *launch, int *control_fd);
/* The supervisor has reported that it is idle. Takes over the control socket. */
void supervisor_free(pid_t pid, int control_fd);
/* Ends idle supervisors, to make room for other processes. */
void supervisors_end_idle(void);
/* A child has ended, possibly an idle supervisor. */
void supervisor_reaped(pid_t pid);

#endif
