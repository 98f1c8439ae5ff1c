#include "sandbox_limits.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk_budget.h"
#include "loop.h"

#define MS 1000000ull

enum { INTERVAL_MS = 500, INTERVAL_MAX_MS = 10000, COST_FACTOR = 20 };

static int memory_fd = -1, thread_fd = -1;
static uint64_t processes_met;
static atomic_ullong pause_ms = INTERVAL_MS;
static atomic_bool filled;

/* Returns the number in the line that starts with `word`. The kernel returns a long file in several pieces. */
static uint64_t number_after(int fd, const char *word)
{
    char text[8192];
    size_t length = 0;
    for (ssize_t n; fd >= 0 && length < sizeof text - 1
                    && (n = pread(fd, text + length, sizeof text - 1 - length, (off_t)length)) > 0;)
        length += (size_t)n;
    text[length] = 0;
    size_t word_length = strlen(word);
    for (char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, word_length) == 0) return strtoull(line + word_length, NULL, 10);
    }
    return 0;
}

struct limit_counts limits_read(void)
{
    return (struct limit_counts){number_after(memory_fd, "oom_kill "), processes_met, number_after(thread_fd, "max "),
                                 disk_refusals()};
}

void limits_processes_met(void)
{
    processes_met++;
}

bool limits_have_memory(void)
{
    return memory_fd >= 0;
}

/* ---- disk measurement, on its own thread because it may take long ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER;
static bool look;

static void *watch_disk(void *unused)
{
    (void)unused;
    uint64_t before = 0;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!look) pthread_cond_wait(&asked, &lock);
        look = false;
        pthread_mutex_unlock(&lock);
        uint64_t start = now_ns(), bytes = disk_measure();
        uint64_t cost = (now_ns() - start) / MS * COST_FACTOR;
        atomic_store(&pause_ms, cost < INTERVAL_MS ? INTERVAL_MS : cost > INTERVAL_MAX_MS ? INTERVAL_MAX_MS : cost);
        /* Over the limit but not growing: a command may be removing files. */
        if (bytes > disk_limit() && bytes > before) {
            disk_refused();
            atomic_store(&filled, true);
            loop_wake();
        }
        before = bytes;
    }
    return NULL;
}

static void start_measurement(struct timer *t)
{
    (void)t;
    pthread_mutex_lock(&lock);
    look = true;
    pthread_cond_signal(&asked);
    pthread_mutex_unlock(&lock);
}

static struct timer next_look = {.fire = start_measurement};

void limits_check_soon(void)
{
    if (disk_limit() && next_look.at_ns == 0) timer_set(&next_look, now_ns() + atomic_load(&pause_ms) * MS);
}

bool limits_disk_exceeded(void)
{
    return disk_limit() && atomic_exchange(&filled, false);
}

void limits_setup(int memory_events, int thread_events, uint64_t disk, uint64_t since_ns)
{
    memory_fd = memory_events;
    thread_fd = thread_events;
    if (memory_fd >= 0) fcntl(memory_fd, F_SETFD, FD_CLOEXEC);
    if (thread_fd >= 0) fcntl(thread_fd, F_SETFD, FD_CLOEXEC);
    if (!disk) return;
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    if (pthread_create(&thread, &small, watch_disk, NULL) == 0) disk_set_limit(disk, since_ns);
    pthread_attr_destroy(&small);
}
