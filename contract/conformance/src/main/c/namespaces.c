/* Namespaces, mounts and roots: creating new ones, entering others, and leaving the own root. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_fsopen 430
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

static bool lives(long pid)
{
    if (pid == 0) _exit(0);
    if (pid > 0) waitpid((pid_t)pid, NULL, 0);
    return pid > 0;
}

/* user-namespace: by each of the three system calls that create one; filters often omit the third */
static void user_namespace(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    struct clone_args how;
    memset(&how, 0, sizeof how);
    how.flags = CLONE_NEWUSER;
    how.exit_signal = SIGCHLD;
    if (lives(syscall(SYS_clone3, &how, sizeof how))) got("clone3 created a user namespace");
    int error = errno;
    if (lives(syscall(SYS_clone, (unsigned long)CLONE_NEWUSER | SIGCHLD, 0UL, 0UL, 0UL, 0UL)))
        got("clone created a user namespace");
    if (errno != ENOSYS) error = errno;
    if (unshare(CLONE_NEWUSER) == 0) got("unshare created a user namespace");
    failed(error, "a user namespace");
}

/* namespaces: all other kinds */
static void other_namespaces(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    static const int kinds[] = {CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP};
    int error = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (unshare(kinds[i]) == 0) got("unshare created a namespace (%x)", (unsigned)kinds[i]);
        error = errno;
    }
    failed(error, "unshare");
}

static void enter(pid_t pid, void *context)
{
    static const char *const kinds[] = {"mnt", "pid", "net", "ipc", "uts", "cgroup"};
    int *error = context;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, kinds[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            if (errno != ENOENT) *error = errno;
            continue;
        }
        if (setns(fd, 0) == 0) got("entered %s", path);
        *error = errno;
        close(fd);
    }
}

/* enter VICTIM: enters its namespaces; succeeds even if they are the same, because the permission is what counts */
static void enter_namespaces(int count, char **arguments)
{
    (void)count;
    int error = ENOENT;
    each_process(arguments[0], enter, &error);
    failed(error, "setns");
}

/* Uses a new mount namespace if possible; otherwise the mount is removed right away. */
static void be_private(void)
{
    if (unshare(CLONE_NEWNS) == 0) mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* mount FOLDER */
static void mount_something(int count, char **arguments)
{
    (void)count;
    be_private();
    if (mkdir(arguments[0], 0700) != 0 && errno != EEXIST) refused(errno, "creating %s", arguments[0]);
    int result = mount("none", arguments[0], "tmpfs", MS_NOSUID | MS_NODEV, "size=4k");
    int error = errno;
    if (result == 0) umount2(arguments[0], MNT_DETACH);
    rmdir(arguments[0]);
    if (result == 0) got("mounted a tmpfs");
    failed(error, "mount");
}

/* mount-calls: the newer system calls. fsopen and open_tree check for CAP_SYS_ADMIN first and change nothing. */
static void mount_calls(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    if (syscall(SYS_fsopen, "tmpfs", 1 /* FSOPEN_CLOEXEC */) >= 0) got("fsopen");
    int error = errno;
    if (syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC) >= 0) got("open_tree");
    failed(error == ENOSYS ? errno : error, "fsopen, open_tree");
}

/* unmount FOLDER: FOLDER is not a mount point, so the call fails with EINVAL after the check for CAP_SYS_ADMIN */
static void unmount(int count, char **arguments)
{
    (void)count;
    if (mkdir(arguments[0], 0700) != 0 && errno != EEXIST) refused(errno, "creating %s", arguments[0]);
    long result = umount2(arguments[0], MNT_DETACH);
    int error = errno;
    rmdir(arguments[0]);
    errno = error;
    gate("umount", result, OPEN_ERRORS(EINVAL));
}

/* remount FOLDER: likewise; this is how a read-only mount becomes writable */
static void remount(int count, char **arguments)
{
    (void)count;
    if (mkdir(arguments[0], 0700) != 0 && errno != EEXIST) refused(errno, "creating %s", arguments[0]);
    long result = mount(NULL, arguments[0], NULL, MS_BIND | MS_REMOUNT, NULL);
    int error = errno;
    rmdir(arguments[0]);
    errno = error;
    gate("remount", result, OPEN_ERRORS(EINVAL));
}

/* Missing folders fail with ENOENT after the check for CAP_SYS_ADMIN. */
static void pivot_root(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    if (syscall(SYS_pivot_root, "/nonexistent", "/nonexistent") < 0 && errno == ENOENT)
        got("pivot_root: allowed, only the folder is missing");
    failed(errno, "pivot_root");
}

/* chroot FOLDER PATH ID: the classic chroot escape, a second root beneath the working directory */
static void climb_out(int count, char **arguments)
{
    (void)count;
    static char content[4096];
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (here < 0) refused(errno, ".");
    if (mkdir(arguments[0], 0700) != 0 && errno != EEXIST) refused(errno, "creating %s", arguments[0]);
    int result = chroot(arguments[0]);
    int error = errno;
    unlinkat(here, arguments[0], AT_REMOVEDIR);
    if (result != 0) failed(error, "chroot");
    if (fchdir(here) != 0) refused(errno, "fchdir");
    for (int i = 0; i < 64; i++)
        if (chdir("..") != 0) refused(errno, "..");
    if (chroot(".") != 0) refused(errno, "the second chroot");
    ssize_t n = read_file(arguments[1], content, sizeof content);
    if (n >= 0 && holds(content, (size_t)n, mark_of(arguments[2]))) got("left the chroot and read %s", arguments[1]);
    refused(0, "left the chroot, but the host is not visible");
}

