/*
 * Boots a sandbox: joins its cgroups, assembles its root in a new mount namespace, enters its user namespace and
 * executes the program that isolates it (bubblewrap or an OCI runtime). All mounts disappear with the sandbox's
 * processes; none is visible to the host. The launcher reads a plan from standard input, waits until the agent reports
 * that it is ready, and prints one line: "ready pid=P start=T namespaces=pid" or "error WHY". If the reader of that
 * line disappears, the launcher ends the sandbox.
 *
 * Steps of a plan, taken in order (PATH is inside the sandbox, FILE on the host):
 *    cgroup FILE                       join the cgroup of a cgroup.procs file
 *    score N                           set oom_score_adj
 *    priority N                        set the nice value; ignored if the caller may not lower it
 *    spread FILE                       let ext4 place the subfolders of FILE far apart on the disk
 *    network FILE                      enter a network namespace
 *    users INSIDE OUTSIDE COUNT [limited]
 *                                      create a user namespace for `mapped` mounts and `enter`, created by user OUTSIDE;
 *                                      `limited`: see users.h
 *    self [UID GID] [limited]          become root in a new user namespace, for a server without root. With
 *                                      a subordinate user and group, `public` mounts are opened with their ids
 *    disk FILE MODEL FOLDER OPTIONS    mount the file system in FILE, created from MODEL, on a host folder: see disk.h
 *    make FOLDER MODE UID GID [LIKE FIRST]
 *                                      create a host folder unless it exists: see folders.h
 *    stage                             create a mount namespace with an empty root in it, and next to it files to mount
 *                                      over those of the kernel: an empty one, and a new boot id
 *    folder PATH MODE UID GID          link TARGET PATH          file PATH CONTENT
 *    copy FILE PATH                    copy a world-readable host file; ignored if there is none
 *    bind FILE PATH [ro] [mapped] [deep]                         tmpfs PATH OPTIONS
 *    bind FILE PATH ro deep public     bind only what is world-readable, if `self` has a subordinate user
 *    overlay LOWER UPPER WORK PATH [mapped] [self]               mask PATH
 *    workspace PATH UPPER WORK [FILE FROM TO]...
 *                                      mount UPPER alone or over layers, the topmost first; the owners of a layer are
 *                                      shifted from FROM to TO
 *    again PATH OTHER                  mount a layered workspace a second time, read-only; ignored if it has no layers
 *    reserve                           create /.isola; no earlier mount may be on it, on /proc, /dev, /sys or on the
 *                                      root itself, not even through a symbolic link
 *    lock                              make /.isola read-only
 *    devices UID                       mount /dev with harmless devices, private terminals and shared memory
 *    seal                              make the root itself read-only, but not the mounts in it
 *    beside FILE NAME [writable]       bind a folder next to the root, read-only unless it is writable
 *    fill OUT SPARE FIRST FILE FROM    copy files with other owners: see merge.h
 *    bundle UID CONTENT                create an OCI bundle next to the root, a folder for the runtime's state, and the
 *                                      user namespace as a file
 *    cover FILE                        cover a host folder with an empty one; affects the program, not the sandbox
 *    protect FILE                      make a host folder and all mounts in it read-only; likewise
 *    listen FILE N                     listen on a unix socket, as descriptor N
 *    open FILE N                       open a file for reading, as descriptor N
 *    filter N [setuid]                 put the seccomp filter into descriptor N, for the program to install; `setuid`
 *                                      permits the creation of setuid files
 *    boot BYTES                        pass BYTES to the agent on its standard input
 *    environment NAME=VALUE            add to the environment of the program
 *    loose                             processes outlive the agent; the answer says "namespaces=none"
 *    restored FILE                     the program exits once the sandbox runs, with the pid of its first process in FILE
 *    machine FILE                      the program is a virtual machine, which runs once it has created the socket FILE
 *    kept FILE LINE                    keep the cgroups as long as FILE contains LINE, the mark of a stopped sandbox;
 *                                      see cgroup_cleanup.h
 *    enter                             become root of the user namespace created by `users`, or of one without the
 *                                      subordinate user of `self`
 *    run PROGRAM ARGUMENT...           execute the program, a path or a name on the PATH of the launcher; always last. It
 *                                      is looked up before `stage`, and also found where that covers its path
 *
 * A plan that ends with `push` or `mend` changes a running sandbox: see commit.h. A plan that ends with `merge` merges
 * layers: see merge.h. A plan that ends with `untouched FOLDER UID LIKE FIRST` answers "yes" or "no"; one that ends
 * with `remove FILE...` answers "done", and so does one that ends with `call PROGRAM ARGUMENT...`, once the program has
 * exited with success.
 * A plan that ends with `boot-id` changes a running sandbox: see boot_id.h.
 *
 * `isola-launch serve FILE` listens on a unix socket instead, prints "ready" and forks a process for each connection,
 * which is faster than executing a program. A client sends the length of the plan as a u32, then the plan, and receives
 * the line. The launcher exits when its standard input closes; a detached process remains until the sandboxes it booted
 * have ended.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_cleanup.h"
#include "common.h"
#include "cgroups.h"
#include "plan.h"
#include "ready.h"
#include "steps.h"

static _Noreturn void run_boot(struct plan *plan, int report, int errors)
{
    setsid();
    signal(SIGPIPE, SIG_DFL);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (dup2(report, 1) < 0 || dup2(errors, 2) < 0) _exit(1);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) dup2(null, 0);
    /* The plan assigns descriptors 3 to 9; inherited ones must not reach the program. */
    for (int fd = 3; fd < FIRST_PRIVATE_FD; fd++) close(fd);
    steps_run(plan);
}

