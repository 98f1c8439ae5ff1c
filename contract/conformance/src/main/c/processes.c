/* Processes of the host: what they reveal, and what can be done to them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

enum { SHOWN_MAX = 1 << 17, DESCRIPTORS_MAX = 1024 };

static char shown[SHOWN_MAX];

struct search {
    const char *name, *mark;
    int error;
};

static void look_into(pid_t pid, void *context)
{
    struct search *s = context;
    char path[4200];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, s->name);
    ssize_t n = read_file(path, shown, sizeof shown);
    if (n >= 0 && holds(shown, (size_t)n, s->mark)) got("read %s", path);
    if (n < 0 && errno != ENOENT && errno != ESRCH) s->error = errno;
}

static _Noreturn void search(const char *victim, const char *name, const char *id)
{
    struct search s = {name, mark_of(id), ENOENT};
    each_process(victim, look_into, &s);
    failed(s.error, name);
}

/* environ VICTIM ID */
static void environments(int count, char **arguments)
{
    (void)count;
    search(arguments[0], "environ", arguments[1]);
}

/* cmdline VICTIM ID */
static void command_lines(int count, char **arguments)
{
    (void)count;
    search(arguments[0], "cmdline", arguments[1]);
}

/* root VICTIM PATH ID: files of the host through the root of another process */
static void roots(int count, char **arguments)
{
    (void)count;
    char name[4096];
    snprintf(name, sizeof name, "root%s", arguments[1]);
    search(arguments[0], name, arguments[2]);
}

static void look_at_descriptors(pid_t pid, void *context)
{
    for (int fd = 0; fd < DESCRIPTORS_MAX; fd++) {
        char name[32];
        struct search *s = context;
        snprintf(name, sizeof name, "fd/%d", fd);
        s->name = name;
        look_into(pid, s);
        if (fd == 0 && s->error == EACCES) return;
    }
}

/* descriptors-of VICTIM ID */
static void descriptors_of(int count, char **arguments)
{
    (void)count;
    struct search s = {"", mark_of(arguments[1]), ENOENT};
    each_process(arguments[0], look_at_descriptors, &s);
    failed(s.error, "descriptors of other processes");
}

/* signal PID: the host checks afterwards whether the process is alive */
static void signal_target(int count, char **arguments)
{
    (void)count;
    pid_t pid = atoi(arguments[0]);
    if (pid <= 1 || pid == getpid() || pid == starter) absent("process %s is a different one here", arguments[0]);
    if (kill(pid, SIGKILL) != 0) failed(errno, "kill");
    got("killed process %d", (int)pid);
}

static _Noreturn void judge_memory(const char *bytes, const char *id, const char *how)
{
    const char *mark = mark_of(id);
    if (strncmp(bytes, mark, strlen(mark)) == 0) got("read its memory with %s", how);
    absent("that process is a different one here (%s)", how);
}

/* vm-read PID ADDRESS ID */
static void vm_read(int count, char **arguments)
{
    (void)count;
    char bytes[128] = "";
    struct iovec here = {bytes, 64}, there = {(void *)(uintptr_t)strtoull(arguments[1], NULL, 16), 64};
    if (process_vm_readv(atoi(arguments[0]), &here, 1, &there, 1, 0) < 0) failed(errno, "process_vm_readv");
    judge_memory(bytes, arguments[2], "process_vm_readv");
}

/* mem PID ADDRESS ID */
static void mem(int count, char **arguments)
{
    (void)count;
    char path[64], bytes[128] = "";
    snprintf(path, sizeof path, "/proc/%d/mem", atoi(arguments[0]));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) failed(errno, path);
    if (pread(fd, bytes, 64, (off_t)strtoull(arguments[1], NULL, 16)) < 0) refused(errno, "%s", path);
    judge_memory(bytes, arguments[2], path);
}

/* trace PID ADDRESS ID */
static void trace(int count, char **arguments)
{
    (void)count;
    pid_t pid = atoi(arguments[0]);
    union {
        long words[9];
        char bytes[9 * sizeof(long)];
    } seen = {{0}};
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0) failed(errno, "ptrace");
    if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) != 0 || waitpid(pid, NULL, __WALL) < 0)
        refused(errno, "seized, but it did not stop");
    uintptr_t from = (uintptr_t)strtoull(arguments[1], NULL, 16);
    for (size_t i = 0; i < 8; i++)
        seen.words[i] = ptrace(PTRACE_PEEKDATA, pid, (void *)(from + i * sizeof(long)), NULL);
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    judge_memory(seen.bytes, arguments[2], "ptrace");
}

/* steal-descriptor PID FD ID */
static void steal_descriptor(int count, char **arguments)
{
    (void)count;
    char bytes[128] = "";
    int process = (int)syscall(SYS_pidfd_open, atoi(arguments[0]), 0);
    if (process < 0) failed(errno, "pidfd_open");
    int fd = (int)syscall(SYS_pidfd_getfd, process, atoi(arguments[1]), 0);
    if (fd < 0) failed(errno, "pidfd_getfd");
    if (pread(fd, bytes, 64, 0) < 0) absent("that descriptor is a different one here");
    judge_memory(bytes, arguments[2], "pidfd_getfd");
}

const struct probe process_probes[] = {{"environ", 2, environments},
                                       {"cmdline", 2, command_lines},
                                       {"root", 3, roots},
                                       {"descriptors-of", 2, descriptors_of},
                                       {"signal", 1, signal_target},
                                       {"vm-read", 3, vm_read},
                                       {"mem", 3, mem},
                                       {"trace", 3, trace},
                                       {"steal-descriptor", 3, steal_descriptor},
                                       {0}};
