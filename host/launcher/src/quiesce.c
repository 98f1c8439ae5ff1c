#include "quiesce.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process_signal.h"
#include "process_stat.h"

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000
#endif

static const uint64_t TIMEOUT_NS = 500000000;
enum { POLL_US = 200, TEXT_MAX = 1 << 16 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static ssize_t read_text(int proc, const char *path, char *text, size_t room)
{
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    size_t length = 0;
    ssize_t n;
    while (length < room - 1 && (n = read(fd, text + length, room - 1 - length)) > 0) length += (size_t)n;
    close(fd);
    text[length] = 0;
    return (ssize_t)length;
}

/* Calls `each` for every numeric name in a folder of /proc until it returns true. */
typedef bool visitor(void *context, int folder, const char *name);

static bool each_number(int proc, const char *path, visitor *each, void *context)
{
    int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0) close(fd);
        return false;
    }
    bool enough = false;
    for (struct dirent *e; !enough && (e = readdir(folder));)
        if (isdigit((unsigned char)e->d_name[0])) enough = each(context, fd, e->d_name);
    closedir(folder);
    return enough;
}

/* ---- stopping ------------------------------------------------------------------------------------------ */

static bool runs(void *context, int tasks, const char *name)
{
    (void)context;
    struct process_stat seen;
    return process_stat_read(tasks, name, &seen) && !strchr("TtZXx", seen.state);
}

static bool has_stopped(int proc, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "%d/task", (int)pid);
    return !each_number(proc, path, runs, NULL);
}

static bool contains(const struct stopped_tree *s, pid_t pid)
{
    for (int i = 0; i < s->count; i++)
        if (s->pids[i] == pid) return true;
    return false;
}

static bool stop(struct stopped_tree *s, pid_t pid, uint64_t until)
{
    char name[16];
    struct process_stat seen = {0};
    if (s->count == STOPPED_MAX) return false;
    snprintf(name, sizeof name, "%d", (int)pid);
    bool runs_now = process_stat_read(s->proc, name, &seen) && !strchr("TZXx", seen.state);
    s->starts[s->count] = seen.start;
    s->pids[s->count] = pid; /* includes zombies: they are not reaped in the meantime and are seen again */
    s->ours[s->count++] = runs_now;
    if (!runs_now) return true;
    if (!process_signal(s->proc, pid, s->starts[s->count - 1], SIGSTOP)) return errno == ESRCH;
    while (!has_stopped(s->proc, pid)) {
        if (now_ns() > until) return false;
        usleep(POLL_US);
    }
    return true;
}

struct stop_scan {
    struct stopped_tree *s;
    uint64_t until;
    bool failed, grew;
};

static bool stop_children(void *context, int tasks, const char *name)
{
    struct stop_scan *f = context;
    char path[64], text[TEXT_MAX], *at = text, *end;
    snprintf(path, sizeof path, "%.20s/children", name);
    if (read_text(tasks, path, text, sizeof text) < 0) f->failed = true;
    for (long pid; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end) {
        if (contains(f->s, (pid_t)pid)) continue;
        f->grew = true;
        if (!stop(f->s, (pid_t)pid, f->until)) f->failed = true;
    }
    return f->failed;
}

bool quiesce_begin(struct stopped_tree *s, pid_t first, char *why, size_t room)
{
    struct stop_scan f = {s, now_ns() + TIMEOUT_NS, false, true};
    s->count = 0;
    f.failed = !stop(s, first, f.until);
    /* Orphans move to a process that was scanned before, so scan until nothing new appears. */
    while (f.grew && !f.failed) {
        f.grew = false;
        f.failed = now_ns() > f.until;
        for (int i = 0; i < s->count && !f.failed; i++) {
            char path[64];
            snprintf(path, sizeof path, "%d/task", (int)s->pids[i]);
            each_number(s->proc, path, stop_children, &f);
        }
    }
    if (f.failed) snprintf(why, room, "its processes did not stop in time");
    return !f.failed;
}

void quiesce_end(struct stopped_tree *s)
{
    while (s->count > 0)
        if (s->ours[--s->count]) process_signal(s->proc, s->pids[s->count], s->starts[s->count], SIGCONT);
}

static bool add_children(void *context, int tasks, const char *name)
{
    struct stopped_tree *s = context;
    char path[64], text[TEXT_MAX], *at = text, *end;
    snprintf(path, sizeof path, "%.20s/children", name);
    if (read_text(tasks, path, text, sizeof text) < 0) return false;
    for (long pid; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end)
        if (s->count < STOPPED_MAX && !contains(s, (pid_t)pid)) s->pids[s->count++] = (pid_t)pid;
    return false;
}