/* handle TYPE HEX ID: opens a file by its handle, bypassing paths, from any folder on the same file system */
static void by_handle(int count, char **arguments)
{
    (void)count;
    static const char *const folders[] = {".", "/", "/usr", "/etc", "/tmp", "/var", "/home", "/root", "/opt"};
    static char room[sizeof(struct file_handle) + MAX_HANDLE_SZ], content[256];
    struct file_handle *handle = (struct file_handle *)room;
    size_t length = strlen(arguments[1]) / 2;
    if (length == 0 || length > MAX_HANDLE_SZ) absent("the file has no handle");
    handle->handle_type = atoi(arguments[0]);
    handle->handle_bytes = (unsigned)length;
    for (size_t i = 0; i < length; i++) {
        char digits[3] = {arguments[1][2 * i], arguments[1][2 * i + 1], 0};
        handle->f_handle[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    int error = ENOENT;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int folder = open(folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0) continue;
        int fd = open_by_handle_at(folder, handle, O_RDONLY | O_CLOEXEC);
        if (fd < 0) error = errno == ESTALE ? error : errno;
        close(folder);
        if (fd < 0) continue;
        ssize_t n = read(fd, content, sizeof content);
        close(fd);
        if (n > 0 && holds(content, (size_t)n, mark_of(arguments[2])))
            got("opened it by its handle from %s", folders[i]);
    }
    failed(error, "open_by_handle_at");
}

/* Tests whether a control group can be changed: its limits, its members, its release agent. */
static void try_group(const char *folder, const char *const *names, size_t count, int *error)
{
    for (size_t i = 0; i < count; i++) {
        char path[4400];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (opens_for_writing(path)) got("%s can be written", path);
        if (errno != ENOENT) *error = errno;
    }
}

static void each_group(void (*each)(const char *folder, int *error), int *error)
{
    static char table[1 << 17];
    ssize_t n = read_file("/proc/self/mountinfo", table, sizeof table - 1);
    if (n < 0) failed(errno, "/proc/self/mountinfo");
    for (char *line = strtok(table, "\n"); line; line = strtok(NULL, "\n")) {
        char folder[4096];
        if (strstr(line, " - cgroup") && sscanf(line, "%*s %*s %*s %*s %4095s", folder) == 1) each(folder, error);
    }
}

static void try_limits(const char *folder, int *error)
{
    static const char *const names[] = {"memory.max",       "memory.limit_in_bytes", "pids.max",      "cpu.max",
                                        "cpu.cfs_quota_us", "cgroup.procs",          "freezer.state", "cgroup.freeze",
                                        "devices.allow",    "cgroup.subtree_control"};
    try_group(folder, names, sizeof names / sizeof *names, error);
}

/* control-groups: limits and members in every mounted hierarchy */
static void control_groups(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    int error = ENOENT;
    each_group(try_limits, &error);
    try_limits("/sys/fs/cgroup", &error);
    failed(error, "control groups");
}

static void try_release_agent(const char *folder, int *error)
{
    static const char *const names[] = {"release_agent"};
    try_group(folder, names, 1, error);
}

/* release-agent FOLDER: in mounted hierarchies, and in existing ones that can be mounted again */
static void release_agent(int count, char **arguments)
{
    (void)count;
    static char table[8192];
    int error = ENOENT;
    each_group(try_release_agent, &error);
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP) != 0)
        failed(error == ENOENT ? errno : error, "release_agent");
    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    mkdir(arguments[0], 0700);
    ssize_t n = read_file("/proc/cgroups", table, sizeof table - 1);
    if (n < 0) failed(errno, "/proc/cgroups");
    for (char *line = strtok(table, "\n"); line; line = strtok(NULL, "\n")) {
        char name[64];
        int hierarchy;
        if (sscanf(line, "%63s %d", name, &hierarchy) != 2 || hierarchy == 0) continue;
        if (mount("none", arguments[0], "cgroup", 0, name) != 0) {
            error = errno;
            continue;
        }
        try_release_agent(arguments[0], &error);
        umount2(arguments[0], MNT_DETACH);
    }
    rmdir(arguments[0]);
    failed(error, "release_agent");
}

const struct probe namespace_probes[] = {{"user-namespace", 0, user_namespace},
                                         {"namespaces", 0, other_namespaces},
                                         {"enter", 1, enter_namespaces},
                                         {"mount", 1, mount_something},
                                         {"mount-calls", 0, mount_calls},
                                         {"unmount", 1, unmount},
                                         {"remount", 1, remount},
                                         {"pivot-root", 0, pivot_root},
                                         {"chroot", 3, climb_out},
                                         {"handle", 3, by_handle},
                                         {"control-groups", 0, control_groups},
                                         {"release-agent", 1, release_agent},
                                         {0}};
