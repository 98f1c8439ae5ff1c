#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "file_error.h"
#include "file_request.h"
#include "file_temp.h"
#include "operations.h"
#include "path.h"

enum { MOVE_REPLACE = 1, COPY_PIECE = 262144 };

struct move {
    struct stream *s;
    const char *path, *target;
    struct path_parent from, to;
    bool replace;
};

static bool copy_content(struct stream *s, int from, int to)
{
    uint8_t *buffer = malloc(COPY_PIECE);
    bool ok = false;
    if (!buffer) {
        errno = ENOMEM;
        return false;
    }
    for (;;) {
        if (stream_over(s)) {
            errno = ECANCELED;
            break;
        }
        ssize_t n = read(from, buffer, COPY_PIECE);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) ok = true;
        if (n <= 0 || !write_all(to, buffer, (size_t)n)) break;
    }
    int saved = errno;
    free(buffer);
    errno = saved;
    return ok;
}

/* Moves to another file system: copies the file next to the target, renames the copy, then removes the source. */
static bool copy_file(const struct move *m, int from, const struct stat *st)
{
    struct temp t;
    if (!temp_make(&t, m->to.folder)) return false;
    bool ok = copy_content(m->s, from, t.fd);
    mode_t mode = st->st_mode & 07777;
    if (ok && fchown(t.fd, st->st_uid, st->st_gid) < 0) mode &= 0777;
    const struct timespec times[2] = {st->st_atim, st->st_mtim};
    ok = ok && fchmod(t.fd, mode) == 0 && futimens(t.fd, times) == 0 && temp_commit(&t, m->to.leaf, m->replace);
    temp_discard(&t);
    return ok && unlinkat(m->from.folder, m->from.leaf, 0) == 0;
}

static void move_across(const struct move *m)
{
    struct stat st;
    int fd = -1;
    if (fstatat(m->from.folder, m->from.leaf, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        answer_error(m->s, errno, m->path);
        return;
    }
    if (S_ISREG(st.st_mode))
        fd = openat(m->from.folder, m->from.leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (!S_ISREG(st.st_mode))
        stream_error(m->s, E_UNSUPPORTED, EXDEV,
                     "only regular files can be moved to another file system; export and import the folder instead: %s",
                     m->path);
    else if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        answer_error(m->s, fd < 0 ? errno : EIO, m->path);
    else if (copy_file(m, fd, &st))
        stream_end(m->s, NULL);
    else if (errno == ECANCELED)
        answer_cancelled(m->s);
    else
        answer_error(m->s, errno, m->target);
    if (fd >= 0) close(fd);
}

static void move_resolved(const struct move *m)
{
    if (!m->from.leaf[0] || !m->to.leaf[0]) {
        stream_error(m->s, E_INVALID, 0, "the root folder cannot be moved or replaced: %s",
                     m->from.leaf[0] ? m->target : m->path);
        return;
    }
    bool done = m->replace ? renameat(m->from.folder, m->from.leaf, m->to.folder, m->to.leaf) == 0
                           : rename_new(m->from.folder, m->from.leaf, m->to.folder, m->to.leaf);
    if (done)
        stream_end(m->s, NULL);
    else if (errno == EXDEV)
        move_across(m);
    else if (errno == EINVAL)
        stream_error(m->s, E_INVALID, EINVAL, "a folder cannot be moved into itself: %s to %s", m->path, m->target);
    else
        answer_error(m->s, errno, errno == ENOENT || errno == EACCES || errno == EPERM ? m->path : m->target);
}

static void move_path(struct stream *s, struct fields f, const char *path)
{
    char *target = fields_text(f, T_TARGET);
    struct move m = {
        .s = s,
        .path = path,
        .target = target,
        .replace = fields_u64(f, T_FLAGS, 0) & MOVE_REPLACE,
        .from.folder = -1,
        .to.folder = -1,
    };
    if (!target)
        stream_error(s, E_INVALID, 0, "TARGET is missing or contains a NUL byte");
    else if (!path_resolve_parent(path, &m.from))
        answer_error(s, errno, path);
    else if (!path_resolve_parent(target, &m.to))
        answer_error(s, errno, target);
    else
        move_resolved(&m);
    path_parent_close(&m.from);
    path_parent_close(&m.to);
    free(target);
}

void operate_move(const struct request *r)
{
    file_operation(r, move_path);
}
