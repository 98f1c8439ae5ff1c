#include "users.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

static bool own_namespace, has_subordinate;

/* Maps the users and groups of the only process of a user namespace, and opens that namespace. */
static int map_all(pid_t holder, const char *inside, const char *outside, const char *count)
{
    char path[64], line[128];
    snprintf(line, sizeof line, "%s %s %s", inside, outside, count);
    snprintf(path, sizeof path, "/proc/%d/uid_map", (int)holder);
    bool ok = write_text(path, line);
    snprintf(path, sizeof path, "/proc/%d/gid_map", (int)holder);
    ok = ok && write_text(path, line);
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)holder);
    return ok ? move_fd_up(open(path, O_RDONLY | O_CLOEXEC)) : -1;
}

/*
 * The process that holds the namespace while it is mapped is a child of the launcher's parent, so the launcher does not
 * have to wait for it.
 */
static pid_t start_holder(void)
{
    struct clone_args arguments = {.flags = CLONE_NEWUSER | CLONE_PARENT};
    pid_t holder = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    if (holder < 0) fail("cannot create a user namespace");
    if (holder == 0) {
        pause();
        _exit(0);
    }
    return holder;
}

static int map_held(pid_t holder, const char *inside, const char *outside, const char *count)
{
    int users = map_all(holder, inside, outside, count);
    int error = errno;
    kill(holder, SIGKILL);
    errno = error;
    if (users < 0) fail("cannot map the ids of a user namespace");
    return users;
}

int users_make(const char *inside, const char *outside, const char *count)
{
    return map_held(start_holder(), inside, outside, count);
}

/* Only the effective id counts, so the launcher takes it for a moment and keeps its capabilities. */
int users_make_own(const char *inside, const char *outside, const char *count)
{
    int bits = prctl(PR_GET_SECUREBITS);
    prctl(PR_SET_SECUREBITS, bits | SECBIT_NO_SETUID_FIXUP); /* some hosts require capabilities for a namespace */
    if (setresuid((uid_t)-1, (uid_t)strtoul(outside, NULL, 10), (uid_t)-1) != 0) fail("cannot become user %s", outside);
    pid_t holder = start_holder();
    if (setresuid((uid_t)-1, 0, (uid_t)-1) != 0) fail("cannot become root again");
    prctl(PR_SET_SECUREBITS, bits);
    prctl(PR_SET_DUMPABLE, 1); /* so that /proc files of this process remain its own */
    return map_held(holder, inside, outside, count);
}

/* Lowers a limit that the processes of the sandbox inherit, and that the kernel applies to all of them together. */
static void lower(int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0) return;
    struct rlimit limit = {now.rlim_cur < most ? now.rlim_cur : most, now.rlim_max < most ? now.rlim_max : most};
    setrlimit(resource, &limit); /* a lower limit is never refused */
}

void users_limit_objects(void)
{
    enum { QUEUE_BYTES = 819200 /* the kernel's default */, SIGNALS = 16384 };
    lower(RLIMIT_MSGQUEUE, QUEUE_BYTES);
    lower(RLIMIT_SIGPENDING, SIGNALS);
}

/* A quarter of what the host allows one user, but at minimum what a few programs need. */
static bool limit_one(const char *name, const char *machine, long minimum)
{
    char path[96], text[32] = "";
    int fd = open(machine, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t ignored = read(fd, text, sizeof text - 1);
        (void)ignored; /* then the minimum applies */
        close(fd);
    }
    long quarter = strtol(text, NULL, 10) / 4;
    snprintf(text, sizeof text, "%ld", quarter > minimum ? quarter : minimum);
    snprintf(path, sizeof path, "/proc/sys/user/%s", name);
    return write_text(path, text);
}

/* Limits of the current user namespace, which its root may lower. */
static bool limit(void)
{
    return limit_one("max_inotify_instances", "/proc/sys/fs/inotify/max_user_instances", 16)
           && limit_one("max_inotify_watches", "/proc/sys/fs/inotify/max_user_watches", 4096);
}

/* Runs as root of the limited namespace: creates a namespace with the same users in it and sends its descriptor. */
static int make_inside(int limited, const char *count)
{
    /* Dumpable, because /proc files of other processes belong to the host's root. */
    if (setns(limited, CLONE_NEWUSER) != 0 || setresgid(0, 0, 0) != 0 || setresuid(0, 0, 0) != 0
        || prctl(PR_SET_DUMPABLE, 1) != 0 || !limit())
        return -1;
    struct clone_args arguments = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    pid_t holder = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    if (holder < 0) return -1;
    if (holder == 0) {
        pause();
        _exit(0);
    }
    int users = map_all(holder, "0", "0", count);
    int error = errno;
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    errno = error;
    return users;
}

