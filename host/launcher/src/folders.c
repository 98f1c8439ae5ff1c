#include "folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANGE = 65536 }; /* the ids of a sandbox */

static uid_t shift_id(uid_t id, uid_t from, uid_t to)
{
    return id >= from && id - from < RANGE ? to + (id - from) : to;
}

bool folder_make(const char *path, mode_t mode, uid_t uid, gid_t gid, const struct stat *like, uid_t first)
{
    if (mkdir(path, 0700) != 0) return errno == EEXIST;
    if (!like) return (uid == (uid_t)-1 || lchown(path, uid, gid) == 0) && chmod(path, mode) == 0;
    struct timespec times[2] = {like->st_atim, like->st_mtim};
    return (uid == (uid_t)-1
            || lchown(path, shift_id(like->st_uid, first, uid), shift_id(like->st_gid, first, gid)) == 0)
           && chmod(path, like->st_mode & 07777) == 0 && utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0;
}

bool folder_untouched(const char *path, uid_t owner, const struct stat *like, uid_t first)
{
    struct stat now;
    DIR *entries = opendir(path);
    bool empty = entries != NULL;
    for (struct dirent *e; empty && (e = readdir(entries));)
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    if (entries) closedir(entries);
    return empty && stat(path, &now) == 0 && now.st_mode == like->st_mode
           && (owner == (uid_t)-1
               || (now.st_uid == shift_id(like->st_uid, first, owner)
                   && now.st_gid == shift_id(like->st_gid, first, owner)));
}

/* ---- removing ------------------------------------------------------------------------------------------ */

static DIR *open_entries(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0)
        fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (!entries && fd >= 0) close(fd);
    return entries;
}

/* Returns 0 when removed, 1 for a folder that is not empty, -1 on failure. */
static int remove_one(int at, const char *name)
{
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT) return 0;
    if (errno != EISDIR && errno != EPERM) return -1;
    if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
    return errno == ENOTEMPTY || errno == EEXIST ? 1 : -1;
}

/* Moves a folder to `top`, under a name that is free there. */
static bool move_up(int from, const char *name, int top)
{
    static unsigned long long number;
    char free_name[32];
    do snprintf(free_name, sizeof free_name, ".%llx", number++);
    while (renameat2(from, name, top, free_name, RENAME_NOREPLACE) != 0 && errno == EEXIST);
    struct stat s;
    return fstatat(top, free_name, &s, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Removes the files of a folder in `top` and moves its subfolders up, so that no path is longer than two names. */
static bool flatten(int top, const char *name)
{
    DIR *entries = open_entries(top, name);
    if (!entries) return false;
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(entries));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        int left = remove_one(dirfd(entries), e->d_name);
        ok = left == 0 || (left == 1 && move_up(dirfd(entries), e->d_name, top));
    }
    closedir(entries);
    return ok && (unlinkat(top, name, AT_REMOVEDIR) == 0 || errno == ENOTEMPTY);
}

bool folder_remove(const char *path)
{
    int left = remove_one(AT_FDCWD, path);
    if (left <= 0) return left == 0;
    DIR *top = open_entries(AT_FDCWD, path);
    if (!top) return false;
    bool ok = true;
    for (bool any = true; ok && any; rewinddir(top)) {
        any = false;
        for (struct dirent *e; ok && (e = readdir(top));) {
            if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
            any = true;
            left = remove_one(dirfd(top), e->d_name);
            ok = left == 0 || (left == 1 && flatten(dirfd(top), e->d_name));
        }
    }
    closedir(top);
    return ok && rmdir(path) == 0;
}
