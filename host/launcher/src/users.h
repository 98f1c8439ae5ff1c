/* User namespaces: those that mounts are seen through, and the one we are in. */
#ifndef ISOLA_USERS_H
#define ISOLA_USERS_H

#include <stdbool.h>

/* A user namespace with a range of users, held by a descriptor. */
int users_make(const char *inside, const char *outside, const char *count);
/*
 * One whose users, all together, can take only a part of what the kernel counts for each user of the machine (inotify
 * instances and watches), so that one sandbox cannot use up what all others need. The kernel limits each user of a
 * namespace, but counts a namespace's users as its maker in the namespace around it: so there is one around it, which
 * has the limit.
 */
int users_make_limited(const char *outside, const char *count);
/* One through which owners from `from` on are seen as those from `to` on. */
int users_map(const char *from, const char *to);
/* Be root in a user namespace of our own, limited likewise, or in that of a process; from then on we are not the kernel's own root. */
void users_become_root(bool limited);
void users_join(const char *pid);
/* Be root of one in which number 1 is a subordinate user and group of ours: nobody, to the files of the host. */
void users_become_root_beside(const char *uid, const char *gid, bool limited);
bool users_have_other(void);
/* Files are opened in the name of that user, until we are ourselves again. False when that cannot be. */
bool users_act_as_other(bool on);
bool users_are_own(void);
/* Be root of a user namespace that was made before. */
void users_enter(int users);

#endif
