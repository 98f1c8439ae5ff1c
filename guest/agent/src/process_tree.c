#include "process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process_signal.h"
#include "process_stat.h"

enum { PROCESSES_MAX = 65536 };

struct process {
    pid_t pid, parent;
    int threads;
    uint64_t start;
    bool ours;
};

/* Static, because a supervisor has no heap; each process has its own copy. */
static struct process table[PROCESSES_MAX];

struct linux_dirent64 {
    uint64_t d_ino;
    int64_t d_off;
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[];
};

static int read_table(void)
{
    int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc_fd < 0) return -1;
    int count = 0;
    char buffer[8192];
    long n;
    while ((n = syscall(SYS_getdents64, proc_fd, buffer, sizeof buffer)) > 0) {
        for (long at = 0; at < n;) {
            struct linux_dirent64 *entry = (struct linux_dirent64 *)(void *)(buffer + at);
            at += entry->d_reclen;
            if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || count == PROCESSES_MAX) continue;
            struct process_stat seen;
            if (!process_stat_read(proc_fd, entry->d_name, &seen) || seen.state == 'Z' || seen.state == 'X') continue;
            pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
            table[count++] = (struct process){pid, seen.parent, seen.threads, seen.start, false};
        }
    }
    close(proc_fd);
    return count;
}

/* Signals the process found earlier, not another one that has reused its pid. */
static void signal_seen(const struct process *seen, int signal_number)
{
    int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc_fd < 0) return;
    process_signal(proc_fd, seen->pid, seen->start, signal_number);
    close(proc_fd);
}

static struct process *lookup(pid_t pid, int count)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle].pid == pid) return &table[middle];
        if (table[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* /proc lists pids in ascending order except around a pid wrap, so insertion sort is cheap. */
static void sort_table(int count)
{
    for (int i = 1; i < count; i++) {
        struct process p = table[i];
        int j = i;
        while (j > 0 && table[j - 1].pid > p.pid) {
            table[j] = table[j - 1];
            j--;
        }
        table[j] = p;
    }
}

static void mark_beneath(pid_t root, int count)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < count; i++) {
            if (table[i].ours || table[i].pid == root) continue;
            struct process *parent = lookup(table[i].parent, count);
            if (table[i].parent == root || (parent && parent->ours)) {
                table[i].ours = true;
                changed = true;
            }
        }
    }
}

int tree_signal(pid_t root, int signal_number)
{
    int count = read_table();
    if (count < 0) return -1;
    sort_table(count);
    mark_beneath(root, count);
    int found = 0;
    for (int i = 0; i < count; i++)
        if (table[i].ours) {
            signal_seen(&table[i], signal_number);
            found++;
        }
    return found;
}

int tree_signal_children(pid_t root, int signal_number, bool (*spare)(pid_t pid))
{
    int count = read_table(), found = 0;
    for (int i = 0; i < count; i++)
        if (table[i].parent == root && !spare(table[i].pid)) {
            signal_seen(&table[i], signal_number);
            found++;
        }
    return found;
}

static atomic_int excluded[TREE_EXCLUDED_MAX];
static int table_length;

bool tree_read(void)
{
    table_length = read_table();
    if (table_length >= 0) sort_table(table_length);
    return table_length >= 0;
}

struct tree_size tree_size(pid_t root)
{
    struct tree_size size = {0, 0};
    for (int i = 0; i < table_length; i++) table[i].ours = false;
    mark_beneath(root, table_length);
    for (int i = 0; i < table_length; i++)
        if (table[i].ours) {
            size.processes++;
            size.threads += table[i].threads;
        }
    return size;
}

static bool has_kernel_threads;

void tree_expect_kernel_threads(void)
{
    has_kernel_threads = true;
}

/* Counts kthreadd, which is always PID 2, and its children, without a look at each of them. */
static int count_kernel_threads(void)
{
    int fd = open("/proc/2/task/2/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 1;
    int count = 1;
    char buffer[4096];
    for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;)
        for (ssize_t i = 0; i < n; i++) count += buffer[i] == ' '; /* one follows each number */
    close(fd);
    return count;
}

