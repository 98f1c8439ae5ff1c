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
 *   spread FILE                       the folders in this one lie far from one another on the disk, where that can be
 *   network FILE                      enter a network namespace
 *   users INSIDE OUTSIDE COUNT        a user namespace for `mapped` mounts and `enter`
 *   self                              be root in a user namespace of our own; for who is not root
 *   stage                             a mount namespace, and an empty root in it
 *   folder PATH MODE UID GID          link TARGET PATH          file PATH CONTENT
 *   bind FILE PATH [ro] [mapped] [deep]                         tmpfs PATH OPTIONS
 *   overlay LOWER UPPER WORK PATH [mapped] [self]               mask PATH
 *   workspace PATH UPPER WORK [FILE FROM TO]...
 *                                     UPPER alone, or over layers, the topmost first; a layer's owners from FROM on are
 *                                     seen as those from TO on
 *   again PATH OTHER                  a workspace over layers once more, read only; nothing for one without
 *   devices UID                       /dev, with what harms nobody, terminals of its own and memory to share
 *   seal                              the root itself read only, not what is mounted in it
 *   beside FILE NAME                  a folder beside the root, read only
 *   bundle UID CONTENT                a bundle for an OCI runtime beside the root, and a folder for its state
 *   cover FILE                        an empty folder in its place; for the program, not the sandbox
 *   protect FILE                      read only, with all that is mounted beneath; likewise
 *   listen FILE N                     a unix socket that listens, as descriptor N
 *   open FILE N                       a file, readable, as descriptor N
 *   boot BYTES                        what the agent reads from its standard input
 *   environment NAME=VALUE            of the program
 *   loose                             processes do not end with the agent; says "namespaces=none"
 *   enter                             become root of the user namespace made by `users`
 *   run PROGRAM ARGUMENT...           last
 *
 * A plan that ends with the step push or mend changes a sandbox that runs instead: see push.h. One that ends with merge
 * makes one layer of several: see merge.h.
 *
 * Called as `isola-launch serve FILE` it listens on that socket instead, says "ready", and follows a plan for each who
 * connects, in a process of its own: the plan comes behind its length, u32, and the line goes back. A process that is
 * there already is begun much sooner than a program. It ends with its standard input.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "merge.h"
#include "mounts.h"
#include "plan.h"
#include "push.h"

enum { OUT_OF_THE_WAY = 100, ENVIRONMENT_MAX = 64, BACKLOG = 16, ABANDON_ROUNDS = 200, ABANDON_PAUSE_US = 10000 };

static int users_fd = -1;
static bool own_namespace;
static bool layered; /* the workspace lies on layers */
static bool alone; /* no sandbox is booted: what is wrong is the answer */
static char *environment[ENVIRONMENT_MAX + 1];
static int variables;

