#include "push.h"

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
#include "still.h"

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000
#endif
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
enum { NO_SYMLINKS = 0x04, RENAMES_FIRST = 2, ITS_FOLDER = 2, LAST_DRAFT = 6 };
struct how {
    uint64_t flags, mode, resolve;
};

static struct still still;
static int own_mounts = -1, its_mounts = -1;
static char why[512];

static bool explain(const char *what)
{
    snprintf(why, sizeof why, "%s: %s", what, strerror(errno));
    return false;
}

static bool is_among(int mounts)
{
    return setns(mounts, CLONE_NEWNS) == 0 || explain("cannot enter the mounts");
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
    int fd = openat(still.proc, at, O_RDONLY | O_CLOEXEC);
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
    return process_start(still.proc, pid) == strtoull(start, NULL, 10);
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

static bool is_there(const struct step *s, int path)
{
    struct stat about;
    return fstatat(s->sources[path], name_of(s, path), &about, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Mounts the new workspace over the old one, with all processes stopped and the old workspace read-only. */
static bool swap(const struct step *s, int point, int tree, int counted)
{
    int pairs = (s->count - FIRST_RENAME) / 2;
    if (!mount_at(tree, point)) return false;
    if (!is_among(own_mounts) || !rename_pairs(s, 0, RENAMES_FIRST)) goto unmount;
    if (!is_among(its_mounts)) goto undo;
    int second = open_plain(s->words[5]); /* now where the new folder was */
    if (second < 0 || !mount_at(counted, second)) {
        explain(s->words[5]);
        goto undo;
    }
    if (!is_among(own_mounts) || !rename_pairs(s, RENAMES_FIRST, pairs)) goto undo;
    return true;
undo:
    setns(own_mounts, CLONE_NEWNS);
    for (int i = RENAMES_FIRST; i-- > 0;) rename_one(s, i, true);
unmount:
    setns(its_mounts, CLONE_NEWNS);
    umount2(s->words[4], MNT_DETACH);
    return false;
}

/* Returns 0 when done, 1 if the workspace is in use, 2 on failure. */
static int push_still(const struct step *s, pid_t pid, int tree, int counted)
{
    struct statx about;
    if (!is_same_process(pid, s->words[2])) {
        snprintf(why, sizeof why, "it is gone");
        return 2;
    }
    if (has_mounts(pid, s->words[4])) {
        snprintf(why, sizeof why, "something is mounted in it");
        return 1;
    }
    if (!still_begin(&still, pid, why, sizeof why)) return 1;
    if (!is_among(its_mounts)) return 2;
    int point = open_plain(s->words[4]);
    if (point < 0 || !is_workspace(point, s, &about)) {
        explain(s->words[4]);
        return 2;
    }
    if (about.stx_mnt_id != strtoull(s->words[3], NULL, 10)) {
        snprintf(why, sizeof why, "somebody else changed it");
        return 1;
    }
    uint64_t device = (uint64_t)about.stx_dev_major << 20 | about.stx_dev_minor; /* the kernel's encoding */
    if (still_uses(&still, about.stx_mnt_id, device, s->words[4], why, sizeof why)) return 1;
    /* The kernel refuses this while a file is open for writing, and then permits no new writers. */
    if (!set_read_only(point, true)) {
        bool busy = errno == EBUSY;
        explain("it cannot be made read only");
        return busy ? 1 : 2;
    }
    if (swap(s, point, tree, counted)) return 0;
    setns(its_mounts, CLONE_NEWNS);
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
static bool enter(const struct step *s, pid_t pid)
{
    char at[64];
    /* Blocks all signals between two renames; only SIGKILL can interrupt them. */
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    int folder = openat(s->sources[ITS_FOLDER], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || flock(folder, LOCK_EX) != 0) return false;
    still.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    own_mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    snprintf(at, sizeof at, "/proc/%d/ns/mnt", (int)pid);
    its_mounts = open(at, O_RDONLY | O_CLOEXEC);
    return still.proc >= 0 && own_mounts >= 0 && its_mounts >= 0 && pid > 1;
}

int push(const struct step *s)
{
    static const char *const words[] = {"done", "busy", "error"};
    pid_t pid = (pid_t)strtol(s->words[1], NULL, 10);
    int tree = stage_tree(PUSHED, false), counted = stage_tree(PUSHED, true);
    if (tree < 0 || counted < 0 || !enter(s, pid)) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    if (!is_there(s, LAST_DRAFT)) {
        puts("error nobody wants it any more");
        return 1;
    }
    uint64_t begin = now_ns();
    int end = push_still(s, pid, tree, counted);
    still_end(&still);
    if (end == 0)
        printf("%s held=%llu\n", words[end], (unsigned long long)(now_ns() - begin));
    else
        printf("%s %s\n", words[end], why);
    return end != 0;
}

/* Completes a commit that was started; each part may be done already. */
static bool finish(const struct step *s, int point)
{
    int pairs = (s->count - FIRST_RENAME) / 2;
    struct stat workspace, counted;
    if (!is_among(own_mounts)) return false;
    if (!is_there(s, 1) && !rename_one(s, 0, false)) return explain(s->words[FIRST_RENAME]);
    if (is_there(s, 2) && !rename_one(s, 1, false)) return explain(s->words[FIRST_RENAME + 2]);
    if (!is_among(its_mounts)) return false;
    int second = open_plain(s->words[5]);
    if (second < 0 || fstat(second, &counted) != 0 || fstat(point, &workspace) != 0) return explain(s->words[5]);
    if (counted.st_dev != workspace.st_dev) {
        int tree = tree_of(point, true, -1);
        if (tree < 0 || !mount_at(tree, second)) return explain(s->words[5]);
    }
    if (!is_among(own_mounts)) return false;
    for (int i = RENAMES_FIRST; i < pairs; i++)
        if (is_there(s, 2 * i) && !rename_one(s, i, false)) return explain(s->words[FIRST_RENAME + 2 * i]);
    return true;
}

static const char *mend_still(const struct step *s, pid_t pid)
{
    struct statx about;
    if (!is_same_process(pid, s->words[2])) {
        snprintf(why, sizeof why, "it is gone");
        return "error";
    }
    if (!is_among(its_mounts)) return "error";
    int point = open_plain(s->words[4]);
    if (point < 0 || statx(point, "", AT_EMPTY_PATH, STATX_MNT_ID, &about) != 0) {
        explain(s->words[4]);
        return "error";
    }
    if (about.stx_mnt_id != strtoull(s->words[3], NULL, 10)) return finish(s, point) ? "done" : "error";
    if (set_read_only(point, false)) return "undone";
    explain(s->words[4]);
    return "error";
}

int mend(const struct step *s)
{
    pid_t pid = (pid_t)strtol(s->words[1], NULL, 10);
    if (!enter(s, pid)) {
        printf("error %s\n", strerror(errno));
        return 1;
    }
    const char *end = mend_still(s, pid);
    if (is_same_process(pid, s->words[2])) still_wake(&still, pid);
    printf("%s %s\n", end, why);
    return strcmp(end, "error") == 0;
}
