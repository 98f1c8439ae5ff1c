#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "launch_message.h"
#include "freeze.h"
#include "init_state.h"
#include "privileges.h"
#include "process_tree.h"

#define OOM_SCORE_OF_COMMANDS "500"
#define OOM_SCORE_MOST "1000"
enum { OOM_SCORE_NUMBER = 500 };

enum { CONTROL = 3, KILL_MILLISECONDS = 5000, START_TOLD_AFTER_NS = 1500000 };

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static pid_t leader;
static const char *mark;
static bool leader_ended, told_started;
static int ended_fd;      /* in a supervisor: readable when a child has ended */
static int score_fd = -1; /* in a supervisor that can change its OOM score and change it back */

/* Idle supervisors, most recently used last and reused first. */
static struct idle {
    pid_t pid;
    int control;
} idle[TREE_EXCLUDED_MAX];
static int idle_count;

/* Layout of getdents64. */
struct folder_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

/*
 * Closes all listed descriptors. Repeats until none was open, since closing may move entries that were not listed yet.
 */
static bool close_listed(int first)
{
    int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return false;
    _Alignas(struct folder_entry) char entries[4096];
    long length = 0;
    for (bool closed = true; closed && length >= 0;) {
        closed = false;
        lseek(folder, 0, SEEK_SET);
        while ((length = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
            for (long at = 0; at < length;) {
                const struct folder_entry *entry = (const struct folder_entry *)(const void *)(entries + at);
                int fd = atoi(entry->name);
                if (fd >= first && fd != folder) closed |= close(fd) == 0;
                at += entry->length;
            }
        }
    }
    close(folder);
    return length == 0;
}

/* Without close_range (gVisor, old kernels), trying every possible number would take too long. */
void close_from(int first)
{
    if (syscall(SYS_close_range, first, ~0u, 0) == 0 || close_listed(first)) return;
    struct rlimit limit;
    int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int fd = first; fd < end; fd++) close(fd);
}

/* ---- in the command's process, between vfork and exec: system calls only ---- */

static volatile int failed_stage, failed_errno;

static _Noreturn void exit_failed(enum stage stage)
{
    failed_errno = errno;
    failed_stage = (int)stage;
    _exit(127);
}

static void execute(const struct launch *l, const char *path)
{
    execve(path, l->arguments, l->environment);
    if (errno != ENOEXEC) return;
    /* A script without #! runs in a shell, as with execvp. */
    char *words[64] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t)path};
    int n = 2;
    for (int i = 1; l->arguments[i] && n < 63; i++) words[n++] = l->arguments[i];
    words[n] = NULL;
    execve("/bin/sh", words, l->environment);
}

static _Noreturn void execute_searching(const struct launch *l)
{
    const char *name = l->arguments[0];
    if (strchr(name, '/')) {
        execute(l, name);
        exit_failed(STAGE_EXEC);
    }
    int worst = ENOENT;
    char path[4096];
    for (const char *p = l->search_path; p;) {
        const char *end = strchr(p, ':');
        size_t length = end ? (size_t)(end - p) : strlen(p);
        size_t name_length = strlen(name);
        if (length + name_length + 2 <= sizeof path) {
            memcpy(path, p, length);
            size_t at = length;
            if (at) path[at++] = '/';
            memcpy(path + at, name, name_length + 1);
            execute(l, path);
            if (errno == EACCES)
                worst = EACCES;
            else if (errno != ENOENT && errno != ENOTDIR)
                exit_failed(STAGE_EXEC);
        }
        p = end ? end + 1 : NULL;
    }
    errno = worst;
    exit_failed(STAGE_EXEC);
}

static void switch_user(const struct user *u)
{
    /* Raw system calls: the C library would try to change threads that do not exist in this process. */
    if (syscall(SYS_setgroups, (size_t)u->group_count, u->groups) != 0 && errno != EPERM) exit_failed(STAGE_USER);
    if (syscall(SYS_setresgid, u->gid, u->gid, u->gid) != 0) exit_failed(STAGE_USER);
    if (syscall(SYS_setresuid, u->uid, u->uid, u->uid) != 0) exit_failed(STAGE_USER);
}

/* Without /proc, all processes keep the same score. */
static void set_oom_score(int fd, const char *score)
{
    ssize_t ignored = fd < 0 ? 0 : write(fd, score, strlen(score));
    (void)ignored;
}

/* The score of a container, which the agent has, may be higher than that of commands. */
static void prefer_for_oom(void)
{
    char own[8] = "";
    int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    if (fd >= 0 && pread(fd, own, sizeof own - 1, 0) < 0) own[0] = 0;
    set_oom_score(fd, strtol(own, NULL, 10) < OOM_SCORE_NUMBER ? OOM_SCORE_OF_COMMANDS : OOM_SCORE_MOST);
    if (fd >= 0) close(fd);
}

/*
 * Restricts the affinity to as many processors as the sandbox may use, so that programs find that number. Starts at the
 * current processor, which the kernel chose because it was free. A command may change its affinity; the quota remains.
 */
