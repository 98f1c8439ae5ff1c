#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMEOUT_SECONDS = 15, PROCESSES_MAX = 65536 };

pid_t starter;
static volatile pid_t attempt;

static _Noreturn void say(int how, const char *word, int error, const char *format, va_list arguments)
{
    char text[512], line[600];
    vsnprintf(text, sizeof text, format, arguments);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p > '~') *p = '?';
    int n = error ? snprintf(line, sizeof line, "%s: %s: %s\n", word, text, error_name(error))
                  : snprintf(line, sizeof line, "%s: %s\n", word, text);
    ssize_t ignored = write(STDOUT_FILENO, line, (size_t)n);
    (void)ignored;
    _exit(how);
}

void got(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(GOT, "got", 0, format, arguments);
}

void refused(int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(REFUSED, "refused", error, format, arguments);
}

void absent(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(ABSENT, "absent", 0, format, arguments);
}

void failed(int error, const char *what)
{
    if (error == ENOENT || error == ENODEV || error == ENXIO || error == ENOSYS || error == ESRCH)
        absent("%s: %s", what, error_name(error));
    refused(error, "%s", what);
}

void gate(const char *what, long result, const int *open)
{
    int error = errno;
    if (result >= 0) got("%s", what);
    for (; *open; open++)
        if (*open == error) got("%s: allowed, only the argument was refused (%s)", what, error_name(error));
    failed(error, what);
}

const char *error_name(int error)
{
    const char *name = strerrorname_np(error);
    return name ? name : "an unknown error";
}

const char *mark_of(const char *id)
{
    static char mark[128];
    snprintf(mark, sizeof mark, "isola-planted-%s", id);
    return mark;
}

bool holds(const void *bytes, size_t length, const char *mark)
{
    return length > 0 && memmem(bytes, length, mark, strlen(mark)) != NULL;
}

ssize_t read_file(const char *path, void *bytes, size_t room)
{
    struct stat s;
    if (stat(path, &s) != 0) return -1;
    if (!S_ISREG(s.st_mode)) { /* a pipe could block, and reading a device could have side effects */
        errno = EINVAL;
        return -1;
    }
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -1;
    size_t length = 0;
    while (length < room) {
        ssize_t n = read(fd, (char *)bytes + length, room - length);
        if (n < 0 && length == 0) {
            int error = errno;
            close(fd);
            errno = error;
            return -1;
        }
        if (n <= 0) break;
        length += (size_t)n;
    }
    close(fd);
    return (ssize_t)length;
}

bool read_text(const char *path, char *text, size_t room)
{
    ssize_t n = read_file(path, text, room - 1);
    if (n < 0) return false;
    text[n] = 0;
    text[strcspn(text, "\n")] = 0;
    return true;
}

uint64_t digest_of(const void *bytes, size_t length)
{
    uint64_t digest = 0xcbf29ce484222325; /* FNV-1a */
    for (size_t i = 0; i < length; i++) digest = (digest ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
    return digest;
}

bool opens_for_writing(const char *path)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return false;
    close(fd);
    return true;
}

bool readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 1000) == 1;
}

static int descending(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x < y) - (x > y);
}

void each_process(const char *victim, void (*each)(pid_t pid, void *context), void *context)
{
    if (strcmp(victim, "all") != 0) {
        each(atoi(victim), context);
        return;
    }
    DIR *folder = opendir("/proc");
    if (!folder) failed(errno, "/proc");
    static pid_t pids[PROCESSES_MAX];
    size_t count = 0;
    for (struct dirent *entry; count < PROCESSES_MAX && (entry = readdir(folder));) {
        pid_t pid = atoi(entry->d_name);
        if (pid > 0 && pid != getpid() && pid != starter) pids[count++] = pid;
    }
    closedir(folder);
    qsort(pids, count, sizeof *pids, descending);
    for (size_t i = 0; i < count; i++) each(pids[i], context);
}

static void give_up(int signal)
{
    (void)signal;
    static const char line[] = "refused: no answer in time\n";
    if (attempt > 0) kill(attempt, SIGKILL);
    ssize_t ignored = write(STDOUT_FILENO, line, sizeof line - 1);
    (void)ignored;
    _exit(REFUSED);
}

/* The attempt runs in a child, so that a result is reported even if a filter kills it or a call hangs. */
static int run(const struct probe *probe, int count, char **arguments)
{
    struct sigaction action = {.sa_handler = give_up};
    sigaction(SIGALRM, &action, NULL);
    starter = getpid();
    attempt = fork();
    if (attempt < 0) refused(errno, "fork");
    if (attempt == 0) {
        signal(SIGALRM, SIG_DFL);
        probe->run(count, arguments);
        refused(0, "the attempt printed no result");
    }
    alarm(TIMEOUT_SECONDS);
    int status;
    while (waitpid(attempt, &status, 0) < 0)
        if (errno != EINTR) refused(errno, "waitpid");
    if (WIFSIGNALED(status)) refused(0, "killed by SIG%s", sigabbrev_np(WTERMSIG(status)));
    return WEXITSTATUS(status);
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return ok;
}

/*
 * Becomes root of new namespaces, because root of a sandbox may be able to do what an ordinary user of the host
 * cannot.
 */
static void become_root(void)
{
    char line[64];
    unsigned user = geteuid(), group = getegid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWCGROUP) != 0)
        refused(errno, "a user namespace");
    write_text("/proc/self/setgroups", "deny");
    snprintf(line, sizeof line, "0 %u 1", user);
    if (!write_text("/proc/self/uid_map", line)) refused(errno, "uid_map");
    snprintf(line, sizeof line, "0 %u 1", group);
    if (!write_text("/proc/self/gid_map", line)) refused(errno, "gid_map");
}

static void echo(int count, char **arguments)
{
    (void)count;
    got("%s", arguments[0]);
}

static const struct probe own_probes[] = {{"echo", 1, echo}, {0}};

int main(int count, char **words)
{
    static const struct probe *const tables[] = {own_probes,       file_probes,     process_probes, kernel_probes,
                                                 namespace_probes, device_probes,   network_probes, ipc_probes,
                                                 agent_probes,     resource_probes, state_probes};
    if (count >= 3 && strcmp(words[1], "targets") == 0) return hold_targets(count - 2, words + 2);
    if (count >= 3 && strcmp(words[1], "egress") == 0) return egress_client(count - 2, words + 2);
    if (count >= 3 && strcmp(words[1], "within") == 0) {
        become_root();
        count--;
        words++;
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct probe *p = tables[i]; count >= 2 && p->name; p++)
            if (strcmp(p->name, words[1]) == 0 && count - 2 >= p->arguments) return run(p, count - 2, words + 2);
    if (count == 2 && strcmp(words[1], "--list") == 0) {
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            for (const struct probe *p = tables[i]; p->name; p++) printf("%s\n", p->name);
        return 0;
    }
    fprintf(stderr, "usage: isola-probe NAME [ARG...]\n       isola-probe --list\n"
                    "       isola-probe within NAME [ARG...]   as root of a user namespace\n"
                    "       isola-probe targets ID [ARG...]\n"
                    "       isola-probe egress COMMAND [ARG...]\n");
    return 64;
}
