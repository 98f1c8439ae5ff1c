#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "file_error.h"
#include "file_request.h"
#include "file_stat.h"
#include "operations.h"
#include "path.h"

enum { PIPE_WORTH = 256 << 10 }; /* file size from which splicing through a pipe is faster */

/* READ in progress: a range of a file. */
struct download {
    struct stream *s;
    int fd;
    uint64_t offset, left;
    int number; /* errno when reading failed */
};

/* Reads up to `most` bytes into `buffer`, or into `pipe` when `buffer` is NULL. */
static ssize_t read_some(const struct download *d, uint8_t *buffer, int pipe, size_t most)
{
    ssize_t n;
    off_t offset = (off_t)d->offset;
    do n = buffer ? pread(d->fd, buffer, most, offset) : splice(d->fd, &offset, pipe, NULL, most, 0);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Sends the whole range through `buffer` or `pipe`. Returns false when the stream is over or reading failed. */
static bool send_content(struct download *d, uint8_t *buffer, const int pipe[2])
{
    while (d->left > 0) {
        size_t credit = stream_await_credit(d->s, 1, d->left < FRAME_MAX ? (size_t)d->left : FRAME_MAX);
        if (credit == 0) return false;
        ssize_t n = read_some(d, buffer, pipe[1], credit);
        if (n < 0) d->number = errno;
        if (n <= 0) return n == 0;
        if (buffer ? !stream_send(d->s, DATA, buffer, (size_t)n) : !stream_send_pipe(d->s, pipe[0], (size_t)n))
            return false;
        d->offset += (uint64_t)n;
        d->left -= (uint64_t)n;
    }
    return true;
}

/* Sends a large file through a pipe, which moves its pages to the socket without copying. */
static bool send_by_pipe(struct download *d)
{
    int pipe[2];
    if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
        d->number = errno;
        return false;
    }
    bool sent = false;
    if (fcntl(pipe[1], F_SETPIPE_SZ, FRAME_MAX) < 0)
        d->number = errno;
    else
        sent = send_content(d, NULL, pipe);
    close(pipe[0]);
    close(pipe[1]);
    return sent;
}

static bool send_by_buffer(struct download *d)
{
    static const int no_pipe[2] = {-1, -1};
    uint8_t *buffer = malloc(FRAME_MAX);
    d->number = buffer ? 0 : ENOMEM;
    bool sent = buffer && send_content(d, buffer, no_pipe);
    free(buffer);
    return sent;
}

/*
 * Falls back to copying, since not every file can be spliced and a pipe may be unavailable. An error of the file itself
 * occurs again there.
 */
static bool send_all(struct download *d, bool large)
{
    if (large && send_by_pipe(d)) return true;
    return (!large || d->number) && send_by_buffer(d);
}

static void read_open(struct stream *s, struct fields f, const char *path, int fd, const struct stat *st)
{
    uint64_t offset = fields_u64(f, T_OFFSET, 0), length = fields_u64(f, T_LENGTH, UINT64_MAX);
    if (offset > INT64_MAX) {
        stream_error(s, E_INVALID, 0, "OFFSET is out of range");
        return;
    }
    if (length > INT64_MAX - offset) length = INT64_MAX - offset;
    struct builder b = {0};
    build_stat(&b, path, st, NULL);
    bool going = stream_send(s, RESPONSE, b.data, b.length);
    builder_free(&b);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    struct download d = {.s = s, .fd = fd, .offset = offset, .left = length};
    uint64_t size = (uint64_t)st->st_size;
    bool large = size > offset && size - offset >= PIPE_WORTH && length >= PIPE_WORTH;
    if (going && send_all(&d, large))
        stream_end(s, NULL);
    else if (d.number)
        answer_error(s, d.number, path);
    else
        answer_cancelled(s);
}

static void read_path(struct stream *s, struct fields f, const char *path)
{
    /*
     * Checks the type before opening, since opening some devices has side effects, and again on the opened descriptor.
     */
    struct stat st;
    int fd = path_open(path, O_PATH);
    if (fd < 0 || fstat(fd, &st) < 0) {
        answer_error(s, errno, path);
        if (fd >= 0) close(fd);
        return;
    }
    close(fd);
    fd = -1;
    if (S_ISREG(st.st_mode) && ((fd = path_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)) < 0 || fstat(fd, &st) < 0))
        answer_error(s, errno, path);
    else if (S_ISDIR(st.st_mode))
        answer_error(s, EISDIR, path);
    else if (!S_ISREG(st.st_mode))
        stream_error(s, E_NOT_A_FILE, 0, "not a regular file: %s", path);
    else
        read_open(s, f, path, fd, &st);
    if (fd >= 0) close(fd);
}

void operate_read(const struct request *r)
{
    file_operation(r, read_path);
}