static void keep_to_processors(int count)
{
    unsigned here = 0;
    cpu_set_t allowed, chosen;
    CPU_ZERO(&allowed);
    CPU_ZERO(&chosen);
    if (syscall(SYS_sched_getaffinity, 0, sizeof allowed, &allowed) < 0 || CPU_COUNT(&allowed) <= count) return;
    syscall(SYS_getcpu, &here, NULL, NULL);
    for (unsigned i = 0; i < CPU_SETSIZE && CPU_COUNT(&chosen) < count; i++) {
        unsigned cpu = (here + i) % CPU_SETSIZE;
        if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &chosen);
    }
    syscall(SYS_sched_setaffinity, 0, sizeof chosen, &chosen);
}

/* The launcher gives the agent a higher priority than commands, so that it can act while they use every processor. */
static bool take_usual_priority(void)
{
    return getpriority(PRIO_PROCESS, 0) >= 0 || setpriority(PRIO_PROCESS, 0, 0) == 0;
}

bool command_confine(const struct launch *l)
{
    for (int i = 0; i < l->limit_count; i++)
        if (setrlimit((__rlimit_resource_t)l->limits[i].resource, &l->limits[i].limit) != 0) return false;
    if (!take_usual_priority()) return false;
    if (l->expendable && score_fd < 0) prefer_for_oom();
    if (l->processors) keep_to_processors(l->processors);
    return true;
}

static _Noreturn void become_command(const struct launch *l)
{
    setsid();
    if (l->terminal && ioctl(0, TIOCSCTTY, 0) != 0) exit_failed(STAGE_SETUP);
    if (!command_confine(l)) exit_failed(STAGE_LIMIT);
    if (l->user) switch_user(l->user);
    if (chdir(l->cwd) != 0) exit_failed(STAGE_CWD);

    /* The only signal the agent ignores; handlers do not survive exec. */
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(SIGPIPE, &plain, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execute_searching(l);
}

/* ---- in the supervisor ---- */

static void send_report(const struct report *r)
{
    ssize_t ignored = send(CONTROL, r, sizeof *r, MSG_NOSIGNAL);
    (void)ignored; /* the agent is gone; the next poll notices */
}

/*
 * Reports the start of a short command together with its end: waking the agent in between would only take the processor
 * away from the command. The start of a longer command is reported after a moment.
 */
static void report_started(void)
{
    if (told_started) return;
    told_started = true;
    struct report r = {.kind = REPORT_STARTED, .pid = leader};
    send_report(&r);
}

static void report_ended(int status, const struct rusage *usage, bool is_free)
{
    if (leader_ended) return;
    leader_ended = true;
    told_started = true;
    struct report r = {.kind = REPORT_ENDED, .pid = leader, .status = status, .is_free = is_free};
    if (usage) {
        r.cpu_ns = ((uint64_t)usage->ru_utime.tv_sec + (uint64_t)usage->ru_stime.tv_sec) * 1000000000u
                   + ((uint64_t)usage->ru_utime.tv_usec + (uint64_t)usage->ru_stime.tv_usec) * 1000u;
        r.memory_peak = (uint64_t)usage->ru_maxrss * 1024;
    }
    send_report(&r);
}

static int leader_status;

static void reaped_by_kill(pid_t pid, int status)
{
    if (pid == leader) leader_status = status;
}

/* Reports the end only when no process of the tree is left, which the client relies on. */
static void kill_tree(void)
{
    leader_status = SIGKILL;
    bool all = tree_kill_own(KILL_MILLISECONDS, reaped_by_kill);
    if (mark) all = tree_kill_marked(mark, KILL_MILLISECONDS) && all;
    report_ended(leader_status, NULL, false);
    if (all) _exit(0);
}

/* Reaps children. Returns true, after reporting it, when none is left. */
static bool reap_children(void)
{
    int leaders = 0;
    struct rusage leaders_usage;
    bool over = false;
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, WNOHANG | __WALL, &usage);
        bool none = pid < 0 && errno == ECHILD;
        if (pid > 0) {
            if (pid != leader) continue;
            over = true;
            leaders = status;
            leaders_usage = usage;
            continue;
        }
        struct report r = {.kind = REPORT_FREE};
        if (over)
            report_ended(leaders, &leaders_usage, none);
        else if (none)
            send_report(&r);
        return none;
    }
}

static void execute_order(const struct order *o)
{
    switch (o->kind) {
    case ORDER_KILL_TREE:
        kill_tree();
        break;
    case ORDER_SIGNAL_TREE:
        tree_signal(getpid(), o->signal_number);
        if (mark) tree_signal_marked(mark, o->signal_number);
        break;
    case ORDER_SIGNAL_GROUP:
        if (!leader_ended) kill(-leader, o->signal_number);
        break;
    case ORDER_SIGNAL_LEADER:
        if (!leader_ended) kill(leader, o->signal_number);
        break;
    }
}

