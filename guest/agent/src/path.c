#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "link_text.h"
#include "operations.h"
#include "path_walk.h"
#include "user.h"

struct file_view file_view = {.root_fd = -1};
bool path_force_walk;

/* ---- base of a path ------------------------------------------------------------------------------------ */

struct anchor {
    int folder;
    bool owned;
    const char *rest;
    char joined[PATH_MAX];
};

static const char *skip_slashes(const char *p)
{
    while (*p == '/') p++;
    return p;
}

/* Returns what follows `prefix` in `path`, by components (/workspacefoo is not in /workspace), or NULL. */
static const char *after_prefix(const char *path, const char *prefix)
{
    if (!prefix) return NULL;
    for (;;) {
        prefix = skip_slashes(prefix);
        path = skip_slashes(path);
        if (!*prefix) return path;
        size_t length = strcspn(prefix, "/");
        if (strncmp(path, prefix, length) != 0 || (path[length] && path[length] != '/')) return NULL;
        prefix += length;
        path += length;
    }
}

/* The longer match of MOUNT and ROOT wins, so that MOUNT may be a parent of ROOT. */
static const char *beneath_view(const char *path)
{
    const char *by_mount = after_prefix(path, file_view.mount);
    const char *by_root = after_prefix(path, file_view.root);
    if (by_mount && by_root) return by_mount > by_root ? by_mount : by_root;
    return by_mount ? by_mount : by_root;
}

void path_start_at(const char *cwd)
{
    file_view.start = cwd && cwd[0] == '/' ? beneath_view(cwd) : NULL;
}

