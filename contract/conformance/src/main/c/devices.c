/* Devices: those in /dev, and those that a new device node opens. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

/* Opens a device through a new node, in the working directory and wherever a file system may allow one. */
static int open_made(mode_t type, unsigned major_number, unsigned minor_number, int flags, int *error)
{
    static const char *const nodes[] = {"isola-probe-node", "/tmp/isola-probe-node", "/dev/isola-probe-node",
                                        "/dev/shm/isola-probe-node", "/var/tmp/isola-probe-node"};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        unlink(nodes[i]);
        if (mknod(nodes[i], type | 0600, makedev(major_number, minor_number)) != 0) {
            if (errno != ENOENT) *error = errno;
            continue;
        }
        int fd = open(nodes[i], flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (fd < 0) *error = errno;
        unlink(nodes[i]);
        if (fd >= 0) return fd;
    }
    return -1;
}

/* disk (MAJOR MINOR NAME)...: opens disks of the host without reading them */
static void disk(int count, char **arguments)
{
    int error = ENOENT;
    for (int i = 0; i + 2 < count; i += 3) {
        char path[300];
        snprintf(path, sizeof path, "/dev/%s", arguments[i + 2]);
        if (open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) >= 0) got("opened %s", path);
        if (errno != ENOENT) error = errno;
        if (open_made(S_IFBLK, (unsigned)atoi(arguments[i]), (unsigned)atoi(arguments[i + 1]), O_RDONLY, &error) >= 0)
            got("opened the disk %s through a new node", arguments[i + 2]);
    }
    failed(error, "the disk");
}

/* memory-node: opens /dev/mem through a new node */
static void memory_node(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    int error = ENOENT;
    if (open_made(S_IFCHR, 1, 1, O_RDONLY, &error) >= 0) got("opened /dev/mem through a new node");
    failed(error, "mknod");
}

/* device PATH...: opens devices for reading and writing without using them */
static void device(int count, char **arguments)
{
    int error = ENOENT;
    for (int i = 0; i < count; i++) {
        if (open(arguments[i], O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) >= 0) got("opened %s", arguments[i]);
        if (errno != ENOENT) error = errno;
    }
    failed(error, arguments[0]);
}

/* terminal-of PATH ID: reads the input of a terminal of the host */
static void terminal_of(int count, char **arguments)
{
    (void)count;
    char line[256];
    int fd = open(arguments[0], O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) failed(errno, arguments[0]);
    ssize_t n = readable(fd) ? read(fd, line, sizeof line) : -1;
    if (n > 0 && holds(line, (size_t)n, mark_of(arguments[1]))) got("read from the host's terminal %s", arguments[0]);
    absent("that path is a different terminal here");
}

static _Noreturn void push(void)
{
    int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) failed(errno, "a controlling terminal");
    if (ioctl(fd, TIOCSTI, "#") != 0) refused(errno, "there is a controlling terminal, but TIOCSTI");
    got("typed into the controlling terminal");
}

/* terminal [own]: types into the controlling terminal; with `own`, into a terminal created for this purpose */
static void terminal(int count, char **arguments)
{
    if (count == 0) push();
    (void)arguments;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) refused(errno, "a terminal");
    pid_t child = fork();
    if (child == 0) {
        setsid();
        int fd = open(ptsname(master), O_RDWR | O_CLOEXEC);
        if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) != 0) refused(errno, "a controlling terminal");
        push();
    }
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : REFUSED);
}

const struct probe device_probes[] = {{"disk", 3, disk},         {"memory-node", 0, memory_node}, {"device", 1, device},
                                      {"terminal", 0, terminal}, {"terminal-of", 2, terminal_of}, {0}};
