#include "users.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basics.h"

static bool own_namespace;

/*
 * Its maker is born in it and gone at once; it is not our child but our parent's, who does not wait for it, so nobody
 * waits here until it has run or ended.
 */
int users_make(const char *inside, const char *outside, const char *count)
{
    struct clone_args arguments = {.flags = CLONE_NEWUSER | CLONE_PARENT};
    pid_t holder = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    if (holder < 0) fail("cannot make a user namespace");
    if (holder == 0) {
        pause();
        _exit(0);
    }
    char path[64], line[128];
    snprintf(line, sizeof line, "%s %s %s", inside, outside, count);
    snprintf(path, sizeof path, "/proc/%d/uid_map", (int)holder);
    bool ok = write_text(path, line);
    snprintf(path, sizeof path, "/proc/%d/gid_map", (int)holder);
    ok = ok && write_text(path, line);
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)holder);
    int users = ok ? high(open(path, O_RDONLY | O_CLOEXEC)) : -1;
    int error = errno;
    kill(holder, SIGKILL);
    errno = error;
    if (users < 0) fail("cannot make the users of a user namespace");
    return users;
}

int users_map(const char *from, const char *to)
{
    return users_make(from, to, "65536");
}

void users_become_root(void)
{
    char uids[64], gids[64];
    snprintf(uids, sizeof uids, "0 %u 1", (unsigned)geteuid());
    snprintf(gids, sizeof gids, "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWUSER) != 0) fail("cannot make a user namespace");
    write_text("/proc/self/setgroups", "deny"); /* absent on old kernels */
    if (!write_text("/proc/self/uid_map", uids) || !write_text("/proc/self/gid_map", gids))
        fail("cannot map the user into a user namespace");
    own_namespace = true;
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

/* A quarter of what the machine allows one of its users, and no less than a few programs need. */
static void limit(const char *name, const char *machine, long least)
{
    char path[96], text[32] = "";
    int fd = open(machine, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t ignored = read(fd, text, sizeof text - 1);
        (void)ignored; /* then it is the least */
        close(fd);
    }
    long quarter = strtol(text, NULL, 10) / 4;
    snprintf(text, sizeof text, "%ld", quarter > least ? quarter : least);
    snprintf(path, sizeof path, "/proc/sys/user/%s", name);
    if (!write_text(path, text)) _exit(1);
}

bool users_limit(int pid)
{
    char path[64];
    int status;
    snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
    pid_t child = fork(); /* who enters a user namespace does not come back */
    if (child < 0) return false;
    if (child == 0) {
        int users = open(path, O_RDONLY | O_CLOEXEC);
        if (users < 0 || setns(users, CLONE_NEWUSER) != 0) _exit(1);
        limit("max_inotify_instances", "/proc/sys/fs/inotify/max_user_instances", 16);
        limit("max_inotify_watches", "/proc/sys/fs/inotify/max_user_watches", 4096);
        _exit(0);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}
