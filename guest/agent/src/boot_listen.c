#include "boot_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listen.h"

enum { RECORD_SECONDS = 10 };

static int accept_peer(int listener)
{
    for (;;) {
        struct pollfd ready = {.fd = listener, .events = POLLIN};
        if (poll(&ready, 1, -1) < 0 && errno != EINTR) return -1;
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) return fd;
        if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED) return -1;
    }
}

/* A peer that stops in the middle of the record must not keep others from sending theirs. */
static void limit_wait(int fd, int seconds)
{
    struct timeval limit = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

static void report_to(int fd)
{
    dup2(fd, 1);
    dup2(fd, 2);
}

int boot_listen(const char *path, struct boot *out, int *listener, const char **problem)
{
    *problem = "the agent cannot listen on its socket";
    *listener = listen_unix(path);
    if (*listener < 0) return -1;
    for (int fd; (fd = accept_peer(*listener)) >= 0; close(fd)) {
        limit_wait(fd, RECORD_SECONDS);
        if (boot_read(fd, out, problem)) {
            limit_wait(fd, 0);
            report_to(fd);
            return fd;
        }
        if (boot_is_invalid(*problem)) {
            dprintf(fd, "error %s\n", *problem);
            return -1;
        }
    }
    return -1;
}