static void fail(const char *format, ...)
{
    int error = errno;
    va_list arguments;
    if (alone) fputs("error ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (error) fprintf(stderr, ": %s", strerror(error));
    fputc('\n', stderr);
    _exit(1);
}

static int high(int fd)
{
    if (fd < 0) return -1;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
    close(fd);
    return moved;
}

static void open_source(struct step *s, int source, int word)
{
    s->sources[source] = high(open(s->words[word], O_PATH | O_CLOEXEC));
    if (s->sources[source] < 0) fail("cannot open %s", s->words[word]);
}

static void open_folders(struct step *s)
{
    for (int i = FIRST_RENAME; i < s->count && i - FIRST_RENAME < SOURCES_MAX; i++) {
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%s", s->words[i]);
        char *slash = strrchr(folder, '/');
        errno = EINVAL;
        if (!slash || slash == folder) fail("cannot rename %s", s->words[i]);
        *slash = 0;
        s->sources[i - FIRST_RENAME] = high(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (s->sources[i - FIRST_RENAME] < 0) fail("cannot open %s", folder);
    }
}

/* Opens what mounts are made from: in our own mount namespace, and before the stage covers anything. */
static void open_sources(struct plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        struct step *s = &plan->steps[i];
        bool one = strcmp(s->words[0], "bind") == 0 || strcmp(s->words[0], "beside") == 0;
        int count = one ? 1 : strcmp(s->words[0], "overlay") == 0 ? 3 : 0;
        for (int k = 0; k < count && k + 1 < s->count; k++) open_source(s, k, k + 1);
        if (strcmp(s->words[0], "push") == 0 || strcmp(s->words[0], "mend") == 0) open_folders(s);
        if (strcmp(s->words[0], "workspace") != 0 || s->count < 4) continue;
        open_source(s, 0, 2);
        if (s->count > 4) open_source(s, 1, 3);
        for (int k = 2; k < SOURCES_MAX && 3 * k < s->count; k++) open_source(s, k, 3 * k - 2);
    }
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    int error = errno;
    close(fd);
    errno = error;
    return ok;
}

/* How long the path of a group's folder is, its slash included; 0 for what is no cgroup.procs. */
static size_t folder_length(const char *procs)
{
    static const char name[] = "cgroup.procs";
    size_t length = strlen(procs), rest = sizeof name - 1;
    return length > rest && strcmp(procs + length - rest, name) == 0 ? length - rest : 0;
}

/*
 * Joins a control group of version 1. A write to cgroup.procs makes the kernel wait until no process of the machine is
 * just forking, many milliseconds; a thread that moves only itself need not wait for that, and we have one thread. That
 * is what `tasks` does.
 */
static bool join(const char *procs)
{
    char tasks[PATH_MAX];
    size_t folder = folder_length(procs);
    if (folder > 0 && folder < sizeof tasks - sizeof "tasks") {
        snprintf(tasks, sizeof tasks, "%.*stasks", (int)folder, procs);
        if (write_text(tasks, "0")) return true;
        if (errno != ENOENT) return false;
    }
    return write_text(procs, "0");
}

/*
 * Forks; the child is born in the plan's control group of version 2, for the same reason, and its step is done. Where
 * the kernel does not do that the child takes the step itself.
 */
static pid_t fork_into_group(struct plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        struct step *s = &plan->steps[i];
        size_t folder = s->count == 2 && strcmp(s->words[0], "cgroup") == 0 ? folder_length(s->words[1]) : 0;
        char path[PATH_MAX];
        struct statfs about;
        if (folder == 0 || folder >= sizeof path) continue;
        snprintf(path, sizeof path, "%.*s", (int)folder, s->words[1]);
        int group = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (group < 0) continue;
        pid_t child = -1;
        if (fstatfs(group, &about) == 0 && about.f_type == CGROUP2_SUPER_MAGIC) {
            struct clone_args arguments = {
                .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)group};
            child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
            if (child == 0) s->words[0][0] = 0; /* taken */
        }
        close(group);
        if (child >= 0) return child;
    }
    return fork();
}

/*
 * ext4 keeps what is made in a folder together, and does not use an inode again for a minute after it was freed: where
 * sandboxes come and go it looks at thousands of those before it finds one. Each folder in a folder that is marked as a
 * top has a part of the disk of its own.
 */
static void spread(const char *folder)
{
    int flags, fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && !(flags & FS_TOPDIR_FL)) {
        flags |= FS_TOPDIR_FL;
        ioctl(fd, FS_IOC_SETFLAGS, &flags); /* other file systems know no such mark */
    }
    close(fd);
}

static bool has(const struct step *s, const char *word)
{
    for (int i = 1; i < s->count; i++)
        if (strcmp(s->words[i], word) == 0) return true;
    return false;
}

/*
 * A user namespace with a range of users, held by a descriptor. Its maker is born in it and gone at once; it is not our
 * child but our parent's, who does not wait for it, so nobody waits here until it has run or ended.
 */
static int make_users(const char *inside, const char *outside, const char *count)
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

static int map_users(const char *from, const char *to)
{
    return make_users(from, to, "65536");
}

static void become_own_root(void)
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

static void join_users(const char *pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/ns/user", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWUSER) != 0) fail("cannot join the user namespace of process %s", pid);
    close(fd);
    own_namespace = true;
}

static void enter_users(void)
{
    if (setns(users_fd, CLONE_NEWUSER) != 0 || setgroups(0, NULL) != 0 || setresgid(0, 0, 0) != 0
        || setresuid(0, 0, 0) != 0)
        fail("cannot enter the user namespace");
}