/* Returns when no process of the command is left. */
static void supervise(void)
{
    while (!reap_children()) {
        struct pollfd ready[] = {{.fd = CONTROL, .events = POLLIN}, {.fd = ended_fd, .events = POLLIN}};
        static const struct timespec moment = {0, START_TOLD_AFTER_NS};
        struct signalfd_siginfo ignored;
        if (ppoll(ready, 2, told_started ? NULL : &moment, NULL) == 0) report_started();
        if (ready[1].revents && read(ended_fd, &ignored, sizeof ignored) < 0) continue;
        if (!ready[0].revents) continue;
        struct order order;
        ssize_t n = recv(CONTROL, &order, sizeof order, MSG_DONTWAIT);
        if (n == (ssize_t)sizeof order) {
            execute_order(&order);
        } else if (n >= 0 || (errno != EAGAIN && errno != EINTR)) {
            tree_kill_own(KILL_MILLISECONDS, NULL); /* the agent is gone */
            _exit(0);
        }
    }
}

/* Makes the command's descriptors 0, 1 and 2, as launch_message_receive does, and closes all others. */
static bool arrange_descriptors(const struct launch *l, int control_fd)
{
    int from[CONTROL + 1] = {l->input, l->output, l->error, control_fd};
    /* Moves descriptors that are about to be overwritten. */
    for (int i = 0; i <= CONTROL; i++)
        if ((from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 64)) < 0) return false;
    for (int i = 0; i < CONTROL; i++)
        if (dup2(from[i], i) < 0) return false;
    if (dup3(from[CONTROL], CONTROL, O_CLOEXEC) < 0) return false;
    close_from(CONTROL + 1);
    return true;
}

/* Waits while commands are frozen. */
static void await_release(void)
{
    struct pollfd control = {.fd = CONTROL, .events = 0};
    while (freeze_is_active())
        if (poll(&control, 1, 1) > 0) _exit(0); /* the agent is gone */
}

static void run_command(const struct launch *l)
{
    await_release();
    mark = l->mark;
    leader_ended = told_started = false;
    failed_errno = 0;
    if (l->expendable) set_oom_score(score_fd, OOM_SCORE_OF_COMMANDS); /* which the command inherits */
    pid_t pid = vfork();
    if (pid == 0) become_command(l);
    int fork_errno = errno;
    if (l->expendable) set_oom_score(score_fd, INIT_OOM_SCORE);
    for (int i = 0; i < CONTROL; i++) close(i);
    if (pid < 0 || failed_errno) {
        struct report r = {.kind = REPORT_FAILED,
                           .stage = pid < 0 ? STAGE_SETUP : (enum stage)failed_stage,
                           .error_number = pid < 0 ? fork_errno : failed_errno};
        send_report(&r);
        _exit(0);
    }
    leader = pid;
    supervise();
}

static bool open_own_files(void)
{
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD); /* blocked, as all signals are */
    ended_fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (init_is_active()) score_fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    return ended_fd >= 0;
}

static _Noreturn void run_supervisor(const struct launch *l, int control_fd)
{
    if (!arrange_descriptors(l, control_fd) || !seccomp_confine_command()) _exit(1);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGCONT); /* a stopped supervisor must notice that the agent ended */
    prctl(PR_SET_NAME, "isola-watch");
    if (!open_own_files()) _exit(1);
    for (; l; l = launch_message_receive(CONTROL)) run_command(l);
    _exit(0); /* the agent released it, or is gone */
}

static pid_t fork_supervisor(const struct launch *launch, int *control_fd)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -1;
    pid_t pid = fork();
    if (pid == 0) run_supervisor(launch, pair[1]);
    int error = errno;
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        errno = error;
        return -1;
    }
    *control_fd = pair[0];
    return pid;
}

static void remove_idle(int i)
{
    tree_exclude(idle[i].pid, false);
    idle[i] = idle[--idle_count];
}

pid_t supervisor_start(const struct launch *launch, int *control_fd)
{
    struct idle last = idle_count ? idle[idle_count - 1] : (struct idle){0};
    if (!last.pid || !launch_message_send(last.control, launch)) return fork_supervisor(launch, control_fd);
    remove_idle(idle_count - 1);
    *control_fd = last.control;
    return last.pid;
}

void supervisor_free(pid_t pid, int control_fd)
{
    if (idle_count < TREE_EXCLUDED_MAX) {
        idle[idle_count++] = (struct idle){pid, control_fd};
        tree_exclude(pid, true);
    } else {
        close(control_fd); /* it exits */
    }
}

void supervisors_end_idle(void)
{
    while (idle_count) {
        close(idle[idle_count - 1].control);
        remove_idle(idle_count - 1);
    }
}

void supervisor_reaped(pid_t pid)
{
    for (int i = 0; i < idle_count; i++)
        if (idle[i].pid == pid) {
            close(idle[i].control);
            remove_idle(i);
            return;
        }
}
