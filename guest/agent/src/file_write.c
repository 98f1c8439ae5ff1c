#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "file_error.h"
#include "file_request.h"
#include "file_stat.h"
#include "file_temp.h"
#include "operations.h"
#include "path.h"
#include "user.h"

struct upload {
    struct stream *s;
    const char *path;
    uint64_t flags, size; /* size UINT64_MAX: not announced */
    uint64_t offset;      /* UINT64_MAX: not given */
    bool mode_given;
    mode_t mode;
};

enum outcome { RECEIVED, CANCELLED, TOO_SHORT, TOO_LONG, NOT_WRITTEN };

static enum outcome receive(const struct upload *u, int fd, uint64_t *taken)
{
    const uint8_t *data;
    ssize_t n;
    *taken = 0;
    while ((n = stream_receive(u->s, &data)) > 0) {
        *taken += (uint64_t)n;
        if (*taken > u->size) return TOO_LONG;
        if (!write_all(fd, data, (size_t)n)) return NOT_WRITTEN;
    }
    if (n < 0) return CANCELLED;
    return u->size == UINT64_MAX || *taken == u->size ? RECEIVED : TOO_SHORT;
}

/* Receives all DATA of the server. On failure discards `temp`, ends the stream with an error and returns false. */
static bool receive_into(const struct upload *u, int fd, struct temp *temp)
{
    uint64_t taken;
    enum outcome outcome = receive(u, fd, &taken);
    if (outcome != RECEIVED && temp)
        temp_discard(temp); /* before the error is sent, so that the client finds nothing left behind */
    switch (outcome) {
    case RECEIVED:
        break;
    case CANCELLED:
        answer_cancelled(u->s);
        break;
    case TOO_SHORT:
        stream_error(u->s, E_INVALID, 0, "the upload ended after %llu of %llu bytes: %s", (unsigned long long)taken,
                     (unsigned long long)u->size, u->path);
        break;
    case TOO_LONG:
        stream_error(u->s, E_INVALID, 0, "the upload is longer than the %llu bytes announced: %s",
                     (unsigned long long)u->size, u->path);
        break;
    case NOT_WRITTEN:
        answer_error(u->s, errno, u->path);
        break;
    }
    return outcome == RECEIVED;
}

static bool sync_both(int fd, int folder)
{
    if (fsync(fd) < 0) return false;
    int parent = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent >= 0) {
        fsync(parent); /* a folder without read permission cannot be synced; the file itself is */
        close(parent);
    }
    return true;
}

/* Closes the file before answering: a client that executes it at once must not get ETXTBSY. */
static void answer_written(const struct upload *u, int *fd)
{
    struct stat st;
    struct builder b = {0};
    int error = fstat(*fd, &st) < 0 ? errno : 0;
    close(*fd);
    *fd = -1;
    if (error) {
        answer_error(u->s, error, u->path);
        return;
    }
    build_stat(&b, u->path, &st, NULL);
    stream_end(u->s, &b);
    builder_free(&b);
}

/* Accepts a missing target, or a regular file unless the file must be new. Returns false when the stream has ended. */
static bool target_fits(const struct upload *u, const struct path_parent *p, struct stat *st, bool *exists)
{
    *exists = false;
    if (fstatat(p->folder, p->leaf, st, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno == ENOENT) return true;
        answer_error(u->s, errno, u->path);
        return false;
    }
    *exists = true;
    if (S_ISDIR(st->st_mode))
        answer_error(u->s, EISDIR, u->path);
    else if (!S_ISREG(st->st_mode))
        stream_error(u->s, E_NOT_A_FILE, 0, "not a regular file: %s", u->path);
    else if (u->flags & WRITE_NEW)
        answer_error(u->s, EEXIST, u->path);
    else
        return true;
    return false;
}

