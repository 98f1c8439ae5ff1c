#include "file_temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "disk_budget.h"

enum {
    NO_REPLACE = 1,   /* RENAME_NOREPLACE */
    PIECE = 64 << 10, /* the same size as cp: larger writes need larger contiguous allocations, which are scarce */
};

bool temp_make(struct temp *t, int folder)
{
    *t = (struct temp){.folder = folder, .fd = -1};
    for (int tries = 0; tries < 16; tries++) {
        uint64_t random;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) return false;
        snprintf(t->name, sizeof t->name, ".isola-%012llx", (unsigned long long)(random & 0xffffffffffff));
        t->fd = openat(folder, t->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (t->fd >= 0 || errno != EEXIST) break;
    }
    if (t->fd < 0) t->name[0] = 0;
    return t->fd >= 0;
}

bool rename_new(int from, const char *name, int to, const char *target)
{
    if (syscall(SYS_renameat2, from, name, to, target, NO_REPLACE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
    /* A file can be linked atomically; for a folder, a check before the rename is all there is. */
    struct stat st;
    if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode)) {
        if (linkat(from, name, to, target, 0) == 0) return unlinkat(from, name, 0) == 0;
        if (errno == EEXIST) return false;
    }
    if (fstatat(to, target, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return false;
    }
    return renameat(from, name, to, target) == 0;
}

bool temp_commit(struct temp *t, const char *leaf, bool replace)
{
    if (replace ? renameat(t->folder, t->name, t->folder, leaf) != 0 : !rename_new(t->folder, t->name, t->folder, leaf))
        return false;
    t->name[0] = 0;
    return true;
}

void temp_discard(struct temp *t)
{
    int saved = errno;
    if (t->fd >= 0) close(t->fd);
    if (t->name[0]) unlinkat(t->folder, t->name, 0);
    t->fd = -1;
    t->name[0] = 0;
    errno = saved;
}

bool write_all(int fd, const void *data, size_t length)
{
    const uint8_t *p = data;
    if (!disk_reserve(length)) return false;
    while (length > 0) {
        ssize_t n = write(fd, p, length < PIECE ? length : PIECE);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        p += n;
        length -= (size_t)n;
    }
    return true;
}
