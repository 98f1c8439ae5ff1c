#include "cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common.h"

/* Missing from some C libraries; the number is the same on all architectures. */
enum { SYS_PIDFD_SEND_SIGNAL = 424, SYS_PIDFD_OPEN = 434 };

size_t cgroup_folder_length(const char *procs)
{
    static const char name[] = "cgroup.procs";
    size_t length = strlen(procs), rest = sizeof name - 1;
    return length > rest && strcmp(procs + length - rest, name) == 0 ? length - rest : 0;
}

/*
 * Joins a version 1 cgroup. A write to cgroup.procs waits until no process of the host is forking, which can take many
 * milliseconds. A write to `tasks` moves a single thread and does not wait, and the launcher has only one.
 */
bool cgroup_join(const char *procs)
{
    char tasks[PATH_MAX];
    size_t folder = cgroup_folder_length(procs);
    if (folder > 0 && folder < sizeof tasks - sizeof "tasks") {
        snprintf(tasks, sizeof tasks, "%.*stasks", (int)folder, procs);
        if (write_text(tasks, "0")) return true;
        if (errno != ENOENT) return false;
    }
    return write_text(procs, "0");
}

/*
 * Forks. The child starts in the plan's version 2 cgroup, for the same reason, and the step counts as done. On kernels
 * without support the child takes the step itself.
 */
pid_t cgroup_fork(struct plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        struct step *s = &plan->steps[i];
        size_t folder = s->count == 2 && strcmp(s->words[0], "cgroup") == 0 ? cgroup_folder_length(s->words[1]) : 0;
        char path[PATH_MAX];
        struct statfs about;
        if (folder == 0 || folder >= sizeof path) continue;
        snprintf(path, sizeof path, "%.*s", (int)folder, s->words[1]);
        int group = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (group < 0) continue;
        pid_t child = -1;
        if (fstatfs(group, &about) == 0 && about.f_type == CGROUP2_SUPER_MAGIC) {
            struct clone_args arguments = {.flags = CLONE_INTO_CGROUP,
                                           .exit_signal = SIGCHLD,
                                           .cgroup = (uint64_t)group};
            child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
            if (child == 0) s->words[0][0] = 0; /* done */
        }
        close(group);
        if (child >= 0) return child;
    }
    return fork();
}

/* Kills a process only if it is still in the cgroup: its pid may have been reused since it was listed. */
static bool kill_member(const char *list, pid_t pid)
{
    int fd = (int)syscall(SYS_PIDFD_OPEN, pid, 0);
    if (fd < 0) return errno != ESRCH && kill(pid, SIGKILL) == 0;
    FILE *procs = fopen(list, "re");
    bool member = false;
    int other;
    while (procs && !member && fscanf(procs, "%d", &other) == 1) member = other == pid;
    if (procs) fclose(procs);
    bool killed = member && syscall(SYS_PIDFD_SEND_SIGNAL, fd, SIGKILL, NULL, 0) == 0;
    close(fd);
    return killed;
}

bool cgroup_kill(const struct plan *plan)
{
    bool any = false;
    for (int i = 0; i < plan->count; i++) {
        const struct step *s = &plan->steps[i];
        FILE *procs = s->count == 2 && strcmp(s->words[0], "cgroup") == 0 ? fopen(s->words[1], "re") : NULL;
        int pid;
        while (procs && fscanf(procs, "%d", &pid) == 1)
            if (pid > 0 && kill_member(s->words[1], pid)) any = true;
        if (procs) fclose(procs);
    }
    return any;
}
