/*
 * Connects descriptors 0 and 1 to the agent's socket, for container engines that can start a process in a sandbox but
 * cannot pass a descriptor to it. The bridge holds no secret and does not interpret the bytes.
 */
#include "bridge.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PIECE = 64 << 10 };

static bool write_fully(int fd, const char *data, size_t length)
{
    while (length) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        data += n;
        length -= (size_t)n;
    }
    return true;
}

static void copy(int from, int to, char *buffer)
{
    for (;;) {
        ssize_t n = read(from, buffer, PIECE);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0 || !write_fully(to, buffer, (size_t)n)) return;
    }
}

static void *copy_input(void *socket)
{
    static char buffer[PIECE];
    int fd = (int)(intptr_t)socket;
    copy(0, fd, buffer);
    shutdown(fd, SHUT_WR); /* the agent then closes the socket, which ends this process */
    return NULL;
}

/* An agent that has just been started may not listen yet. */
static bool connect_within(int fd, const struct sockaddr_un *address, int wait_ms)
{
    for (;; wait_ms--) {
        if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0) return true;
        if (wait_ms <= 0 || (errno != ENOENT && errno != ECONNREFUSED && errno != EINTR)) return false;
        usleep(1000);
    }
}

int bridge(const char *path, int wait_ms)
{
    static char buffer[PIECE];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    pthread_t thread;
    prctl(PR_SET_DUMPABLE, 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || strlen(path) >= sizeof address.sun_path) return 1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (!connect_within(fd, &address, wait_ms)) return 1;
    if (pthread_create(&thread, NULL, copy_input, (void *)(intptr_t)fd) != 0) return 1;
    copy(fd, 1, buffer);
    return 0;
}
