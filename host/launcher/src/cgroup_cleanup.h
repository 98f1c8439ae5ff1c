/*
 * Removes the cgroups of sandboxes that end after the server has exited, for example at their deadline. The agent
 * cannot do it: it does not see the host's cgroups. The launcher records every sandbox it boots; when the server exits,
 * a detached process waits for those sandboxes to end.
 */
#ifndef ISOLA_CGROUP_CLEANUP_H
#define ISOLA_CGROUP_CLEANUP_H

#include <sys/types.h>

#include "plan.h"

/*
 * Called by the launcher. Starts recording; returns the descriptor to read records from, or -1 if that is not possible.
 */
int cleanup_open(void);
/*
 * Called by the process that boots a sandbox. Reports to the launcher that the sandbox whose first process is `pid`
 * runs.
 */
void cleanup_report(const struct plan *plan, pid_t pid, unsigned long long start);
/* Called by the launcher. Receives the pending reports. */
void cleanup_receive(void);
/*
 * Called by the launcher when the server has exited. Returns immediately; a detached process continues if there is
 * work.
 */
void cleanup_detach(void);

#endif