static void give(int fd, const char *number, const char *what)
{
    if (fd < 0 || dup2(fd, atoi(number)) < 0) fail("cannot open %s", what);
}

/* A socket that only we can connect to. */
static int listening(const char *path)
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
    return high(fd);
}

static void hand_over(const struct step *s)
{
    int fd = memfd_create("isola-boot", MFD_CLOEXEC);
    if (fd < 0 || write(fd, s->words[1], s->lengths[1]) != (ssize_t)s->lengths[1] || lseek(fd, 0, SEEK_SET) != 0
        || dup2(fd, 0) != 0)
        fail("cannot hand over the boot record");
    close(fd);
}

static void need(const struct step *s, int arguments)
{
    errno = 0;
    if (s->count < arguments + 1) fail("the plan's step %s has too few words", s->words[0]);
}

static bool is(const struct step *s, const char *verb, int arguments)
{
    if (strcmp(s->words[0], verb) != 0) return false;
    need(s, arguments);
    return true;
}

static bool take_overlay(const struct step *s, bool mapped)
{
    struct lower lower = {s->sources[0], mapped ? users_fd : -1};
    return stage_overlay(&lower, 1, s->sources[1], s->sources[2], s->words[4], own_namespace ? ",userxattr" : "");
}

/* A folder that was renamed is told by an attribute that only the kernel's own root can set, or not at all. */
static bool take_workspace(const struct step *s)
{
    struct lower lowers[LAYERS_MAX];
    int count = (s->count - 4) / 3;
    errno = E2BIG;
    if (count > LAYERS_MAX) return false;
    layered = count > 0;
    if (!layered) return stage_bind(s->sources[0], s->words[1], (struct mount_options){0}, -1);
    for (int i = 0; i < count; i++) {
        char **layer = s->words + 4 + 3 * i;
        lowers[i].folder = s->sources[2 + i];
        /* Mostly the one above was written by the same sandbox. */
        bool same = i > 0 && strcmp(layer[1], layer[-2]) == 0;
        bool mapped = strcmp(layer[1], layer[2]) != 0;
        lowers[i].userns = same ? lowers[i - 1].userns : mapped ? map_users(layer[1], layer[2]) : -1;
    }
    return stage_overlay(lowers, count, s->sources[0], s->sources[1], s->words[1],
                         own_namespace ? ",userxattr" : ",redirect_dir=on");
}

/* Steps that build the root. True when it was one. */
static bool take_mount_step(struct plan *plan, const struct step *s)
{
    struct mount_options options = {has(s, "ro"), has(s, "mapped"), has(s, "deep"), false};
    bool ok;
    if (is(s, "stage", 0)) {
        ok = unshare(CLONE_NEWNS) == 0;
        if (ok) open_sources(plan);
        ok = ok && stage_open();
    } else if (is(s, "folder", 4)) {
        ok = stage_folder(s->words[1], (mode_t)strtoul(s->words[2], NULL, 8), (uid_t)strtoul(s->words[3], NULL, 10),
                          (gid_t)strtoul(s->words[4], NULL, 10));
    } else if (is(s, "file", 2)) {
        ok = stage_file(s->words[1], s->words[2], s->lengths[2]);
    } else if (is(s, "link", 2)) {
        ok = stage_link(s->words[1], s->words[2]);
    } else if (is(s, "bind", 2)) {
        ok = stage_bind(s->sources[0], s->words[2], options, users_fd);
    } else if (is(s, "tmpfs", 2)) {
        ok = stage_tmpfs(s->words[1], s->words[2]);
    } else if (is(s, "overlay", 4)) {
        ok = take_overlay(s, options.mapped);
    } else if (is(s, "workspace", 3)) {
        ok = take_workspace(s);
    } else if (is(s, "again", 2)) {
        ok = !layered || stage_again(s->words[1], s->words[2]);
    } else if (is(s, "devices", 1)) {
        ok = stage_devices((uid_t)strtoul(s->words[1], NULL, 10));
    } else if (is(s, "mask", 1)) {
        ok = stage_mask(s->words[1]);
    } else if (is(s, "seal", 0)) {
        ok = stage_seal();
    } else if (is(s, "beside", 2)) {
        ok = stage_beside(s->sources[0], s->words[2]);
    } else if (is(s, "bundle", 2)) {
        ok = stage_bundle((uid_t)strtoul(s->words[1], NULL, 10), s->words[2], s->lengths[2]);
    } else if (is(s, "cover", 1)) {
        ok = host_cover(s->words[1]);
    } else if (is(s, "protect", 1)) {
        ok = host_protect(s->words[1]);
    } else {
        return false;
    }
    if (ok) return true;
    if (strcmp(s->words[0], "bundle") == 0) fail("cannot write the bundle");
    fail("%s %s %s", s->words[0], s->count > 1 ? s->words[1] : "", s->count > 2 ? s->words[2] : "");
    return true;
}

