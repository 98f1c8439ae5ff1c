#include "send_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    FIRST = 16 << 10,
    KEPT = 1 << 20,   /* a larger buffer is freed once it is empty */
    BOUND = 16 << 20, /* a server that sends requests but never reads is disconnected at this size */
};

/* Returns space for `length` more bytes at the end of the queue, or NULL when that exceeds the bound. */
static uint8_t *room(struct send_queue *o, size_t length)
{
    if (o->length + length > BOUND) return NULL;
    if (o->start + o->length + length > o->capacity) {
        if (o->length) memmove(o->bytes, o->bytes + o->start, o->length);
        o->start = 0;
        size_t capacity = o->capacity ? o->capacity : FIRST;
        while (capacity < o->length + length) capacity *= 2;
        if (capacity > o->capacity) {
            uint8_t *bigger = realloc(o->bytes, capacity);
            if (!bigger) return NULL;
            o->bytes = bigger;
            o->capacity = capacity;
        }
    }
    return o->bytes + o->start + o->length;
}

static bool queue(struct send_queue *o, const void *bytes, size_t length)
{
    if (length == 0) return true;
    uint8_t *to = room(o, length);
    if (!to) return false;
    memcpy(to, bytes, length);
    o->length += length;
    return true;
}

/* Returns false also when the pipe holds fewer bytes than the frame header announces. */
static bool queue_from_pipe(struct send_queue *o, int pipe, size_t length)
{
    if (length && !room(o, length)) return false;
    while (length) {
        ssize_t n = read(pipe, o->bytes + o->start + o->length, length);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        o->length += (size_t)n;
        length -= (size_t)n;
    }
    return true;
}

static void put_header(uint8_t header[FRAME_HEADER], enum frame_type type, uint32_t stream, size_t length)
{
    put_u32(header, (uint32_t)length);
    header[4] = (uint8_t)type;
    put_u32(header + 5, stream);
}

/* Sends what can be sent at once. Returns how much, or -1 when the peer is gone. */
static ssize_t try_send(struct send_queue *o, const struct iovec *parts, int count)
{
    if (o->length || o->corked) return 0;
    ssize_t n = writev(o->fd, parts, count);
    return n >= 0 ? n : errno == EAGAIN || errno == EINTR ? 0 : -1;
}

bool send_queue_send(struct send_queue *o, enum frame_type type, uint32_t stream, const void *head, size_t head_length,
                     const void *payload, size_t length)
{
    uint8_t header[FRAME_HEADER];
    put_header(header, type, stream, head_length + length);
    struct iovec parts[3] = {{header, sizeof header},
                             {(void *)(uintptr_t)head, head_length},
                             {(void *)(uintptr_t)payload, length}};
    ssize_t n = try_send(o, parts, 3);
    if (n < 0) return false;
    size_t sent = (size_t)n;
    for (int i = 0; i < 3; i++) {
        size_t skip = sent < parts[i].iov_len ? sent : parts[i].iov_len;
        sent -= skip;
        if (!queue(o, (const uint8_t *)parts[i].iov_base + skip, parts[i].iov_len - skip)) return false;
    }
    return true;
}

bool send_queue_send_pipe(struct send_queue *o, enum frame_type type, uint32_t stream, int pipe, size_t length)
{
    uint8_t header[FRAME_HEADER];
    put_header(header, type, stream, length);
    struct iovec part = {header, sizeof header};
    ssize_t n = try_send(o, &part, 1);
    if (n < 0 || !queue(o, header + n, sizeof header - (size_t)n)) return false;
    while (length && !o->length) {
        n = splice(pipe, NULL, o->fd, NULL, length, SPLICE_F_NONBLOCK);
        if (n <= 0) break; /* full, unsupported, or closed; writing the rest shows which */
        length -= (size_t)n;
    }
    return queue_from_pipe(o, pipe, length);
}

bool send_queue_flush(struct send_queue *o)
{
    while (o->length) {
        ssize_t n = write(o->fd, o->bytes + o->start, o->length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN;
        o->start += (size_t)n;
        o->length -= (size_t)n;
    }
    o->start = 0;
    if (o->capacity > KEPT) send_queue_free(o);
    return true;
}

void send_queue_free(struct send_queue *o)
{
    free(o->bytes);
    o->bytes = NULL;
    o->start = o->length = o->capacity = 0;
}
