/* Users and groups from /etc/passwd and /etc/group. Parsed here, because a static program has no NSS. */
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

/* Looks up `name`, `uid`, `name:group`, `uid:gid`. Returns false when there is no such user (errno 0) or on error. */
bool user_find(const char *text, struct user *out);
bool user_by_uid(uid_t uid, struct user *out);
/* Returns whether the user is a member of the group. */
bool user_is_in(const struct user *u, const char *group);
/* Returns whether the group exists and has members. */
bool group_has_users(const char *group);
/* Names for listings: copies the name or sets out[0] = 0. Cached; callable from any thread. */
void user_name(uid_t uid, char *out, size_t capacity);
void group_name(gid_t gid, char *out, size_t capacity);

/*
 * user_assume gives the calling thread the file access rights of `u` (fsuid, fsgid and groups, by raw system calls,
 * which are per thread); user_return restores them. No-op unless the agent is root. Returns false when the kernel
 * refuses.
 */
bool user_assume(const struct user *u);
void user_return(void);

/*
 * Sets the owner of everything the calling thread creates from now on, independent of its rights; NULL resets it. No-op
 * unless the agent is root.
 */
void user_set_file_owner(const struct user *u);
/* Gives the new entry `name` of `folder`, or `folder` itself with "", to that owner. Returns false with errno. */
bool user_chown_new(int folder, const char *name);

#endif