static void leave(int code)
{
    fflush(stdout);
    _exit(code);
}

static void take_step(struct plan *plan, struct step *s)
{
    if (take_mount_step(plan, s)) return;
    if (is(s, "", 0)) return; /* done already */
    if (is(s, "cgroup", 1)) {
        if (!join(s->words[1])) fail("cannot join %s", s->words[1]);
    } else if (is(s, "score", 1)) {
        write_text("/proc/self/oom_score_adj", s->words[1]); /* who may not lower it keeps what it has */
    } else if (is(s, "spread", 1)) {
        spread(s->words[1]);
    } else if (is(s, "network", 1)) {
        int fd = open(s->words[1], O_RDONLY | O_CLOEXEC);
        if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) fail("cannot enter the network %s", s->words[1]);
        close(fd);
    } else if (is(s, "users", 3)) {
        users_fd = make_users(s->words[1], s->words[2], s->words[3]);
    } else if (is(s, "self", 0)) {
        become_own_root();
    } else if (is(s, "enter", 0)) {
        enter_users();
    } else if (is(s, "listen", 2)) {
        give(listening(s->words[1]), s->words[2], s->words[1]);
    } else if (is(s, "open", 2)) {
        give(high(open(s->words[1], O_RDONLY | O_CLOEXEC)), s->words[2], s->words[1]);
    } else if (is(s, "boot", 1)) {
        hand_over(s);
    } else if (is(s, "environment", 1)) {
        if (variables == ENVIRONMENT_MAX) fail("too many variables");
        environment[variables++] = s->words[1];
    } else if (is(s, "loose", 0)) {
        /* for who waits */
    } else if (is(s, "join", 1)) {
        join_users(s->words[1]);
    } else if (is(s, "push", 9)) {
        leave(push(s));
    } else if (is(s, "mend", 9)) {
        leave(mend(s));
    } else if (is(s, "merge", FIRST_LAYER)) {
        leave(merge(s, map_users, own_namespace));
    } else if (is(s, "run", 1)) {
        execvpe(s->words[1], s->words + 1, environment);
        fail("cannot execute %s", s->words[1]);
    } else {
        errno = 0;
        fail("the plan has an unknown step: %s", s->words[0]);
    }
}

static void follow(struct plan *plan, int report, int errors)
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
    for (int i = 0; i < plan->count; i++) take_step(plan, &plan->steps[i]);
    errno = 0;
    fail("the plan has no step run");
}

static unsigned long long start_time(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return 0;
    text[n] = 0;
    char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* The next words of the sandbox and, told by the kernel, who says them, as the host numbers processes. */
static ssize_t hear(int fd, char *text, size_t room, pid_t *who)
{
    union { char bytes[CMSG_SPACE(sizeof(struct ucred))]; struct cmsghdr align; } control;
    struct iovec piece = {text, room};
    struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(fd, &m, 0);
    for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(c), sizeof sender);
            *who = sender.pid;
        }
    return n;
}

/* What was said on the way, in one line. */
static void complain(char *text, size_t length)
{
    while (length && (text[length - 1] == '\n' || text[length - 1] == ' ')) length--;
    text[length] = 0;
    for (char *p = text; *p; p++)
        if (*p == '\n' || *p == '\r') *p = ' ';
    printf("error %s\n", length ? text : "the sandbox ended before it was ready");
}

