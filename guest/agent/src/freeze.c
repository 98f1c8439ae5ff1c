#include "freeze.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "process_signal.h"
#include "process_stat.h"

/* A process in uninterruptible sleep stops only after its I/O completes. */
static const uint64_t TIMEOUT_NS = 5000000000;

static sem_t freezing;     /* not a mutex: another thread may end a freeze */
static atomic_int *active; /* shared with the supervisors, which are separate processes */

struct process {
    pid_t pid, parent, session;
    uint64_t start;
    char state;
    bool descendant;
};
struct table {
    struct process *all;
    int count, capacity;
};

static uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void freeze_prepare(void)
{
    if (active) return;
    void *page = mmap(NULL, sizeof *active, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && sem_init(&freezing, 0, 1) == 0) active = page;
}

bool freeze_is_active(void)
{
    return active && atomic_load(active);
}

/* ---- finding processes --------------------------------------------------------------------------------- */

static bool read_process(int proc, const char *name, struct process *p)
{
    struct process_stat seen;
    if (!process_stat_read(proc, name, &seen)) return false;
    *p = (struct process){(pid_t)strtol(name, NULL, 10), seen.parent, seen.session, seen.start, seen.state, false};
    return true;
}

static int by_pid(const void *a, const void *b)
{
    pid_t one = ((const struct process *)a)->pid, two = ((const struct process *)b)->pid;
    return one < two ? -1 : one > two;
}

static struct process *find(const struct table *t, pid_t pid)
{
    struct process key = {.pid = pid};
    return bsearch(&key, t->all, (size_t)t->count, sizeof key, by_pid);
}

/* Marks the descendants of the agent; where the host's processes are visible there are others. */
static void mark_descendants(struct table *t)
{
    pid_t self = getpid();
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < t->count; i++) {
            struct process *p = &t->all[i], *parent = p->descendant ? NULL : find(t, p->parent);
            if (!p->descendant && (p->parent == self || (parent && parent->descendant))) p->descendant = changed = true;
        }
    }
}

static bool read_table(struct table *t)
{
    DIR *proc = opendir("/proc");
    if (!proc) return false;
    t->count = 0;
    struct dirent *e;
    while ((e = readdir(proc))) {
        struct process p;
        if (e->d_name[0] < '1' || e->d_name[0] > '9' || !read_process(dirfd(proc), e->d_name, &p)) continue;
        if (t->count == t->capacity) {
            int capacity = t->capacity ? 2 * t->capacity : 256;
            struct process *bigger = realloc(t->all, (size_t)capacity * sizeof *bigger);
            if (!bigger) {
                closedir(proc);
                errno = ENOMEM;
                return false;
            }
            t->all = bigger;
            t->capacity = capacity;
        }
        t->all[t->count++] = p;
    }
    closedir(proc);
    qsort(t->all, (size_t)t->count, sizeof *t->all, by_pid);
    mark_descendants(t);
    return true;
}

/* ---- stopping ------------------------------------------------------------------------------------------ */

static bool is_recorded(const struct freeze *h, const struct process *p)
{
    for (int i = h->count; i-- > 0;)
        if (h->stopped[i].pid == p->pid && h->stopped[i].start == p->start) return true;
    return false;
}

static bool record(struct freeze *h, const struct process *p)
{
    if (h->count == h->capacity) {
        int capacity = h->capacity ? 2 * h->capacity : 64;
        struct frozen_process *bigger = realloc(h->stopped, (size_t)capacity * sizeof *bigger);
        if (!bigger) return false;
        h->stopped = bigger;
        h->capacity = capacity;
    }
    h->stopped[h->count++] = (struct frozen_process){p->pid, p->start};
    return true;
}

static bool is_stopped(char state)
{
    return state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

/*
 * Stops processes whose parents are stopped: a running shell would report a stopped child as a job. Returns how many
 * are not stopped yet, -1 when that cannot be determined.
 */
static int stop_some(struct freeze *h, struct table *t)
{
    pid_t session = getsid(0);
    int running = 0;
    if (!read_table(t)) return -1;
    for (int i = 0; i < t->count; i++) {
        const struct process *p = &t->all[i];
        /* Every command leads a session; processes in the agent's own session are supervisors. */
        if (!p->descendant || p->session == session || is_stopped(p->state)) continue;
        running++;
        const struct process *parent = find(t, p->parent);
        bool under_us = !parent || !parent->descendant || parent->session == session;
        if ((!under_us && !is_stopped(parent->state)) || is_recorded(h, p)) continue;
        if (process_signal(h->proc, p->pid, p->start, SIGSTOP)) {
            if (!record(h, p)) {
                process_signal(h->proc, p->pid, p->start, SIGCONT);
                return -1;
            }
        } else if (errno == EPERM) {
            return -1;
        }
    }
    return running;
}

static void thaw(struct freeze *h)
{
    atomic_store(active, 0);
    while (h->count > 0) { /* children first, so that their parents do not notice */
        const struct frozen_process *last = &h->stopped[--h->count];
        process_signal(h->proc, last->pid, last->start, SIGCONT);
    }
    free(h->stopped);
    h->stopped = NULL;
    close(h->proc);
    sem_post(&freezing);
}

bool freeze_begin(struct freeze *h)
{
    static const struct timespec moment = {0, 200000};
    struct table t = {0};
    *h = (struct freeze){0};
    if (!active) {
        errno = ENOMEM;
        return false;
    }
    h->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (h->proc < 0) return false;
    while (sem_wait(&freezing) != 0) { /* interrupted by a signal */
    }
    atomic_store(active, 1);
    h->began_ns = monotonic_ns();
    int running, error = 0;
    while ((running = stop_some(h, &t)) > 0 && monotonic_ns() - h->began_ns < TIMEOUT_NS) nanosleep(&moment, NULL);
    if (running != 0) error = running < 0 && errno ? errno : ETIMEDOUT;
    free(t.all);
    if (error) {
        thaw(h);
        errno = error;
    }
    return !error;
}

uint64_t freeze_end(struct freeze *h)
{
    uint64_t frozen_ns = monotonic_ns() - h->began_ns;
    thaw(h);
    return frozen_ns;
}
