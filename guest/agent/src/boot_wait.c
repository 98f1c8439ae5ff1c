#include "boot_wait.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

const char boot_waiting[] = "isola-waiting-1\n";

enum {
    RECORD_MAX = 1 << 20,
    INTERVAL_MS = 50,
    ABSENT_MS = 1000,
    CONNECT_MS = 5000,
    BACKOFF_FIRST_MS = 5,
    BACKOFF_MAX_MS = 500
};

void boot_buffer_clear(struct boot_buffer *b)
{
    free(b->bytes);
    *b = (struct boot_buffer){0};
}

bool boot_buffer_add(struct boot_buffer *b, const uint8_t *bytes, size_t count)
{
    for (; count; bytes++, count--) {
        if (b->length == 0 && *bytes != 0) continue; /* no record is that long: left over from another connection */
        size_t wanted = b->length < 4 ? 4 : 4 + get_u32(b->bytes);
        if (b->length == wanted) break;
        if (b->length == b->capacity) {
            size_t capacity = b->capacity ? 2 * b->capacity : 4096;
            uint8_t *bigger = realloc(b->bytes, capacity);
            if (!bigger) return false;
            b->bytes = bigger;
            b->capacity = capacity;
        }
        b->bytes[b->length++] = *bytes;
        if (b->length == 4 && get_u32(b->bytes) > RECORD_MAX) b->length = 0;
    }
    return b->length >= 4 && b->length == 4 + get_u32(b->bytes);
}

static bool parse(struct boot_buffer *b, struct boot *out, const char **problem)
{
    bool ok = boot_parse(b->bytes + 4, b->length - 4, out, problem);
    boot_buffer_clear(b);
    return ok;
}

/* Reads all that is there. Returns 1 when the record is complete, 0 when more is to come, -1 at the end or on errors. */
static int read_available(int fd, struct boot_buffer *b)
{
    uint8_t piece[4096];
    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return 0;
        if (n <= 0) return -1;
        if (boot_buffer_add(b, piece, (size_t)n)) return 1;
    }
}

static void send_line(int fd)
{
    ssize_t ignored = write(fd, boot_waiting, sizeof boot_waiting - 1);
    (void)ignored; /* no host is connected, or it does not read; there are more lines */
}

/* Without a host the port is always ready, so that only changes are of interest: one of them is that a host connects. */
bool boot_wait_port(int fd, struct boot *out, const char **problem)
{
    struct boot_buffer buffer = {0};
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    *problem = "the port cannot be watched";
    bool ok = epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
    for (int state = 0; ok && state <= 0;) {
        struct pollfd now = {.fd = fd, .events = POLLIN};
        poll(&now, 1, 0);
        bool absent = now.revents & POLLHUP;
        state = now.revents & (POLLIN | POLLHUP) ? read_available(fd, &buffer) : 0;
        if (state == 1) break;
        if (state < 0) buffer.length = 0;
        if (!absent) send_line(fd);
        int ready = epoll_wait(epoll, &event, 1, absent ? ABSENT_MS : INTERVAL_MS);
        ok = ready >= 0 || errno == EINTR;
    }
    /* epoll stays open: every copy of the machine would have to close it */
    return ok && parse(&buffer, out, problem);
}

static void pause_ms(long milliseconds)
{
    struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* Returns a connected socket, or -1. */
static int connect_once(const struct dial_address *address)
{
    bool pending;
    int fd = dial_address_connect(address, &pending);
    if (fd < 0 || !pending) return fd;
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    if (poll(&ready, 1, CONNECT_MS) == 1 && dial_address_finish(fd) == 0) return fd;
    close(fd);
    return -1;
}

/* A server that has sent nothing may take any time; the machine is frozen meanwhile. */
static bool receive(int fd, struct boot_buffer *buffer)
{
    send(fd, boot_waiting, sizeof boot_waiting - 1, MSG_NOSIGNAL);
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, -1) < 0 && errno != EINTR) return false;
        int state = read_available(fd, buffer);
        if (state) return state > 0;
    }
}

bool boot_wait_dial(const struct dial_address *address, struct boot *out, const char **problem)
{
    struct boot_buffer buffer = {0};
    for (long wait = BACKOFF_FIRST_MS;; pause_ms(wait), wait = wait * 2 > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : wait * 2) {
        int fd = connect_once(address);
        if (fd < 0) continue;
        bool complete = receive(fd, &buffer);
        close(fd);
        if (complete) return parse(&buffer, out, problem);
        buffer.length = 0;
        wait = BACKOFF_FIRST_MS;
    }
}