static bool anchor_take(const char *path, struct anchor *a)
{
    a->folder = AT_FDCWD;
    a->owned = false;
    a->rest = path;
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (file_view.root_fd >= 0) {
        a->folder = file_view.root_fd;
        if (path[0] != '/' && file_view.start && *file_view.start) {
            if (snprintf(a->joined, sizeof a->joined, "%s/%s", file_view.start, path) >= (int)sizeof a->joined) {
                errno = ENAMETOOLONG;
                return false;
            }
            a->rest = a->joined;
        } else if (path[0] == '/') {
            a->rest = beneath_view(path);
            if (!a->rest) {
                errno = EXDEV;
                return false;
            }
        }
    } else if (path[0] != '/') {
        a->folder = open(file_view.cwd ? file_view.cwd : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (a->folder < 0) return false;
        a->owned = true;
    }
    if (!*a->rest) a->rest = ".";
    return true;
}

static void anchor_drop(struct anchor *a)
{
    int saved = errno;
    if (a->owned) close(a->folder);
    errno = saved;
}

/* ---- resolution by the kernel -------------------------------------------------------------------------- */

static int call_openat2(int folder, const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/* Tested once: an old kernel fails with ENOSYS, a seccomp filter often with EPERM, for every path alike. */
static bool kernel_resolves(void)
{
    static atomic_int known;
    int state = atomic_load(&known);
    if (state == 0) {
        int fd = call_openat2(file_view.root_fd, ".", O_PATH);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) return false;
        state = fd >= 0 ? 1 : 2;
        if (fd >= 0) close(fd);
        atomic_store(&known, state);
    }
    return state == 1;
}

static int open_beneath(int root, const char *path, int flags)
{
    if (!path_force_walk && kernel_resolves()) {
        /* EAGAIN: a rename happened while the kernel resolved a `..`. */
        for (int tries = 0; tries < WALK_TRIES_MAX; tries++) {
            int fd = call_openat2(root, path, flags);
            if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return fd;
        }
    }
    return walk_beneath(root, path, flags);
}

static int anchor_open(const struct anchor *a, const char *path, int flags)
{
    if (file_view.root_fd >= 0) return open_beneath(a->folder, path, flags);
    return openat(a->folder, path, flags | O_CLOEXEC);
}

int path_open(const char *path, int flags)
{
    struct anchor a;
    if (!anchor_take(path, &a)) return -1;
    int fd = anchor_open(&a, a.rest, flags);
    anchor_drop(&a);
    return fd;
}

/* ---- parent folders ------------------------------------------------------------------------------------ */

/* Returns the length of `path` without trailing slashes and dots: `a/b/./` becomes `a/b`. */
static size_t trimmed(const char *path)
{
    size_t length = strlen(path);
    for (;;) {
        if (length > 0 && path[length - 1] == '/')
            length--;
        else if (length > 0 && path[length - 1] == '.' && (length == 1 || path[length - 2] == '/'))
            length--;
        else
            return length;
    }
}

bool path_resolve_parent(const char *path, struct path_parent *out)
{
    struct anchor a;
    out->folder = -1;
    if (!anchor_take(path, &a)) return false;
    size_t length = trimmed(a.rest), start = length;
    while (start > 0 && a.rest[start - 1] != '/') start--;
    char parent[PATH_MAX];
    memcpy(parent, a.rest, start);
    parent[start] = 0;
    const char *leaf = a.rest + start;
    size_t leaf_length = length - start;
    if (leaf_length > NAME_MAX) {
        errno = ENAMETOOLONG;
    } else if (leaf_length == 2 && !memcmp(leaf, "..", 2)) {
        errno = EINVAL;
    } else {
        memcpy(out->leaf, leaf, leaf_length);
        out->leaf[leaf_length] = 0;
        const char *folder = start ? parent : a.rest[0] == '/' ? "/" : ".";
        out->folder = anchor_open(&a, folder, O_PATH | O_DIRECTORY);
    }
    anchor_drop(&a);
    return out->folder >= 0;
}

void path_parent_close(struct path_parent *p)
{
    if (p->folder >= 0) close(p->folder);
    p->folder = -1;
}

bool path_resolve_parent_following(const char *path, struct path_parent *out)
{
    char now[PATH_MAX], target[PATH_MAX];
    out->folder = -1;
    if (strlen(path) >= sizeof now) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(now, path);
    for (int links = 0; links <= WALK_LINKS_MAX; links++) {
        if (!path_resolve_parent(now, out)) return false;
        if (!out->leaf[0] || !link_text(out->folder, out->leaf, target, sizeof target))
            return true; /* not a link, or does not exist yet */
        path_parent_close(out);
        /* A relative link target is resolved from the folder that contains the link. */
        size_t start = trimmed(now), length = strlen(target);
        while (start > 0 && now[start - 1] != '/') start--;
        if (target[0] == '/') {
            if (file_view.root_fd >= 0) {
                errno = EXDEV;
                return false;
            }
            start = 0;
        }
        if (start + length >= sizeof now) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(now + start, target, length + 1);
    }
    errno = ELOOP;
    return false;
}

bool path_make_parents(const char *path, mode_t mode)
{
    char prefix[PATH_MAX];
    size_t end = trimmed(path);
    if (strlen(path) >= sizeof prefix) {
        errno = ENAMETOOLONG;
        return false;
    }
    while (end > 0 && path[end - 1] != '/') end--;
    for (size_t i = 1; i <= end; i++) {
        if (path[i - 1] == '/' || path[i] != '/') continue;
        memcpy(prefix, path, i);
        prefix[i] = 0;
        int fd = path_open(prefix, O_PATH | O_DIRECTORY);
        if (fd >= 0) {
            close(fd);
            continue;
        }
        /* Folders above a confined root are neither created nor checked here; the resolution decides. */
        if (errno == EXDEV && file_view.root_fd >= 0 && path[0] == '/' && !beneath_view(prefix)) continue;
        struct path_parent p;
        if (errno != ENOENT || !path_resolve_parent(prefix, &p)) return false;
        bool made =
            p.leaf[0] && (mkdirat(p.folder, p.leaf, mode) == 0 ? user_chown_new(p.folder, p.leaf) : errno == EEXIST);
        int saved = errno;
        path_parent_close(&p);
        errno = saved;
        if (!made) return false;
    }
    return true;
}

int path_descend(int folder, const char *relative, mode_t make)
{
    int current = openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char name[NAME_MAX + 1];
    for (;;) {
        relative = skip_slashes(relative);
        size_t length = strcspn(relative, "/");
        if (current < 0 || length == 0) return current;
        int next = -1;
        if (length > NAME_MAX) {
            errno = ENAMETOOLONG;
        } else {
            memcpy(name, relative, length);
            name[length] = 0;
            relative += length;
            next = openat(current, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (next < 0 && errno == ENOENT && make && (mkdirat(current, name, make) == 0 || errno == EEXIST))
                next = openat(current, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            /* The kernel reports ENOTDIR for a link here; the caller needs to distinguish it from a file. */
            struct stat found;
            if (next < 0 && errno == ENOTDIR)
                errno = fstatat(current, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(found.st_mode) ? ELOOP
                                                                                                           : ENOTDIR;
        }
        int saved = errno;
        close(current);
        errno = saved;
        current = next;
    }
}

void path_of(int fd, const char *given, char *out, size_t capacity)
{
    char name[40], real[PATH_MAX];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const char *where = link_text(AT_FDCWD, name, real, sizeof real) && real[0] == '/' ? real : given;
    const char *rest = file_view.root_fd >= 0 ? after_prefix(where, file_view.root) : NULL;
    if (rest && file_view.mount)
        snprintf(out, capacity, "%s%s%s", file_view.mount, *rest ? "/" : "", rest);
    else
        snprintf(out, capacity, "%s", where);
}

char *path_join(const char *base, const char *relative)
{
    size_t left = strlen(base), right = strlen(relative);
    char *joined = malloc(left + right + 2);
    if (!joined) return NULL;
    memcpy(joined, base, left);
    if (left && right && joined[left - 1] != '/') joined[left++] = '/';
    memcpy(joined + left, relative, right + 1);
    return joined;
}
