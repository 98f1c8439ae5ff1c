#include "boot_id.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "common.h"
#include "disk.h"
#include "mounts.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* Missing from some C libraries; the number is the same on all architectures. */
enum { SYS_PIDFD_OPEN = 434 };

static int refuse(const char *why)
{
    printf("refused %s\n", why);
    return 0;
}

/* Refuses what the kernel does not permit or does not support, and fails for any other reason. */
static int refuse_or_fail(const char *what)
{
    if (errno != EPERM && errno != EACCES && errno != ENOSYS) fail("%s", what);
    printf("refused %s: %s\n", what, strerror(errno));
    return 0;
}

/* Does not block: a queue of connections that is full is an error. */
static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    errno = ENAMETOOLONG;
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? fd : -1;
}

static bool is_connected(int connection)
{
    struct pollfd watched = {connection, POLLRDHUP, 0};
    return poll(&watched, 1, 0) == 0;
}

/* A container has its own; a process that has the launcher's is not in a container. */
static bool has_own_namespace(pid_t pid, const char *kind)
{
    char path[64];
    struct stat its, own;
    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, kind);
    bool known = stat(path, &its) == 0;
    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    return known && stat(path, &own) == 0 && its.st_ino != own.st_ino;
}

static pid_t listener_of(const char *path, int *connection)
{
    struct ucred listener = {0};
    socklen_t room = sizeof listener;
    *connection = connect_to(path);
    if (*connection < 0 || getsockopt(*connection, SOL_SOCKET, SO_PEERCRED, &listener, &room) != 0)
        fail("cannot connect to %s", path);
    return listener.pid;
}

int boot_id_mount(const struct step *s)
{
    int connection = -1;
    pid_t pid = s->count > 2 ? (pid_t)strtol(s->words[1], NULL, 10) : listener_of(s->words[1], &connection);
    if (pid <= 0) return refuse("the agent is in a pid namespace that is not visible here");
    int process = (int)syscall(SYS_PIDFD_OPEN, pid, 0);
    if (process < 0) return refuse_or_fail("cannot open the agent's process");
    bool contained = has_own_namespace(pid, "pid") && has_own_namespace(pid, "mnt");
    /*
     * The pid is still the agent's. A listener is process 1 of its container, so the kernel closes the socket, which no
     * process outside has, before the pid can be reused.
     */
    bool same = connection >= 0 ? is_connected(connection) : start_time(pid) == strtoull(s->words[2], NULL, 10);
    errno = 0;
    if (!same) fail("the agent has ended");
    if (!contained) return refuse("the agent is not in a container that is accessible here");
    if (!disk_unshare_mounts() || !stage_open()) return refuse_or_fail("cannot write a boot id");
    int tree = stage_boot_id();
    if (tree < 0) return refuse_or_fail("cannot open the boot id");
    if (setns(process, CLONE_NEWNS) != 0) return refuse_or_fail("cannot enter the container's mount namespace");
    int file = open_proc_file(BOOT_ID);
    if (file < 0 && errno == ENOENT) return refuse("the container has no " BOOT_ID);
    if (file < 0 && errno == ENOTSUP) return refuse(BOOT_ID " of the container is not the kernel's");
    if (file < 0) fail("cannot open " BOOT_ID);
    if (!move_tree(tree, file)) fail("cannot mount on " BOOT_ID);
    puts("done");
    return 0;
}
