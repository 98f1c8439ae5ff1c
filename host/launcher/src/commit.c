#include "commit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "mounts.h"
#include "process_signal.h"
#include "quiesce.h"

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000
#endif
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
enum { NO_SYMLINKS = 0x04, FOLDER_PAIRS = 2, SANDBOX_FOLDER = 2, LAST_PENDING = 6 };
struct how {
    uint64_t flags, mode, resolve;
};

static struct stopped_tree stopped;
static int launcher_mounts = -1, sandbox_mounts = -1;
static char why[512];

static bool explain(const char *what)
{
    snprintf(why, sizeof why, "%s: %s", what, strerror(errno));
    return false;
}

static bool enter_mounts(int mounts)
{
    return setns(mounts, CLONE_NEWNS) == 0 || explain("cannot enter the mount namespace");
}

/* Opens a path without following symbolic links, which the sandbox could have created. */
static int open_plain(const char *path)
{
    struct how how = {.flags = O_PATH | O_CLOEXEC, .resolve = NO_SYMLINKS};
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/* Returns the last name of a path to rename; its folder is open. */
static const char *name_of(const struct step *s, int path)
{
    return strrchr(s->words[FIRST_RENAME + path], '/') + 1;
}

/* Reports whether a mount is the workspace. Processes in the sandbox cannot mount anything else in its place. */
static bool is_workspace(int point, const struct step *s, struct statx *about)
{
    struct stat now;
    struct statfs system;
    if (statx(point, "", AT_EMPTY_PATH, STATX_MNT_ID | STATX_INO, about) != 0 || fstatfs(point, &system) != 0)
        return false;
    bool same = fstatat(s->sources[0], name_of(s, 0), &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == about->stx_ino
                && now.st_dev == makedev(about->stx_dev_major, about->stx_dev_minor);
    errno = ENOENT;
    return (about->stx_attributes & STATX_ATTR_MOUNT_ROOT) && (same || system.f_type == OVERLAYFS_SUPER_MAGIC);
}

/* A mount inside the workspace would be covered by the new one. */
static bool has_mounts(pid_t pid, const char *path)
{
    char at[64], line[4352], point[4096];
    size_t length = strlen(path);
    snprintf(at, sizeof at, "%d/mountinfo", (int)pid);
    int fd = openat(stopped.proc, at, O_RDONLY | O_CLOEXEC);
    FILE *lines = fd >= 0 ? fdopen(fd, "r") : NULL;
    bool found = !lines;
    while (lines && !found && fgets(line, sizeof line, lines))
        found = sscanf(line, "%*d %*d %*s %*s %4095s", point) == 1 && strncmp(point, path, length) == 0
                && point[length] == '/';
    if (lines) fclose(lines);
    return found;
}

static bool is_same_process(pid_t pid, const char *start)
{
    return process_start(stopped.proc, pid) == strtoull(start, NULL, 10);
}

static bool set_read_only(int point, bool on)
{
    struct {
        uint64_t set, clear, propagation, userns;
    } attributes = {on ? 1 : 0, on ? 0 : 1, 0, 0};
    return syscall(SYS_mount_setattr, point, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0;
}

static bool mount_at(int tree, int point)
{
    unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
    return syscall(SYS_move_mount, tree, "", point, "", flags) == 0 || explain("cannot mount the workspace");
}

static bool rename_one(const struct step *s, int pair, bool back)
{
    int old = 2 * pair + back, new = 2 * pair + !back;
    return renameat(s->sources[old], name_of(s, old), s->sources[new], name_of(s, new)) == 0;
}

static bool rename_pairs(const struct step *s, int from, int to)
{
    for (int i = from; i < to; i++) {
        if (rename_one(s, i, false)) continue;
        explain(s->words[FIRST_RENAME + 2 * i]);
        while (i-- > from) rename_one(s, i, true);
        return false;
    }
    return true;
}

static bool exists(const struct step *s, int path)
{
    struct stat about;
    return fstatat(s->sources[path], name_of(s, path), &about, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Mounts the new workspace over the old one, with all processes stopped and the old workspace read-only. */
static bool mount_new_workspace(const struct step *s, int point, int tree, int counted)
{
    int pairs = (s->count - FIRST_RENAME) / 2;
    if (!mount_at(tree, point)) return false;
    if (!enter_mounts(launcher_mounts) || !rename_pairs(s, 0, FOLDER_PAIRS)) goto unmount;
    if (!enter_mounts(sandbox_mounts)) goto undo;
    int second = open_plain(s->words[5]); /* now where the new folder was */
    if (second < 0 || !mount_at(counted, second)) {
        explain(s->words[5]);
        goto undo;
    }
    if (!enter_mounts(launcher_mounts) || !rename_pairs(s, FOLDER_PAIRS, pairs)) goto undo;
    return true;
undo:
    setns(launcher_mounts, CLONE_NEWNS);
    for (int i = FOLDER_PAIRS; i-- > 0;) rename_one(s, i, true);
unmount:
    setns(sandbox_mounts, CLONE_NEWNS);
    umount2(s->words[4], MNT_DETACH);
    return false;
}

/* Returns 0 when done, 1 if the workspace is in use, 2 on failure. */
static int commit_stopped(const struct step *s, pid_t pid, int tree, int counted)
{
    struct statx about;
    if (!is_same_process(pid, s->words[2])) {
        snprintf(why, sizeof why, "the sandbox has ended");
        return 2;
    }
    if (has_mounts(pid, s->words[4])) {
        snprintf(why, sizeof why, "a file system is mounted in it");
        return 1;
    }
    if (!quiesce_begin(&stopped, pid, why, sizeof why)) return 1;
    if (!enter_mounts(sandbox_mounts)) return 2;
    int point = open_plain(s->words[4]);
    if (point < 0 || !is_workspace(point, s, &about)) {
        explain(s->words[4]);
        return 2;
    }
    if (about.stx_mnt_id != strtoull(s->words[3], NULL, 10)) {
        snprintf(why, sizeof why, "another process has replaced it");
        return 1;
    }
    uint64_t device = (uint64_t)about.stx_dev_major << 20 | about.stx_dev_minor; /* the kernel's encoding */
    if (quiesce_find_user(&stopped, about.stx_mnt_id, device, s->words[4], why, sizeof why)) return 1;
    /* The kernel refuses this while a file is open for writing, and then permits no new writers. */
    if (!set_read_only(point, true)) {
        bool busy = errno == EBUSY;
        explain("it cannot be made read-only");
        return busy ? 1 : 2;
    }
    if (mount_new_workspace(s, point, tree, counted)) return 0;
    setns(sandbox_mounts, CLONE_NEWNS);
    set_read_only(point, false);
    return 2;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Opens what commit and recovery need and locks the sandbox until this process exits. */
static bool prepare(const struct step *s, pid_t pid)
{
    char at[64];
    /* Only SIGKILL can interrupt the renames. */
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    int folder = openat(s->sources[SANDBOX_FOLDER], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || flock(folder, LOCK_EX) != 0) return false;
    stopped.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    launcher_mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    snprintf(at, sizeof at, "/proc/%d/ns/mnt", (int)pid);
    sandbox_mounts = open(at, O_RDONLY | O_CLOEXEC);
    return stopped.proc >= 0 && launcher_mounts >= 0 && sandbox_mounts >= 0 && pid > 1;
}

int commit_layer(const struct step *s)
{
    static const char *const words[] = {"done", "busy", "error"};
    pid_t pid = (pid_t)strtol(s->words[1], NULL, 10);
    int tree = stage_tree(STAGED_WORKSPACE, false), counted = stage_tree(STAGED_WORKSPACE, true);
    if (tree < 0 || counted < 0 || !prepare(s, pid)) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    if (!exists(s, LAST_PENDING)) {
        puts("error the commit was withdrawn");
        return 1;
    }
    uint64_t begin = now_ns();
    int end = commit_stopped(s, pid, tree, counted);
    quiesce_end(&stopped);
    if (end == 0)
        printf("%s held=%llu\n", words[end], (unsigned long long)(now_ns() - begin));
    else
        printf("%s %s\n", words[end], why);
    return end != 0;
}

/* Completes a commit that was started; each part may be done already. */
static bool complete(const struct step *s, int point)
{
    int pairs = (s->count - FIRST_RENAME) / 2;
    struct stat workspace, counted;
    if (!enter_mounts(launcher_mounts)) return false;
    if (!exists(s, 1) && !rename_one(s, 0, false)) return explain(s->words[FIRST_RENAME]);
    if (exists(s, 2) && !rename_one(s, 1, false)) return explain(s->words[FIRST_RENAME + 2]);
    if (!enter_mounts(sandbox_mounts)) return false;
    int second = open_plain(s->words[5]);
    if (second < 0 || fstat(second, &counted) != 0 || fstat(point, &workspace) != 0) return explain(s->words[5]);
    if (counted.st_dev != workspace.st_dev) {
        int tree = tree_of(point, true, -1);
        if (tree < 0 || !mount_at(tree, second)) return explain(s->words[5]);
    }
    if (!enter_mounts(launcher_mounts)) return false;
    for (int i = FOLDER_PAIRS; i < pairs; i++)
        if (exists(s, 2 * i) && !rename_one(s, i, false)) return explain(s->words[FIRST_RENAME + 2 * i]);
    return true;
}

static const char *recover_stopped(const struct step *s, pid_t pid)
{
    struct statx about;
    if (!is_same_process(pid, s->words[2])) {
        snprintf(why, sizeof why, "the sandbox has ended");
        return "error";
    }
    if (!enter_mounts(sandbox_mounts)) return "error";
    int point = open_plain(s->words[4]);
    if (point < 0 || statx(point, "", AT_EMPTY_PATH, STATX_MNT_ID, &about) != 0) {
        explain(s->words[4]);
        return "error";
    }
    if (about.stx_mnt_id != strtoull(s->words[3], NULL, 10)) return complete(s, point) ? "done" : "error";
    if (set_read_only(point, false)) return "undone";
    explain(s->words[4]);
    return "error";
}

int recover_commit(const struct step *s)
{
    pid_t pid = (pid_t)strtol(s->words[1], NULL, 10);
    if (!prepare(s, pid)) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    const char *end = recover_stopped(s, pid);
    if (is_same_process(pid, s->words[2])) quiesce_recover(&stopped, pid);
    printf("%s %s\n", end, why);
    return strcmp(end, "error") == 0;
}
