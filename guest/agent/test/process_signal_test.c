/* A signal reaches the process that was identified, and never another one that has reused its pid. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../host/launcher/src/quiesce.h"
#include "check.h"
#include "freeze.h"
#include "process_signal.h"

enum { TRIES = 10000 };

static int proc;

/* A process in its own session, like a command, that waits to be killed. */
static pid_t start_command(void)
{
    int ready[2];
    char byte;
    if (pipe(ready) != 0) return -1;
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        close(ready[0]);
        close(ready[1]);
        for (;;) pause();
    }
    close(ready[1]);
    ssize_t ended = read(ready[0], &byte, 1);
    close(ready[0]);
    return ended == 0 ? pid : -1;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* A process that stops itself, with the pid of a reaped one; -1 where a pid cannot be requested. */
static pid_t start_stopped_as(pid_t pid)
{
    pid_t wanted[1] = {pid};
    struct clone_args arguments = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)wanted, .set_tid_size = 1};
    pid_t made = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    if (made == 0) {
        setsid();
        raise(SIGSTOP);
        for (;;) pause();
    }
    int status;
    return made == pid && waitpid(made, &status, WUNTRACED) == made && WIFSTOPPED(status) ? made : -1;
}

/* Ends a process and starts another with its pid that stops itself. Returns false where a pid cannot be requested. */
static bool replace(pid_t pid)
{
    uint64_t before = process_start(proc, pid);
    end(pid);
    for (int i = 0; i < TRIES; i++) { /* start times have a resolution of 10 ms */
        if (start_stopped_as(pid) < 0) return false;
        if (process_start(proc, pid) != before) return true;
        end(pid);
    }
    return false;
}

static bool was_continued(pid_t pid)
{
    int status;
    return waitpid(pid, &status, WCONTINUED | WNOHANG) == pid;
}

static void only_the_identified_process_is_signalled(void)
{
    pid_t pid = start_command();
    uint64_t start = process_start(proc, pid);
    CHECK(start > 0);
    CHECK(!process_signal(proc, pid, start + 1, SIGKILL));
    CHECK_INT(ESRCH, errno);
    CHECK(!process_signal(proc, pid, 0, SIGKILL));
    CHECK_INT(0, waitpid(pid, NULL, WNOHANG));
    CHECK(process_signal(proc, pid, start, SIGKILL));
    int status = 0;
    CHECK_INT(pid, waitpid(pid, &status, 0));
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(!process_signal(proc, pid, start, SIGKILL));
    CHECK_INT(ESRCH, errno);
}

static void frozen_processes_are_continued(void)
{
    struct freeze h;
    int status;
    pid_t pid = start_command();
    CHECK(freeze_begin(&h));
    CHECK_INT(pid, waitpid(pid, &status, WUNTRACED | WNOHANG));
    CHECK_INT(1, h.count);
    freeze_end(&h);
    CHECK(was_continued(pid));
    end(pid);
}

static void reused_pid_of_a_frozen_process_is_not_continued(void)
{
    struct freeze h;
    pid_t pid = start_command();
    CHECK(freeze_begin(&h));
    if (!replace(pid)) {
        NOT_RUN(reused_pid_of_a_frozen_process_is_not_continued, "no process can be started under a given pid");
        freeze_end(&h);
        return;
    }
    freeze_end(&h);
    CHECK(!was_continued(pid));
    end(pid);
}

static void processes_stopped_by_the_launcher_are_continued(void)
{
    static struct stopped_tree s;
    char why[128];
    int status;
    s.proc = proc;
    pid_t pid = start_command();
    CHECK(quiesce_begin(&s, pid, why, sizeof why));
    CHECK_INT(pid, waitpid(pid, &status, WUNTRACED | WNOHANG));
    quiesce_end(&s);
    CHECK(was_continued(pid));
    end(pid);
}

static void reused_pid_of_a_process_stopped_by_the_launcher_is_not_continued(void)
{
    static struct stopped_tree s;
    char why[128];
    s.proc = proc;
    pid_t pid = start_command();
    CHECK(quiesce_begin(&s, pid, why, sizeof why));
    if (!replace(pid)) {
        NOT_RUN(reused_pid_of_a_process_stopped_by_the_launcher_is_not_continued,
                "no process can be started under a given pid");
        return;
    }
    quiesce_end(&s);
    CHECK(!was_continued(pid));
    end(pid);
}

int main(void)
{
    proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    freeze_prepare();
    RUN(only_the_identified_process_is_signalled);
    RUN(frozen_processes_are_continued);
    RUN(reused_pid_of_a_frozen_process_is_not_continued);
    RUN(processes_stopped_by_the_launcher_are_continued);
    RUN(reused_pid_of_a_process_stopped_by_the_launcher_is_not_continued);
    return check_result();
}
