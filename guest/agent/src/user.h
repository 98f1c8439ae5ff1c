/* Users and groups from /etc/passwd and /etc/group, read by hand: a static program has no NSS. */
#ifndef ISOLA_USER_H
#define ISOLA_USER_H

#include <stdbool.h>
#include <sys/types.h>

enum { USER_GROUPS_MAX = 64 };

struct user {
    uid_t uid;
    gid_t gid;
    gid_t groups[USER_GROUPS_MAX]; /* supplementary, without gid */
    int group_count;
    char name[64];   /* empty when the uid has no name */
    char home[256];  /* "/" when unknown */
    char shell[128]; /* "/bin/sh" when unknown */
};

/* Looks up `name`, `uid`, `name:group`, `uid:gid`. False when there is no such user (errno 0) or on error. */
bool user_find(const char *text, struct user *out);
bool user_by_uid(uid_t uid, struct user *out);
/* Whether the user is in a group of that name. */
bool user_is_in(const struct user *u, const char *group);
/* Whether there is a group of that name with a user in it. */
bool group_has_users(const char *group);
/* Names for a listing: copies the name or leaves out[0] = 0. Cached and safe to call from any thread. */
void user_name(uid_t uid, char *out, size_t capacity);
void group_name(gid_t gid, char *out, size_t capacity);

/*
 * Makes file access of the calling thread that of `u` (fsuid, fsgid, groups by raw system calls: they are
 * per thread), and back. A no-op unless the agent is root. Returns false when the kernel refuses.
 */
bool user_assume(const struct user *u);
void user_return(void);

/*
 * Says whom what the calling thread makes from now on belongs to, whatever rights it has; NULL ends that.
 * A no-op unless the agent is root.
 */
void user_make_for(const struct user *u);
/* Gives the new entry `name` of `folder`, or with "" what `folder` itself is, to that user. False: errno. */
bool user_give(int folder, const char *name);

#endif
