/*
 * Detaches the agent from the process that started it, into its own pid and mount namespace where available. When the
 * agent is PID 1 of a pid namespace, the kernel kills every process in it when the agent ends.
 */
#ifndef ISOLA_DETACH_H
#define ISOLA_DETACH_H

#include <stdbool.h>

#include "boot.h"

/*
 * Forks. Returns in the agent's process only. The first process prints one line and exits once the agent calls
 * detach_ready or detach_failed.
 */
void detach(const struct boot *b);
/* Reports to the first process that the agent is serving. */
void detach_ready(void);
/* Reports to the first process why the agent cannot serve, and exits. */
_Noreturn void detach_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns whether a pid and mount namespace can be created here. */
bool namespaces_available(void);

#endif