static void write_atomic(const struct upload *u, const struct path_parent *p)
{
    struct stat before;
    bool exists;
    struct temp t;
    if (!target_fits(u, p, &before, &exists)) return;
    if (!temp_make(&t, p->folder)) {
        answer_error(u->s, errno, u->path);
        return;
    }
    if (receive_into(u, t.fd, &t)) {
        mode_t mode = u->mode;
        if (exists && !u->mode_given) mode = before.st_mode & 07777;
        /* Owner first, because chown clears setuid bits. Only root can change the owner, so failure is tolerated. */
        if (exists && fchown(t.fd, before.st_uid, before.st_gid) < 0) mode &= 0777;
        if (!user_chown_new(t.fd, "") || fchmod(t.fd, mode) < 0 || ((u->flags & WRITE_SYNC) && fsync(t.fd) < 0)
            || !temp_commit(&t, p->leaf, !(u->flags & WRITE_NEW))
            || ((u->flags & WRITE_SYNC) && !sync_both(t.fd, p->folder))) {
            temp_discard(&t);
            answer_error(u->s, errno, u->path);
        } else {
            answer_written(u, &t.fd);
        }
    }
    temp_discard(&t);
}

static void write_in_place(const struct upload *u, const struct path_parent *p)
{
    struct stat before;
    bool exists;
    if (!target_fits(u, p, &before, &exists)) return;
    int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC;
    if (u->flags & WRITE_NEW) flags |= O_EXCL;
    if (u->flags & WRITE_APPEND) flags |= O_APPEND;
    int fd = openat(p->folder, p->leaf, flags, u->mode & 0777);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        answer_error(u->s, errno, u->path);
    else if (!S_ISREG(st.st_mode))
        stream_error(u->s, E_NOT_A_FILE, 0, "not a regular file: %s", u->path);
    else if (!user_chown_new(fd, "") || (u->mode_given && fchmod(fd, u->mode) < 0)
             || (u->offset != UINT64_MAX && lseek(fd, (off_t)u->offset, SEEK_SET) < 0)
             || (u->offset == UINT64_MAX && !(u->flags & WRITE_APPEND) && ftruncate(fd, 0) < 0))
        answer_error(u->s, errno, u->path);
    else if (receive_into(u, fd, NULL)) {
        if ((u->flags & WRITE_SYNC) && !sync_both(fd, p->folder))
            answer_error(u->s, errno, u->path);
        else
            answer_written(u, &fd);
    }
    if (fd >= 0) close(fd);
}

static void write_path(struct stream *s, struct fields f, const char *path)
{
    struct upload u = {
        .s = s,
        .path = path,
        .flags = fields_u64(f, T_FLAGS, 0),
        .size = fields_u64(f, T_SIZE, UINT64_MAX),
        .offset = fields_u64(f, T_OFFSET, UINT64_MAX),
        .mode_given = fields_has(f, T_MODE),
    };
    struct path_parent p;
    if (!mode_field(s, f, 0644, &u.mode)) return;
    if ((u.flags & WRITE_ATOMIC) && ((u.flags & WRITE_APPEND) || u.offset != UINT64_MAX)) {
        stream_error(s, E_INVALID, 0,
                     "an atomic write replaces the whole file and cannot be combined with OFFSET or append");
        return;
    }
    if (((u.flags & WRITE_APPEND) && u.offset != UINT64_MAX) || (u.offset > INT64_MAX && u.offset != UINT64_MAX)) {
        stream_error(s, E_INVALID, 0, "OFFSET is out of range or combined with append");
        return;
    }
    size_t length = strlen(path);
    if (length && path[length - 1] == '/') {
        answer_error(s, EISDIR, path);
        return;
    }
    if (((u.flags & WRITE_PARENTS) && !path_make_parents(path, 0755)) || !path_resolve_parent_following(path, &p)) {
        answer_error(s, errno, path);
        return;
    }
    if (!p.leaf[0])
        answer_error(s, EISDIR, path);
    else if (u.flags & WRITE_ATOMIC)
        write_atomic(&u, &p);
    else
        write_in_place(&u, &p);
    path_parent_close(&p);
}

void operate_write(const struct request *r)
{
    file_operation(r, write_path);
}
