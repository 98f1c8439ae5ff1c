#include "process_signal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process_stat.h"

/* Not in every libc; same number on every architecture. */
enum { SYS_PIDFD_SEND_SIGNAL = 424, SYS_PIDFD_OPEN = 434 };

uint64_t process_start(int proc, pid_t pid)
{
    char name[16];
    struct process_stat seen;
    snprintf(name, sizeof name, "%d", (int)pid);
    return process_stat_read(proc, name, &seen) ? seen.start : 0;
}

/* Opens the descriptor before checking the start time, so that the check applies to the process it refers to. */
bool process_signal(int proc, pid_t pid, uint64_t start, int signal_number)
{
    int fd = (int)syscall(SYS_PIDFD_OPEN, pid, 0);
    if (fd < 0 && errno == ESRCH) return false;
    bool sent = false;
    int error = ESRCH;
    if (start != 0 && process_start(proc, pid) == start) {
        /* Without pidfds (before Linux 5.3), falls back to the pid. */
        sent =
            (fd >= 0 ? (int)syscall(SYS_PIDFD_SEND_SIGNAL, fd, signal_number, NULL, 0) : kill(pid, signal_number)) == 0;
        error = errno;
    }
    if (fd >= 0) close(fd);
    errno = error;
    return sent;
}
