/*
 * Boots a sandbox: joins its control groups, puts its root together in a mount namespace of its own, enters its user
 * namespace and becomes the program that isolates it (bubblewrap, an OCI runtime). All of it ends with the sandbox's
 * processes; nothing is mounted where the host could see it. Reads a plan on its standard input, waits until the agent
 * says that it is ready, and prints one line: "ready pid=P start=T namespaces=pid" or "error WHY". When nobody is left
 * who could read that line, the sandbox ends.
 *
 * Steps of a plan, one after the other (PATH is inside the sandbox, FILE on the host):
 *   cgroup FILE                       join by a cgroup.procs
 *   score N                           oom_score_adj
 *   priority N                        nice value; a caller that may not lower it keeps what it has
 *   spread FILE                       the folders in this one lie far from one another on the disk, where that can be
 *   network FILE                      enter a network namespace
 *   users INSIDE OUTSIDE COUNT [limited]
 *                                     a user namespace for `mapped` mounts and `enter`; see users.h for `limited`
 *   self [UID GID] [limited]          be root in a user namespace of our own; for callers that are not root. With a
 *                                     subordinate user and group, what is bound as `public` is opened in their name
 *   disk FILE MODEL FOLDER OPTIONS    the file system in FILE, made like MODEL, on a folder of the host: see disk.h
 *   make FOLDER MODE UID GID [LIKE FIRST]
 *                                     a folder of the host, unless it is there: see folders.h
 *   stage                             a mount namespace, and an empty root in it
 *   folder PATH MODE UID GID          link TARGET PATH          file PATH CONTENT
 *   copy FILE PATH                    a file that everybody on the host may read; none where there is none
 *   bind FILE PATH [ro] [mapped] [deep]                         tmpfs PATH OPTIONS
 *   bind FILE PATH ro deep public     what everybody may read of it, where there is another user than root to tell
 *   overlay LOWER UPPER WORK PATH [mapped] [self]               mask PATH
 *   workspace PATH UPPER WORK [FILE FROM TO]...
 *                                     UPPER alone, or over layers, the topmost first; a layer's owners from FROM on are
 *                                     seen as those from TO on
 *   again PATH OTHER                  a workspace over layers once more, read only; nothing for one without
 *   reserve                           /.isola as a folder of its own: what is mounted before must not land on it, nor on
 *                                     /proc, /dev, /sys or the root itself, by whatever link
 *   lock                              /.isola read only
 *   devices UID                       /dev, with what harms nobody, terminals of its own and memory to share
 *   seal                              the root itself read only, not what is mounted in it
 *   beside FILE NAME                  a folder beside the root, read only
 *   bundle UID CONTENT                a bundle for an OCI runtime beside the root, a folder for its state, and the user
 *                                     namespace as a file
 *   cover FILE                        an empty folder in its place; for the program, not the sandbox
 *   protect FILE                      read only, with all that is mounted beneath; likewise
 *   listen FILE N                     a unix socket that listens, as descriptor N
 *   open FILE N                       a file, readable, as descriptor N
 *   filter N [setuid]                 the filter of system calls as descriptor N, for the program to install; with
 *                                     `setuid` it lets setuid files be made
 *   boot BYTES                        what the agent reads from its standard input
 *   environment NAME=VALUE            of the program
 *   loose                             processes do not end with the agent; says "namespaces=none"
 *   kept FILE LINE                    while FILE has that line the sandbox is stopped, and its control groups stay; see
 *                                     afterwards.h
 *   enter                             become root of the user namespace made by `users`, or of one without the other
 *                                     user of `self`
 *   run PROGRAM ARGUMENT...           last
 *
 * A plan that ends with the step push or mend changes a sandbox that runs instead: see push.h. One that ends with merge
 * makes one layer of several: see merge.h. With `untouched FOLDER UID LIKE FIRST` it says "yes" or "no", with
 * `remove FILE...` it says "done".
 *
 * Called as `isola-launch serve FILE` it listens on that socket instead, says "ready", and follows a plan for each who
 * connects, in a process of its own: the plan comes behind its length, u32, and the line goes back. A process that is
 * there already is begun much sooner than a program. It ends with its standard input; a process of it stays until the
 * sandboxes that it booted have ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "afterwards.h"
#include "basics.h"
#include "groups.h"
#include "plan.h"
#include "ready.h"
#include "steps.h"

static _Noreturn void follow(struct plan *plan, int report, int errors)
{
    setsid();
    signal(SIGPIPE, SIG_DFL);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (dup2(report, 1) < 0 || dup2(errors, 2) < 0) _exit(1);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) dup2(null, 0);
    /* Descriptors 3 to 9 are given out by the plan; what we were given ourselves goes nowhere. */
    for (int fd = 3; fd < OUT_OF_THE_WAY; fd++) close(fd);
    steps_take(plan);
}