int users_make_limited(const char *outside, const char *count)
{
    int result_pipe[2], users = -1, error = 0, limited = users_make_own("0", outside, count);
    if (pipe2(result_pipe, O_CLOEXEC) != 0) fail("cannot create a pipe");
    /* A process can enter a user namespace only once; its descriptors are shared. */
    struct clone_args arguments = {.flags = CLONE_FILES, .exit_signal = SIGCHLD};
    pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child < 0) fail("cannot fork");
    if (child == 0) {
        int answer[2] = {make_inside(limited, count), 0};
        answer[1] = answer[0] < 0 ? errno : 0;
        _exit(write(result_pipe[1], answer, sizeof answer) == (ssize_t)sizeof answer ? 0 : 1);
    }
    int answer[2] = {-1, ECHILD};
    if (waitpid(child, NULL, 0) == child) {
        close(result_pipe[1]);
        if (read(result_pipe[0], answer, sizeof answer) == (ssize_t)sizeof answer) users = answer[0];
        error = answer[1];
    }
    close(result_pipe[0]);
    close(limited);
    errno = error;
    if (users < 0) fail("cannot limit the inotify instances of a user namespace");
    return users;
}

int users_map(const char *from, const char *to)
{
    return users_make(from, to, "65536");
}

void users_become_root(bool limited)
{
    char uids[64], gids[64];
    snprintf(uids, sizeof uids, "0 %u 1", (unsigned)geteuid());
    snprintf(gids, sizeof gids, "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWUSER) != 0) fail("cannot create a user namespace");
    write_text("/proc/self/setgroups", "deny"); /* absent on old kernels */
    if (!write_text("/proc/self/uid_map", uids) || !write_text("/proc/self/gid_map", gids))
        fail("cannot map the user into a user namespace");
    if (limited && !limit()) fail("cannot limit the inotify instances of a user namespace");
    own_namespace = true;
}

/* Starts newuidmap or newgidmap, which may map the ranges its caller was assigned. */
static pid_t start_mapper(const char *program, pid_t target, unsigned self, const char *other)
{
    char pid[16], own[16];
    snprintf(pid, sizeof pid, "%d", (int)target);
    snprintf(own, sizeof own, "%u", self);
    pid_t child = fork();
    if (child == 0) {
        execlp(program, program, pid, "0", own, "1", "1", other, "1", (char *)NULL);
        fail("cannot execute %s", program);
    }
    return child;
}

static bool has_succeeded(pid_t child)
{
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/*
 * Likewise with a subordinate user next to root. newuidmap and newgidmap must run outside the namespace: a process
 * started before waits until it exists.
 */
void users_become_root_with_subordinate(const char *uid, const char *gid, bool limited)
{
    int made[2], status;
    char byte = 0;
    pid_t self = getpid();
    unsigned own_uid = (unsigned)geteuid(), own_gid = (unsigned)getegid();
    if (pipe2(made, O_CLOEXEC) != 0) fail("cannot create a pipe");
    pid_t mapper = fork();
    if (mapper < 0) fail("cannot fork");
    if (mapper == 0) {
        close(made[1]);
        if (read(made[0], &byte, 1) != 1) _exit(1);
        pid_t users = start_mapper("newuidmap", self, own_uid, uid);
        pid_t groups = start_mapper("newgidmap", self, own_gid, gid);
        bool mapped = has_succeeded(users);
        _exit(has_succeeded(groups) && mapped ? 0 : 1);
    }
    if (unshare(CLONE_NEWUSER) != 0) fail("cannot create a user namespace");
    close(made[0]);
    if (write(made[1], &byte, 1) != 1 || waitpid(mapper, &status, 0) != mapper) fail("cannot map ids");
    close(made[1]);
    errno = 0;
    if (status != 0) fail("newuidmap or newgidmap cannot map the subordinate user %s and group %s", uid, gid);
    if (setgroups(0, NULL) != 0) fail("cannot drop supplementary groups");
    if (limited && !limit()) fail("cannot limit the inotify instances of a user namespace");
    own_namespace = has_subordinate = true;
}

bool users_have_subordinate(void)
{
    return has_subordinate;
}

/* Changes only the file system ids: capabilities over files are lost, those over mounts stay. */
bool users_act_as_subordinate(bool on)
{
    enum { SUBORDINATE = 1 };
    setfsgid(on ? SUBORDINATE : 0);
    setfsuid(on ? SUBORDINATE : 0);
    prctl(PR_SET_DUMPABLE, 1); /* so that /proc files of this process remain its own */
    return setfsuid((uid_t)-1) == (on ? SUBORDINATE : 0) && setfsgid((gid_t)-1) == (on ? SUBORDINATE : 0);
}

void users_join(const char *pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/ns/user", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWUSER) != 0) fail("cannot join the user namespace of process %s", pid);
    close(fd);
    own_namespace = true;
}

bool users_are_own(void)
{
    return own_namespace;
}

void users_enter(int users)
{
    if (setns(users, CLONE_NEWUSER) != 0 || setgroups(0, NULL) != 0 || setresgid(0, 0, 0) != 0
        || setresuid(0, 0, 0) != 0)
        fail("cannot enter the user namespace");
}
