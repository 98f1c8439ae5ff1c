/* User namespaces: those that mounts are seen through, and the one we are in. */
#ifndef ISOLA_USERS_H
#define ISOLA_USERS_H

#include <stdbool.h>

/* A user namespace with a range of users, held by a descriptor. */
int users_make(const char *inside, const char *outside, const char *count);
/* One through which owners from `from` on are seen as those from `to` on. */
int users_map(const char *from, const char *to);
/* Be root in a user namespace of our own, or in that of a process; from then on we are not the kernel's own root. */
void users_become_root(void);
void users_join(const char *pid);
bool users_are_own(void);
/*
 * Limits what the users of a process's namespace can take of what the kernel counts for each user of the machine, so
 * that one sandbox cannot use up what all others need. False where that cannot be.
 */
bool users_limit(int pid);
/* Be root of a user namespace that was made before. */
void users_enter(int users);

#endif