int tree_count_others(void)
{
    int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc_fd < 0) return 0;
    int count = 0;
    char buffer[8192];
    long n;
    while ((n = syscall(SYS_getdents64, proc_fd, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < n;) {
            struct linux_dirent64 *entry = (struct linux_dirent64 *)(void *)(buffer + at);
            at += entry->d_reclen;
            count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
        }
    close(proc_fd);
    for (int i = 0; i < TREE_EXCLUDED_MAX; i++) count -= atomic_load(&excluded[i]) != 0;
    return count - 1 - (has_kernel_threads ? count_kernel_threads() : 0);
}

void tree_exclude(pid_t pid, bool exclude)
{
    for (int i = 0; i < TREE_EXCLUDED_MAX; i++)
        if (atomic_load(&excluded[i]) == (exclude ? 0 : pid)) {
            atomic_store(&excluded[i], exclude ? pid : 0);
            return;
        }
}

bool tree_is_excluded(pid_t pid)
{
    for (int i = 0; i < TREE_EXCLUDED_MAX; i++)
        if (atomic_load(&excluded[i]) == pid) return true;
    return false;
}

bool tree_keeps_orphans(void)
{
    static int known; /* every thread that detects it concurrently finds the same value */
    if (!known) {
        int value;
        known = prctl(PR_GET_CHILD_SUBREAPER, &value, 0, 0, 0) == 0 ? 1 : 2;
    }
    return known == 1;
}

static bool has_mark(pid_t pid, const char *mark)
{
    char text[16384], path[64];
    size_t length = strlen(mark) + 1, kept = 0; /* including its NUL */
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool found = false;
    text[kept++] = 0; /* a variable starts after a NUL */
    for (ssize_t n; !found && (n = read(fd, text + kept, sizeof text - kept)) > 0;) {
        size_t have = kept + (size_t)n;
        for (size_t at = 0; !found && at + length < have; at++)
            found = text[at] == 0 && memcmp(text + at + 1, mark, length) == 0;
        kept = have < length ? have : length;
        memmove(text, text + have - kept, kept);
    }
    close(fd);
    return found;
}

int tree_signal_marked(const char *mark, int signal_number)
{
    int count = read_table(), found = 0;
    for (int i = 0; i < count; i++)
        if (table[i].pid != 1 && table[i].pid != getpid() && has_mark(table[i].pid, mark)) {
            signal_seen(&table[i], signal_number);
            found++;
        }
    return found;
}

static uint64_t milliseconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool tree_kill_marked(const char *mark, int milliseconds)
{
    uint64_t until = milliseconds_now() + (uint64_t)milliseconds;
    static const struct timespec pause = {0, 1000000};
    while (tree_signal_marked(mark, SIGKILL) > 0) {
        if (milliseconds_now() >= until) return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* Returns true when no child is left. */
static bool reap(void (*reaped)(pid_t pid, int status))
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
        if (pid == 0) return false;
        if (pid < 0) return errno == ECHILD;
        if (reaped) reaped(pid, status);
    }
}

bool tree_kill_own(int milliseconds, void (*reaped)(pid_t pid, int status))
{
    pid_t self = getpid();
    uint64_t until = milliseconds_now() + (uint64_t)milliseconds;
    if (reap(reaped)) return true;
    for (int round = 0;; round++) {
        int found = -1;
        if (self == 1) {
            kill(-1, SIGKILL); /* everything in the pid namespace except the caller */
        } else {
            /*
             * Stop what is visible until nothing new appears, then kill. Children of killed processes are reparented to
             * this one.
             */
            int before = tree_signal(self, SIGSTOP);
            for (int look = 0; look < 8 && before > 0; look++) {
                int now = tree_signal(self, SIGSTOP);
                if (now <= before) break;
                before = now;
            }
            found = tree_signal(self, SIGKILL);
        }
        struct timespec pause = {0, round < 10 ? 500000 : 5000000};
        for (int i = 0; i < 20; i++) {
            if (reap(reaped)) return true;
            nanosleep(&pause, NULL);
            if (found == 0) break;
        }
        if (milliseconds_now() >= until) return reap(reaped);
    }
}
