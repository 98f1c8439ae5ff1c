#include "path_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "link_text.h"

enum { DEPTH_MAX = 4096 };

/*
 * Keeps one descriptor open at a time. For `..` the walk remembers the device and inode of each folder it came through
 * and goes back only if the parent is still that folder. Depth therefore costs no descriptors, and a folder that is
 * moved away concurrently cannot redirect the walk: it fails with EAGAIN, and the walk starts again.
 */
struct step {
    dev_t device;
    ino_t inode;
};

struct walk {
    int current;
    bool current_owned;
    size_t depth;
    int links;
    struct step *steps; /* the folders above `current`, root first */
    char *text;         /* the rest of the path is at the end, so that a link target fits before it */
    char *rest;
};

enum { WALK_TEXT = (WALK_LINKS_MAX + 2) * (PATH_MAX + 1) };

static void walk_to(struct walk *w, int folder)
{
    if (w->current_owned) close(w->current);
    w->current = folder;
    w->current_owned = true;
}

static bool walk_up(struct walk *w)
{
    struct stat here;
    /* Looking up "." requires the same search permission that the kernel requires for "..". */
    if (fstatat(w->current, ".", &here, AT_SYMLINK_NOFOLLOW) < 0) return false;
    if (w->depth == 0) {
        errno = EXDEV;
        return false;
    }
    int parent = openat(w->current, "..", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (parent < 0) return false;
    const struct step *expected = &w->steps[w->depth - 1];
    if (fstat(parent, &here) < 0 || here.st_dev != expected->device || here.st_ino != expected->inode) {
        close(parent);
        errno = EAGAIN;
        return false;
    }
    w->depth--;
    walk_to(w, parent);
    return true;
}

static bool walk_down(struct walk *w, int folder)
{
    struct stat here;
    if (w->depth == DEPTH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (fstat(w->current, &here) < 0) return false;
    w->steps[w->depth++] = (struct step){here.st_dev, here.st_ino};
    walk_to(w, folder);
    return true;
}

static bool walk_link(struct walk *w, int link)
{
    char target[PATH_MAX];
    if (w->links++ >= WALK_LINKS_MAX) {
        errno = ELOOP;
        return false;
    }
    if (!link_text(link, "", target, sizeof target)) return false;
    if (target[0] == '/') {
        errno = EXDEV;
        return false;
    }
    size_t length = strlen(target);
    if (*w->rest && *w->rest != '/') *--w->rest = '/';
    w->rest -= length;
    memcpy(w->rest, target, length);
    return true;
}

/* Opens the last component. A link that appeared after the check is a race: ELOOP becomes EAGAIN. */
static int walk_last(int folder, const char *name, int flags, bool was_link)
{
    int fd = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ELOOP && !was_link) errno = EAGAIN;
    if (fd >= 0 && (flags & O_PATH) && !was_link) {
        struct stat found;
        if (fstat(fd, &found) < 0 || S_ISLNK(found.st_mode)) {
            close(fd);
            errno = EAGAIN;
            return -1;
        }
    }
    return fd;
}

/* Resolves one component. Returns -2 to continue, -1 on failure, otherwise the resulting descriptor. */
static int walk_component(struct walk *w, int flags)
{
    w->rest = w->rest + strspn(w->rest, "/");
    size_t length = strcspn(w->rest, "/");
    if (length == 0) return walk_last(w->current, ".", flags, false);
    if (length > NAME_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    char name[NAME_MAX + 1];
    memcpy(name, w->rest, length);
    name[length] = 0;
    w->rest += length;
    bool last = !w->rest[strspn(w->rest, "/")], slash = *w->rest == '/';
    if (!strcmp(name, ".") || !strcmp(name, "..")) {
        struct stat here;
        if (name[1] ? !walk_up(w) : fstatat(w->current, ".", &here, AT_SYMLINK_NOFOLLOW) < 0) return -1;
        return last ? walk_last(w->current, ".", flags, false) : -2;
    }
    int fd = openat(w->current, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    struct stat found;
    bool ok = fstat(fd, &found) == 0;
    bool link = ok && S_ISLNK(found.st_mode);
    int answer = -1;
    if (link && (!last || slash || !(flags & O_NOFOLLOW))) {
        answer = walk_link(w, fd) ? -2 : -1;
    } else if (ok && last) {
        answer = walk_last(w->current, name, slash ? flags | O_DIRECTORY : flags, link);
    } else if (ok && !S_ISDIR(found.st_mode)) {
        errno = ENOTDIR;
    } else if (ok && walk_down(w, fd)) {
        return -2;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return answer;
}

int walk_beneath(int root, const char *path, int flags)
{
    struct walk w = {.steps = malloc(DEPTH_MAX * sizeof *w.steps), .text = malloc(WALK_TEXT)};
    int answer = -1;
    if (!w.steps || !w.text) errno = ENOMEM;
    for (int tries = 0; w.steps && w.text && tries < WALK_TRIES_MAX; tries++) {
        size_t length = strlen(path);
        w.current = root;
        w.current_owned = false;
        w.depth = 0;
        w.links = 0;
        w.rest = w.text + WALK_TEXT - length - 1;
        memcpy(w.rest, path, length + 1);
        do answer = walk_component(&w, flags);
        while (answer == -2);
        int saved = errno;
        if (w.current_owned) close(w.current);
        errno = saved;
        if (answer >= 0 || errno != EAGAIN) break;
    }
    int saved = errno;
    free(w.steps);
    free(w.text);
    errno = saved;
    return answer;
}
