#include "process_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not in every libc; the same number on every architecture. */
enum { SYS_PIDFD_SEND_SIGNAL = 424, SYS_PIDFD_OPEN = 434 };

enum { NAME_FIELD = 2, START_FIELD = 22 };

/* The name in it may hold anything, so look behind its last ')'. */
uint64_t process_start(int proc, pid_t pid)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "%d/stat", (int)pid);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return 0;
    text[n] = 0;
    char *at = strrchr(text, ')');
    for (int field = NAME_FIELD; at && field < START_FIELD; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* The descriptor is taken first and the start looked at afterwards: what has that start then is what it leads to. */
bool process_signal(int proc, pid_t pid, uint64_t start, int signal_number)
{
    int fd = (int)syscall(SYS_PIDFD_OPEN, pid, 0);
    if (fd < 0 && errno == ESRCH) return false;
    bool sent = false;
    int error = ESRCH;
    if (start != 0 && process_start(proc, pid) == start) {
        /* Where there are no such descriptors (before Linux 5.3) the pid has to do. */
        sent = (fd >= 0 ? (int)syscall(SYS_PIDFD_SEND_SIGNAL, fd, signal_number, NULL, 0) : kill(pid, signal_number)) == 0;
        error = errno;
    }
    if (fd >= 0) close(fd);
    errno = error;
    return sent;
}