/* Continues all of them: it is not known which were stopped before. */
void quiesce_recover(struct stopped_tree *s, pid_t first)
{
    char path[64];
    s->count = 0;
    s->pids[s->count++] = first;
    for (int i = 0; i < s->count; i++) {
        snprintf(path, sizeof path, "%d/task", (int)s->pids[i]);
        each_number(s->proc, path, add_children, s);
    }
    for (int i = 0; i < s->count; i++) {
        struct process_stat seen = {0};
        snprintf(path, sizeof path, "%d", (int)s->pids[i]);
        process_stat_read(s->proc, path, &seen);
        s->starts[i] = seen.start;
        s->ours[i] = seen.state == 'T';
    }
    quiesce_end(s);
}

/* ---- finding users of a mount -------------------------------------------------------------------------- */

struct mount_search {
    uint64_t mount, device;
    const char *path; /* of the mount */
    char found[128];
};

static bool is_in(const struct mount_search *l, int folder, const char *link)
{
    struct statx about;
    return statx(folder, link, 0, STATX_MNT_ID, &about) == 0 && about.stx_mnt_id == l->mount;
}

/* An inotify instance on the same file system may watch these files. */
static bool watches_files(const struct mount_search *l, int descriptors, const char *name)
{
    char target[64], path[64], *text;
    ssize_t n = readlinkat(descriptors, name, target, sizeof target - 1);
    if (n <= 0) return false;
    target[n] = 0;
    if (!strstr(target, "notify")) return false;
    text = malloc(TEXT_MAX);
    snprintf(path, sizeof path, "../fdinfo/%.20s", name);
    bool found = !text || read_text(descriptors, path, text, TEXT_MAX) < 0;
    for (char *at = found ? NULL : strstr(text, "sdev:"); at && !found; at = strstr(at + 1, "sdev:"))
        found = strtoull(at + 5, NULL, 16) == l->device;
    free(text);
    return found;
}

static bool check_descriptor(void *context, int folder, const char *name)
{
    struct mount_search *l = context;
    if (is_in(l, folder, name))
        snprintf(l->found, sizeof l->found, "has a file of it open");
    else if (watches_files(l, folder, name))
        snprintf(l->found, sizeof l->found, "watches files in it");
    return l->found[0];
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\n' || path[length] == 0);
}

/* A shared mapping makes later writes to the file visible; a private one, such as a program's, does not. */
static bool maps_shared(const struct mount_search *l, int proc, const char *path)
{
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    FILE *lines = fd >= 0 ? fdopen(fd, "r") : NULL;
    char line[4352];
    bool found = false;
    while (lines && !found && fgets(line, sizeof line, lines)) {
        const char *blank = strchr(line, ' '), *name = strchr(line, '/');
        found = blank && name && strlen(blank) > 4 && blank[4] == 's' && is_below(name, l->path);
    }
    if (lines) fclose(lines);
    return found;
}

/* A bound socket is a file that no process has open. */
static bool has_socket(const struct mount_search *l, int proc, const char *path)
{
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    FILE *lines = fd >= 0 ? fdopen(fd, "r") : NULL;
    char line[512];
    bool found = false;
    while (lines && !found && fgets(line, sizeof line, lines)) {
        const char *name = strchr(line, '/');
        found = name && is_below(name, l->path);
    }
    if (lines) fclose(lines);
    return found;
}

bool quiesce_find_user(const struct stopped_tree *s, uint64_t mount, uint64_t device, const char *path,
                       char *description, size_t room)
{
    struct mount_search l = {.mount = mount, .device = device, .path = path};
    char at[64];
    for (int i = 0; i < s->count; i++) {
        int pid = (int)s->pids[i];
        snprintf(at, sizeof at, "%d/cwd", pid);
        if (is_in(&l, s->proc, at)) snprintf(l.found, sizeof l.found, "has its working directory in it");
        snprintf(at, sizeof at, "%d/root", pid);
        if (!l.found[0] && is_in(&l, s->proc, at)) snprintf(l.found, sizeof l.found, "has its root in it");
        snprintf(at, sizeof at, "%d/fd", pid);
        if (!l.found[0]) each_number(s->proc, at, check_descriptor, &l);
        snprintf(at, sizeof at, "%d/maps", pid);
        if (!l.found[0] && maps_shared(&l, s->proc, at))
            snprintf(l.found, sizeof l.found, "maps a file of it as shared memory");
        snprintf(at, sizeof at, "%d/net/unix", pid);
        if (!l.found[0] && i == 0 && has_socket(&l, s->proc, at))
            snprintf(l.found, sizeof l.found, "or another process has a socket in it");
        if (l.found[0]) {
            snprintf(description, room, "process %d %s", pid, l.found);
            return true;
        }
    }
    return false;
}
