/* User namespaces: those that map mounts, and the launcher's own. */
#ifndef ISOLA_USERS_H
#define ISOLA_USERS_H

#include <stdbool.h>

/* Creates a user namespace with a range of ids and returns its descriptor. */
int users_make(const char *inside, const char *outside, const char *count);
/*
 * Likewise, for the users of a sandbox: it is created by the first user of the range. The kernel charges what all users
 * of a namespace hold to its creator in the parent namespace too. If that were root, all sandboxes would share the
 * limits of the host's root.
 */
int users_make_own(const char *inside, const char *outside, const char *count);
/*
 * Likewise, but also limits its users to a part of the kernel's per-user resources (inotify instances and watches). The
 * kernel limits each user of a namespace, but charges all users of a namespace to its creator: so an additional parent
 * namespace carries the limit.
 */
int users_make_limited(const char *outside, const char *count);
/*
 * Lowers the limits of the bytes in message queues and of queued signals. A user namespace created afterwards applies
 * them to all of its users together.
 */
void users_limit_objects(void);
/* Creates a user namespace that shifts owners from `from` to `to`. */
int users_map(const char *from, const char *to);
/*
 * Become root in a new user namespace, optionally limited, or in that of a process; the launcher is not the host's root
 * from then on.
 */
void users_become_root(bool limited);
void users_join(const char *pid);
/*
 * Becomes root of a user namespace in which id 1 is a subordinate user and group of the caller, which own nothing on
 * the host.
 */
void users_become_root_with_subordinate(const char *uid, const char *gid, bool limited);
bool users_have_subordinate(void);
/* Opens files with the ids of the subordinate user, or of root again. Returns false on failure. */
bool users_act_as_subordinate(bool on);
bool users_are_own(void);
/* Becomes root of an existing user namespace. */
void users_enter(int users);

#endif