/* Whether the sandbox's processes end with its agent. */
static bool is_loose(const struct plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        if (strcmp(plan->steps[i].words[0], "loose") == 0) return true;
    return false;
}

/* Tells whether somebody was in the plan's control groups; kills them. */
static bool kill_groups(const struct plan *plan)
{
    bool any = false;
    for (int i = 0; i < plan->count; i++) {
        const struct step *s = &plan->steps[i];
        FILE *procs = s->count == 2 && strcmp(s->words[0], "cgroup") == 0 ? fopen(s->words[1], "re") : NULL;
        int pid;
        while (procs && fscanf(procs, "%d", &pid) == 1)
            if (pid > 0 && kill(pid, SIGKILL) == 0) any = true;
        if (procs) fclose(procs);
    }
    return any;
}

/* Nobody will ever know of this sandbox: what was begun of it ends, however far it has come. */
static int abandon(const struct plan *plan, pid_t child)
{
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    for (int round = 0; round < ABANDON_ROUNDS && kill_groups(plan); round++) usleep(ABANDON_PAUSE_US);
    return 1;
}

static int await_ready(int report, int errors, const struct plan *plan, pid_t child)
{
    char said[700], text[256];
    size_t length = 0;
    const char *namespaces = is_loose(plan) ? "none" : "pid";
    /* The last leads to who wants the sandbox: it has an error when the other end is gone. */
    struct pollfd watched[3] = {{report, POLLIN, 0}, {errors, POLLIN, 0}, {1, 0, 0}};
    while (watched[0].fd >= 0 || watched[1].fd >= 0) {
        if (poll(watched, 3, -1) < 0 && errno != EINTR) break;
        if (watched[2].revents & (POLLERR | POLLHUP)) return abandon(plan, child);
        if (watched[1].fd >= 0 && watched[1].revents) {
            char more[256];
            ssize_t n = read(errors, more, sizeof more);
            if (n <= 0) watched[1].fd = -1;
            for (ssize_t i = 0; i < n && length < sizeof said - 1; i++) said[length++] = more[i];
        }
        if (watched[0].fd >= 0 && watched[0].revents) {
            pid_t who = 0;
            ssize_t n = hear(report, text, sizeof text - 1, &who);
            if (n <= 0) {
                watched[0].fd = -1;
                continue;
            }
            text[n] = 0;
            if (strncmp(text, "ready", 5) == 0 && who > 0) {
                printf("ready pid=%d start=%llu namespaces=%s\n", (int)who, start_time(who), namespaces);
                return 0;
            }
            for (ssize_t i = 0; i < n && length < sizeof said - 1; i++) said[length++] = text[i];
        }
    }
    complain(said, length);
    return 1;
}

static int take_steps(struct plan *plan)
{
    alone = true;
    dup2(1, 2);
    for (int i = 0; i < plan->count; i++) take_step(plan, &plan->steps[i]);
    return 1; /* not reached: the last step was taken */
}

/* Goes on when nobody waits for the answer any more: it might have stopped the sandbox. */
static int push_layer(struct plan *plan)
{
    setsid();
    signal(SIGPIPE, SIG_IGN);
    return take_steps(plan);
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
        return take_steps(plan);
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
    if (ends_with(&plan, "push") || ends_with(&plan, "mend")) return push_layer(&plan);
    if (ends_with(&plan, "merge")) return merge_layers(&plan);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, report) != 0 || pipe2(errors, O_CLOEXEC) != 0
        || setsockopt(report[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    pid_t child = fork_into_group(&plan);
    if (child < 0) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    if (child == 0) follow(&plan, high(report[1]), high(errors[1]));
    close(report[1]);
    close(errors[1]);
    return await_ready(report[0], errors[0], &plan, child);
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
    struct pollfd watched[2] = {{0, POLLIN, 0}, {listener, POLLIN, 0}};
    printf("ready\n");
    fflush(stdout);
    signal(SIGCHLD, SIG_IGN); /* nobody waits for them */
    while (poll(watched, 2, -1) >= 0 || errno == EINTR) {
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
    return 0;
}

int main(int count, char **words)
{
    return count == 3 && strcmp(words[1], "serve") == 0 ? serve(words[2]) : launch(PLAN_MAX);
}
