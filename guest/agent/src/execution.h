/* Executions: start, end, eviction. Main thread only. */
#ifndef ISOLA_EXECUTION_H
#define ISOLA_EXECUTION_H

#include <sys/types.h>

#include "stream.h"

struct execution_defaults;
/* Keeps the pointer. */
void executions_setup(const struct execution_defaults *defaults);

void execution_start(struct stream *s, struct fields request);
/* Called once per iteration of the event loop: evicts old executions. */
void executions_evict(void);
/* A child of the agent ended. */
void executions_reaped(pid_t pid, int status);
/* Kills processes reparented to the agent by a killed supervisor. All other children of the agent are supervisors. */
void kill_strays(void);

#endif
