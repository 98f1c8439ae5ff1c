#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "disk_budget.h"
#include "operations.h"
#include "path.h"
#include "process_stat.h"
#include "process_tree.h"
#include "tree.h"

enum { MEASURE_DISK = 1, PROCESSES_MAX = 65536, DISK_ENTRIES_MAX = 200000, DISK_MS_MAX = 500 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- processes ----------------------------------------------------------------------------------------- */

struct process {
    int pid, parent;
    uint64_t ticks, pages;
    bool kernel, counted;
};

enum { KERNEL_THREAD = 0x00200000 }; /* PF_KTHREAD: visible in /proc of a virtual machine */

static ssize_t read_small(int folder, const char *name, char *out, size_t capacity)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -1;
    size_t length = 0;
    ssize_t n = 0;
    while (length < capacity - 1 && ((n = read(fd, out + length, capacity - 1 - length)) > 0)) length += (size_t)n;
    close(fd);
    out[length] = 0;
    return n < 0 ? -1 : (ssize_t)length;
}

static bool process_read(int proc, const char *pid, struct process *p)
{
    struct process_stat seen;
    if (!process_stat_read(proc, pid, &seen)) return false;
    *p = (struct process){atoi(pid), seen.parent, seen.ticks, seen.pages, seen.flags & KERNEL_THREAD, false};
    return true;
}

static size_t processes_read(struct process *list)
{
    size_t count = 0;
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = proc >= 0 ? fdopendir(proc) : NULL;
    if (!dir) {
        if (proc >= 0) close(proc);
        return 0;
    }
    struct dirent *e;
    while (count < PROCESSES_MAX && (e = readdir(dir)))
        if (isdigit((unsigned char)e->d_name[0]) && process_read(dirfd(dir), e->d_name, &list[count])) count++;
    closedir(dir);
    return count;
}

static int by_pid(const void *a, const void *b)
{
    int x = ((const struct process *)a)->pid, y = ((const struct process *)b)->pid;
    return (x > y) - (x < y);
}

/* PID 1 counts every process; otherwise only descendants of the agent belong to the sandbox. */
static void descendants_mark(struct process *list, size_t count)
{
    int self = getpid();
    bool changed = self != 1;
    for (size_t i = 0; self == 1 && i < count; i++)
        list[i].counted = list[i].pid != self && !list[i].kernel && !tree_is_excluded(list[i].pid);
    if (count > 0) qsort(list, count, sizeof *list, by_pid);
    /* A parent usually has the lower pid, so this takes one or two rounds. */
    while (changed) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            if (list[i].counted || list[i].pid == self || tree_is_excluded(list[i].pid)) continue;
            struct process wanted = {.pid = list[i].parent};
            const struct process *parent = bsearch(&wanted, list, count, sizeof *list, by_pid);
            if (list[i].parent == self || (parent && parent->counted)) changed = list[i].counted = true;
        }
    }
}

static void build_processes(struct builder *b)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t peak;
    uint64_t ticks = 0, pages = 0, processes = 0;
    struct process *list = malloc(PROCESSES_MAX * sizeof *list);
    size_t count = list ? processes_read(list) : 0;
    descendants_mark(list, count);
    for (size_t i = 0; i < count; i++) {
        if (list[i].counted || tree_is_excluded(list[i].pid))
            ticks += list[i].ticks; /* an idle supervisor carries the CPU time of its earlier commands */
        if (!list[i].counted) continue;
        pages += list[i].pages;
        processes++;
    }
    free(list);
    struct rusage ended = {0};
    getrusage(RUSAGE_CHILDREN, &ended);
    uint64_t ended_us = (uint64_t)(ended.ru_utime.tv_sec + ended.ru_stime.tv_sec) * 1000000u
                        + (uint64_t)(ended.ru_utime.tv_usec + ended.ru_stime.tv_usec);
    uint64_t memory = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    pthread_mutex_lock(&lock);
    if (memory > peak) peak = memory;
    uint64_t highest = peak;
    pthread_mutex_unlock(&lock);
    build_u64(b, T_CPU_NS, ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK)) + ended_us * 1000);
    build_u64(b, T_MEMORY, memory);
    build_u64(b, T_MEMORY_PEAK, highest);
    build_u64(b, T_PROCESSES, processes);
}

/* ---- network and disk ---------------------------------------------------------------------------------- */

enum { SENT_COLUMN = 8 }; /* received bytes are in column 0 */

/* Without sscanf, which alone would add 80 KiB to the program. */
static void build_network(struct builder *b)
{
    uint64_t received = 0, sent = 0;
    char *text = malloc(65536);
    if (text && read_small(AT_FDCWD, "/proc/net/dev", text, 65536) > 0) {
        char *save = NULL;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            char *colon = strchr(line, ':');
            line += strspn(line, " ");
            if (!colon || !strncmp(line, "lo:", 3)) continue;
            char *at = colon + 1;
            for (int column = 0; column <= SENT_COLUMN; column++) {
                uint64_t value = strtoull(at, &at, 10);
                if (column == 0) received += value;
                if (column == SENT_COLUMN) sent += value;
            }
        }
    }
    free(text);
    build_u64(b, T_RX, received);
    build_u64(b, T_TX, sent);
}

static void build_disk(struct builder *b, struct stream *s)
{
    struct tree t;
    uint64_t bytes = 0, seen = 0, until = now_ns() + (uint64_t)DISK_MS_MAX * 1000000u;
    bool partial = false;
    if (disk_is_kernel_limited()) {
        build_u64(b, T_DISK, disk_measure());
        return;
    }
    int top = path_open(".", O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (top < 0 || !tree_start(&t, top, false)) {
        build_u64(b, T_DISK, 0);
        build_u64(b, T_DISK_PARTIAL, 1);
        return;
    }
    enum tree_step step;
    while ((step = tree_next(&t)) != TREE_END) {
        struct stat st;
        if (step != TREE_ENTRY) continue;
        if (++seen > DISK_ENTRIES_MAX || ((seen & 255) == 0 && (now_ns() > until || stream_over(s)))) {
            partial = true;
            break;
        }
        if (fstatat(t.folder, t.name, &st, AT_SYMLINK_NOFOLLOW) < 0) continue;
        /* Divides a file among its hard links, so that it counts once when all of them are here. */
        bool shared = S_ISREG(st.st_mode) && st.st_nlink > 1;
        bytes += (uint64_t)st.st_blocks * 512 / (shared ? (uint64_t)st.st_nlink : 1);
        if (S_ISDIR(st.st_mode) && !tree_enter(&t) && errno != ENOENT) partial = true;
    }
    partial |= t.error != 0;
    tree_stop(&t);
    build_u64(b, T_DISK, bytes);
    if (partial) build_u64(b, T_DISK_PARTIAL, 1);
}

void operate_usage(const struct request *r)
{
    struct builder b = {0};
    build_processes(&b);
    if (file_view.root_fd < 0) build_network(&b); /* a confined sandbox shares the host's network */
    if (fields_u64(r->fields, T_FLAGS, 0) & MEASURE_DISK) build_disk(&b, r->stream);
    build_u64(&b, T_UPTIME_MS, (now_ns() - agent_started_ns) / 1000000u);
    stream_end(r->stream, &b);
    builder_free(&b);
}
