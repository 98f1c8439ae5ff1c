/* The control groups of a plan. */
#ifndef ISOLA_GROUPS_H
#define ISOLA_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "plan.h"

/* How long the path of a group's folder is, its slash included; 0 for what is no cgroup.procs. */
size_t group_folder(const char *procs);
/* Joins by a cgroup.procs; false with errno. */
bool group_join(const char *procs);
/* Forks; where the kernel does that the child is born in the plan's group, and its step is taken. */
pid_t group_fork(struct plan *plan);
/* Tells whether somebody was in the plan's groups; kills them. */
bool group_kill(const struct plan *plan);

#endif
