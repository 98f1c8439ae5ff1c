/*
 * Gives a running sandbox its own boot id: mounts a file over /proc/sys/kernel/random/boot_id from outside, because some
 * runtimes refuse mounts below /proc. Runs after the agent has started and before any command.
 *
 *    boot-id SOCKET                    in the container of the process that listens on a unix socket
 *    boot-id PID START                 in the sandbox of a process
 *
 * Prints one line: "done", "refused WHY" if the launcher has no access to the sandbox's files or the file there is not
 * the kernel's, or "error WHY"; except after "done", nothing has changed.
 */
#ifndef ISOLA_BOOT_ID_H
#define ISOLA_BOOT_ID_H

#include "plan.h"

/* Takes the step; returns the exit code. */
int boot_id_mount(const struct step *s);

#endif
