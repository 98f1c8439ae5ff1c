/* MKDIR, SYMLINK, CHMOD, CHOWN: changes to a single entry. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_error.h"
#include "file_request.h"
#include "operations.h"
#include "path.h"
#include "user.h"

enum { MKDIR_PARENTS = 2 };

static void answer(struct stream *s, bool done, const char *path)
{
    if (done)
        stream_end(s, NULL);
    else
        answer_error(s, errno, path);
}

static bool is_folder(const char *path)
{
    int fd = path_open(path, O_PATH | O_DIRECTORY);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static void mkdir_path(struct stream *s, struct fields f, const char *path)
{
    bool parents = fields_u64(f, T_FLAGS, 0) & MKDIR_PARENTS;
    mode_t mode;
    struct path_parent p;
    if (!mode_field(s, f, 0755, &mode)) return;
    if (parents && is_folder(path)) {
        stream_end(s, NULL);
        return;
    }
    if ((parents && !path_make_parents(path, 0755)) || !path_resolve_parent(path, &p)) {
        answer_error(s, errno, path);
        return;
    }
    bool done = false;
    if (!p.leaf[0]) {
        errno = EEXIST;
    } else {
        done = mkdirat(p.folder, p.leaf, mode & 0777) == 0 && user_chown_new(p.folder, p.leaf);
        if (!done && errno == EEXIST && parents) {
            done = is_folder(path);
            errno = EEXIST;
        }
        /* An explicit mode is applied exactly, not masked by the umask. */
        if (done && fields_has(f, T_MODE)) {
            int fd = openat(p.folder, p.leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (fd >= 0) {
                done = fchmod(fd, mode) == 0;
                int saved = errno;
                close(fd);
                errno = saved;
            }
        }
    }
    answer(s, done, path);
    path_parent_close(&p);
}

void operate_mkdir(const struct request *r)
{
    file_operation(r, mkdir_path);
}

static void symlink_path(struct stream *s, struct fields f, const char *path)
{
    char *target = fields_text(f, T_TARGET);
    struct path_parent p;
    if (!target || !*target) {
        stream_error(s, E_INVALID, 0, "TARGET is missing, empty or contains a NUL byte");
    } else if (!path_resolve_parent(path, &p)) {
        answer_error(s, errno, path);
    } else {
        errno = EEXIST;
        answer(s, p.leaf[0] && symlinkat(target, p.folder, p.leaf) == 0 && user_chown_new(p.folder, p.leaf), path);
        path_parent_close(&p);
    }
    free(target);
}

void operate_symlink(const struct request *r)
{
    file_operation(r, symlink_path);
}

/*
 * Changes the mode of an O_PATH descriptor: through /proc/self/fd, or with fchmodat2 (Linux 6.6) without /proc. Opening
 * the file instead would require read permission.
 */
static bool chmod_opened(int fd, mode_t mode)
{
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (chmod(name, mode) == 0) return true;
    if (errno != ENOENT && errno != ENOTDIR) return false;
    enum { CALL_FCHMODAT2 = 452 };
    return syscall(CALL_FCHMODAT2, fd, "", mode, AT_EMPTY_PATH) == 0;
}

static void chmod_path(struct stream *s, struct fields f, const char *path)
{
    mode_t mode;
    if (!fields_has(f, T_MODE)) {
        stream_error(s, E_INVALID, 0, "MODE is missing");
        return;
    }
    if (!mode_field(s, f, 0, &mode)) return;
    int fd = path_open(path, O_PATH);
    answer(s, fd >= 0 && chmod_opened(fd, mode), path);
    if (fd >= 0) close(fd);
}

void operate_chmod(const struct request *r)
{
    file_operation(r, chmod_path);
}

/* Parses `user`, `user:group` or `:group`; an id that is not given stays -1. */
static bool owner_parse(const char *text, uid_t *uid, gid_t *gid)
{
    struct user u;
    char group_only[80];
    if (text[0] == ':') {
        if (snprintf(group_only, sizeof group_only, "0%s", text) >= (int)sizeof group_only) return false;
        if (!user_find(group_only, &u)) return false;
        *gid = u.gid;
        return true;
    }
    if (!user_find(text, &u)) return false;
    *uid = u.uid;
    if (strchr(text, ':')) *gid = u.gid;
    return true;
}

/* gVisor supports this only by path. */
static bool chown_opened(int fd, uid_t uid, gid_t gid)
{
    if (fchownat(fd, "", uid, gid, AT_EMPTY_PATH) == 0) return true;
    if (errno != EBADF) return false;
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return chown(name, uid, gid) == 0;
}

static void chown_path(struct stream *s, struct fields f, const char *path)
{
    uint64_t none = UINT32_MAX, u = fields_u64(f, T_UID, none), g = fields_u64(f, T_GID, none);
    char *owner = fields_text(f, T_OWNER);
    uid_t uid = (uid_t)u;
    gid_t gid = (gid_t)g;
    if (u > UINT32_MAX || g > UINT32_MAX) {
        stream_error(s, E_INVALID, 0, "UID or GID is out of range");
    } else if (owner && !owner_parse(owner, &uid, &gid)) {
        stream_error(s, E_NO_SUCH_USER, 0, "no such user or group: %s", owner);
    } else if (uid == (uid_t)-1 && gid == (gid_t)-1) {
        stream_error(s, E_INVALID, 0, "one of UID, GID and OWNER is required");
    } else {
        int fd = path_open(path, O_PATH);
        answer(s, fd >= 0 && chown_opened(fd, uid, gid), path);
        if (fd >= 0) close(fd);
    }
    free(owner);
}

void operate_chown(const struct request *r)
{
    file_operation(r, chown_path);
}
