/* The cgroups of a plan. */
#ifndef ISOLA_GROUPS_H
#define ISOLA_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "plan.h"

/*
 * Returns the length of the cgroup's folder in the path of a cgroup.procs file, including the slash; 0 for other paths.
 */
size_t group_folder(const char *procs);
/* Joins the cgroup of a cgroup.procs file; returns false and sets errno on failure. */
bool group_join(const char *procs);
/* Forks. Where the kernel supports it, the child starts in the plan's cgroup and the step counts as done. */
pid_t group_fork(struct plan *plan);
/* Kills all processes in the plan's cgroups and reports whether there were any. */
bool group_kill(const struct plan *plan);

#endif