static _Noreturn void run_and_answer(struct plan *plan)
{
    answer_failures();
    dup2(1, 2);
    steps_run(plan);
}

/* Continues after the client has disconnected: the sandbox may be stopped at that moment. */
static _Noreturn void run_detached(struct plan *plan)
{
    setsid();
    signal(SIGPIPE, SIG_IGN);
    run_and_answer(plan);
}

/*
 * Runs in a child: processes that create user namespaces leave children to their parent. Exits when the client exits.
 */
static int merge_layers(struct plan *plan)
{
    const struct timespec pause = {0, 100000000};
    pid_t client = getppid(), ended;
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
        setpriority(PRIO_PROCESS, 0, 10); /* yield to latency-sensitive work */
        run_and_answer(plan);
    }
    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        if (getppid() != client) return 1;
        sigtimedwait(&children, NULL, &pause);
    }
    return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static bool ends_with(const struct plan *plan, const char *verb)
{
    return strcmp(plan->steps[plan->count - 1].words[0], verb) == 0;
}

/* Executes one plan of `length` bytes. */
static int run_plan(size_t length)
{
    static struct plan plan;
    const char *problem = plan_read(0, length, &plan);
    int report[2], errors[2], yes = 1;
    if (problem) {
        printf("error %s\n", problem);
        return 1;
    }
    if (ends_with(&plan, "push") || ends_with(&plan, "mend") || ends_with(&plan, "untouched")
        || ends_with(&plan, "remove") || ends_with(&plan, "call") || ends_with(&plan, "boot-id"))
        run_detached(&plan);
    if (ends_with(&plan, "merge")) return merge_layers(&plan);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, report) != 0 || pipe2(errors, O_CLOEXEC) != 0
        || setsockopt(report[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    pid_t child = cgroup_fork(&plan);
    if (child < 0) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    if (child == 0) run_boot(&plan, move_fd_up(report[1]), move_fd_up(errors[1]));
    close(report[1]);
    close(errors[1]);
    return ready_await(report[0], errors[0], &plan, child);
}

/* The length precedes the plan, because the client keeps its end open to read the answer. */
static int serve_connection(int connection)
{
    uint8_t length[4];
    struct ucred peer = {0};
    socklen_t room = sizeof peer;
    signal(SIGCHLD, SIG_DFL);
    if (dup2(connection, 0) < 0 || dup2(connection, 1) < 0) return 1;
    close(connection);
    if (getsockopt(0, SOL_SOCKET, SO_PEERCRED, &peer, &room) != 0 || peer.uid != geteuid()) return 1;
    if (recv(0, length, sizeof length, MSG_WAITALL) != (ssize_t)sizeof length) return 1;
    return run_plan((size_t)length[0] << 24 | (size_t)length[1] << 16 | (size_t)length[2] << 8 | length[3]);
}

/* Serves until standard input closes, which happens when the server exits. */
static int serve(const char *path)
{
    int listener = listen_on(path);
    struct pollfd watched[3] = {{0, POLLIN, 0}, {listener, POLLIN, 0}, {cleanup_open(), POLLIN, 0}};
    printf("ready\n");
    fflush(stdout);
    signal(SIGCHLD, SIG_IGN); /* children are not waited for */
    while (poll(watched, 3, -1) >= 0 || errno == EINTR) {
        if (watched[2].revents) cleanup_receive();
        if (watched[0].revents) break;
        int connection = watched[1].revents ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (connection < 0) continue;
        pid_t child = fork();
        if (child == 0) {
            close(listener);
            return serve_connection(connection);
        }
        if (child < 0) dprintf(connection, "error %s\n", strerror(errno));
        close(connection);
    }
    unlink(path);
    close(listener);
    cleanup_detach();
    return 0;
}

int main(int count, char **words)
{
    umask(022); /* users of a sandbox pass through the folders of its root, whatever the umask of the server is */
    return count == 3 && strcmp(words[1], "serve") == 0 ? serve(words[2]) : run_plan(PLAN_MAX);
}
