/*
 * From a launcher's child to a process of its own: detached, in a pid and mount namespace where they can be had.
 * As PID 1 of a namespace the agent's end is the end of everything beneath it; the kernel sees to that.
 */
#ifndef ISOLA_DETACH_H
#define ISOLA_DETACH_H

#include <stdbool.h>

#include "boot.h"

/*
 * Forks. Returns in the agent's process only; the launcher prints one line and exits once the agent calls
 * detach_ready, or failed.
 */
void detach(const struct boot *b);
/* Tells the launcher that the agent is serving. */
void detach_ready(void);
/* Tells the launcher why it is not, and exits. */
_Noreturn void detach_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Tries whether a pid and mount namespace can be had here. */
bool namespaces_available(void);

#endif