static _Noreturn void answer(struct plan *plan)
{
    answer_failures();
    dup2(1, 2);
    steps_take(plan);
}

/* Goes on when nobody waits for the answer any more: it might have stopped the sandbox. */
static _Noreturn void push_layer(struct plan *plan)
{
    setsid();
    signal(SIGPIPE, SIG_IGN);
    answer(plan);
}

/* In a process of its own: who makes user namespaces leaves children to its parent. It ends with who wants it. */
static int merge_layers(struct plan *plan)
{
    const struct timespec pause = {0, 100000000};
    pid_t wants = getppid(), ended;
    sigset_t children;
    int status;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    pid_t child = fork();
    if (child < 0) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    if (child == 0) {
        setpriority(PRIO_PROCESS, 0, 10); /* others are in more of a hurry */
        answer(plan);
    }
    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        if (getppid() != wants) return 1;
        sigtimedwait(&children, NULL, &pause);
    }
    return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static bool ends_with(const struct plan *plan, const char *verb)
{
    return strcmp(plan->steps[plan->count - 1].words[0], verb) == 0;
}

/* Follows one plan, of which `length` bytes are to be read. */
static int launch(size_t length)
{
    static struct plan plan;
    const char *problem = plan_read(0, length, &plan);
    int report[2], errors[2], yes = 1;
    if (problem) {
        printf("error %s\n", problem);
        return 1;
    }
    if (ends_with(&plan, "push") || ends_with(&plan, "mend") || ends_with(&plan, "untouched")
        || ends_with(&plan, "remove"))
        push_layer(&plan);
    if (ends_with(&plan, "merge")) return merge_layers(&plan);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, report) != 0 || pipe2(errors, O_CLOEXEC) != 0
        || setsockopt(report[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    pid_t child = group_fork(&plan);
    if (child < 0) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    if (child == 0) follow(&plan, high(report[1]), high(errors[1]));
    close(report[1]);
    close(errors[1]);
    return ready_await(report[0], errors[0], &plan, child);
}

/* The length of a plan comes first: who sends it goes on to listen. */
static int launch_for(int connection)
{
    uint8_t length[4];
    struct ucred peer = {0};
    socklen_t room = sizeof peer;
    signal(SIGCHLD, SIG_DFL);
    if (dup2(connection, 0) < 0 || dup2(connection, 1) < 0) return 1;
    close(connection);
    if (getsockopt(0, SOL_SOCKET, SO_PEERCRED, &peer, &room) != 0 || peer.uid != geteuid()) return 1;
    if (recv(0, length, sizeof length, MSG_WAITALL) != (ssize_t)sizeof length) return 1;
    return launch((size_t)length[0] << 24 | (size_t)length[1] << 16 | (size_t)length[2] << 8 | length[3]);
}

/* Listens until its standard input ends, with who wants sandboxes. */
static int serve(const char *path)
{
    int listener = listening(path);
    struct pollfd watched[3] = {{0, POLLIN, 0}, {listener, POLLIN, 0}, {afterwards_open(), POLLIN, 0}};
    printf("ready\n");
    fflush(stdout);
    signal(SIGCHLD, SIG_IGN); /* nobody waits for them */
    while (poll(watched, 3, -1) >= 0 || errno == EINTR) {
        if (watched[2].revents) afterwards_note();
        if (watched[0].revents) break;
        int connection = watched[1].revents ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (connection < 0) continue;
        pid_t child = fork();
        if (child == 0) {
            close(listener);
            return launch_for(connection);
        }
        if (child < 0) dprintf(connection, "error %s\n", strerror(errno));
        close(connection);
    }
    unlink(path);
    close(listener);
    afterwards_stay();
    return 0;
}

int main(int count, char **words)
{
    return count == 3 && strcmp(words[1], "serve") == 0 ? serve(words[2]) : launch(PLAN_MAX);
}
