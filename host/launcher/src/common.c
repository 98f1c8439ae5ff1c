#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "process_signal.h"

enum { BACKLOG = 16 };

static bool answers;

void answer_failures(void)
{
    answers = true;
}

void fail(const char *format, ...)
{
    int error = errno;
    va_list arguments;
    if (answers) fputs("error ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (error) fprintf(stderr, ": %s", strerror(error));
    fputc('\n', stderr);
    _exit(1);
}

int move_fd_up(int fd)
{
    if (fd < 0) return -1;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_PRIVATE_FD);
    close(fd);
    return moved;
}

bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    int error = errno;
    close(fd);
    errno = error;
    return ok;
}

unsigned long long start_time(pid_t pid)
{
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unsigned long long start = proc >= 0 ? process_start(proc, pid) : 0;
    if (proc >= 0) close(proc);
    return start;
}

int listen_on(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    errno = ENAMETOOLONG;
    if (strlen(path) >= sizeof address.sun_path) fail("cannot listen on %s", path);
    strcpy(address.sun_path, path);
    unlink(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0600) != 0
        || listen(fd, BACKLOG) != 0)
        fail("cannot listen on %s", path);
    return move_fd_up(fd);
}
