#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "file_error.h"
#include "file_request.h"
#include "file_stat.h"
#include "operations.h"
#include "path.h"

/* Sends up to `left` bytes from `offset`; false when the stream is over or reading failed (*number). */
static bool send_content(struct stream *s, int fd, uint64_t offset, uint64_t left, uint8_t *buffer, int *number)
{
    *number = 0;
    while (left > 0) {
        size_t most = left < FRAME_MAX ? (size_t) left : FRAME_MAX;
        size_t credit = stream_await_credit(s, 1, most);
        if (credit == 0)
            return false;
        ssize_t n = pread(fd, buffer, credit, (off_t) offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            *number = errno;
            return false;
        }
        if (n == 0)
            return true;
        if (!stream_send(s, DATA, buffer, (size_t) n))
            return false;
        offset += (uint64_t) n;
        left -= (uint64_t) n;
    }
    return true;
}

static void read_open(struct stream *s, struct fields f, const char *path, int fd, const struct stat *st)
{
    uint64_t offset = fields_u64(f, T_OFFSET, 0), length = fields_u64(f, T_LENGTH, UINT64_MAX);
    if (offset > INT64_MAX) {
        stream_error(s, E_INVALID, 0, "OFFSET is out of range");
        return;
    }
    if (length > INT64_MAX - offset)
        length = INT64_MAX - offset;
    uint8_t *buffer = malloc(FRAME_MAX);
    if (!buffer) {
        answer_no_memory(s);
        return;
    }
    struct builder b = { 0 };
    build_stat(&b, path, st, NULL);
    bool going = stream_send(s, RESPONSE, b.data, b.length);
    builder_free(&b);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    int number = 0;
    if (going && send_content(s, fd, offset, length, buffer, &number))
        stream_end(s, NULL);
    else if (number)
        answer_error(s, number, path);
    else
        answer_cancelled(s);
    free(buffer);
}

static void read_path(struct stream *s, struct fields f, const char *path)
{
    /* A device must not even be opened (some act on it), so look first, and look again at what was opened. */
    struct stat st;
    int fd = path_open(path, O_PATH);
    if (fd < 0 || fstat(fd, &st) < 0) {
        answer_error(s, errno, path);
        if (fd >= 0)
            close(fd);
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
    if (fd >= 0)
        close(fd);
}

void operate_read(const struct request *r)
{
    file_operation(r, read_path);
}
