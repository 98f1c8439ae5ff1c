/* The cgroups of a plan. */
#ifndef ISOLA_CGROUPS_H
#define ISOLA_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "plan.h"

/*
 * Returns the length of the cgroup's folder in the path of a cgroup.procs file, including the slash; 0 for other paths.
 */
size_t cgroup_folder_length(const char *procs);
/* Joins the cgroup of a cgroup.procs file; returns false and sets errno on failure. */
bool cgroup_join(const char *procs);
/* Forks. Where the kernel supports it, the child starts in the plan's cgroup and the step counts as done. */
pid_t cgroup_fork(struct plan *plan);
/* Kills all processes in the plan's cgroups and reports whether there were any. */
bool cgroup_kill(const struct plan *plan);

#endif
