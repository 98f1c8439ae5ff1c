#include "tar_removal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tree.h"
#include "overlay_diff.h"

/* Not empty because of a mount beneath it, or a mount point itself: it stays. */
static bool is_kept(int number)
{
    return number == ENOENT || number == ENOTEMPTY || number == EEXIST || number == EBUSY;
}

static bool remove_entry(struct tree *t, dev_t device)
{
    struct stat st;
    if (fstatat(t->folder, t->name, &st, AT_SYMLINK_NOFOLLOW) < 0) return errno == ENOENT;
    if (is_mount_point(t->folder, t->name, &st, device)) return true;
    if (S_ISDIR(st.st_mode)) return tree_enter(t) || errno == ENOENT;
    return unlinkat(t->folder, t->name, 0) == 0 || is_kept(errno);
}

bool tar_remove(int folder, const char *name, dev_t device)
{
    struct stat st;
    struct tree t;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0) return errno == ENOENT;
    if (is_mount_point(folder, name, &st, device)) return true;
    if (!S_ISDIR(st.st_mode)) return unlinkat(folder, name, 0) == 0 || is_kept(errno);
    int top = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (top < 0 || !tree_start(&t, top, false)) return false;
    enum tree_step step;
    bool ok = true;
    while (ok && (step = tree_next(&t)) != TREE_END)
        ok = step == TREE_ENTRY ? remove_entry(&t, device)
                                : unlinkat(t.folder, t.name, AT_REMOVEDIR) == 0 || is_kept(errno);
    int number = ok ? t.error : errno;
    tree_stop(&t);
    errno = number;
    return !number && (unlinkat(folder, name, AT_REMOVEDIR) == 0 || is_kept(errno));
}
