#include "cgroup_cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "cgroups.h"

/* Missing from some C libraries; the number is the same on all architectures. */
enum { SYS_PIDFD_OPEN_NUMBER = 434 };

enum {
    REPORT_MAX = 1 << 16,
    MAX_DEPTH = 24,     /* depth of cgroups below a sandbox's own */
    PRUNE_FROM = 64,    /* records */
    GRACE_MS = 2000,    /* grace period in which a restarted server can read the exit status of the sandbox */
    TIMEOUT_MS = 60000, /* timeout for cgroups that still have processes */
    POLL_MS = 100
};

/* Consecutive strings in one allocation: the record's path, the line to look for, the cgroups. */
struct sandbox {
    pid_t pid;
    unsigned long long start;
    size_t length;
    uint64_t ended_ms; /* 0 while it runs */
    int pidfd;
    char *texts;
};

static int reports_in = -1, reports_out = -1;
static struct sandbox *sandboxes;
static size_t count, capacity, prune_at = PRUNE_FROM;

int cleanup_open(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -1;
    reports_in = move_fd_up(pair[0]);
    reports_out = move_fd_up(pair[1]);
    return reports_in;
}

static const struct step *find_record_step(const struct plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        if (strcmp(plan->steps[i].words[0], "kept") == 0 && plan->steps[i].count == 3) return &plan->steps[i];
    return NULL;
}

static bool append(char *texts, size_t *length, const char *text, size_t size)
{
    if (*length + size + 1 > REPORT_MAX) return false;
    memcpy(texts + *length, text, size);
    texts[*length + size] = 0;
    *length += size + 1;
    return true;
}

void cleanup_report(const struct plan *plan, pid_t pid, unsigned long long start)
{
    static char message[sizeof(struct sandbox) + REPORT_MAX];
    struct sandbox sandbox = {.pid = pid, .start = start, .pidfd = -1};
    char *texts = message + sizeof sandbox;
    const struct step *record = find_record_step(plan);
    if (reports_out < 0 || !record) return;
    bool fits = append(texts, &sandbox.length, record->words[1], strlen(record->words[1]))
                && append(texts, &sandbox.length, record->words[2], strlen(record->words[2]));
    size_t before = sandbox.length;
    for (int i = 0; fits && i < plan->count; i++) {
        const struct step *s = &plan->steps[i];
        size_t folder = s->count == 2 && strcmp(s->words[0], "cgroup") == 0 ? cgroup_folder_length(s->words[1]) : 0;
        if (folder > 1) fits = append(texts, &sandbox.length, s->words[1], folder - 1);
    }
    if (!fits || sandbox.length == before) return;
    memcpy(message, &sandbox, sizeof sandbox);
    send(reports_out, message, sizeof sandbox + sandbox.length, MSG_NOSIGNAL);
}

static const char *next_text(const struct sandbox *n, const char *text)
{
    const char *next = text + strlen(text) + 1;
    return next < n->texts + n->length ? next : NULL;
}

static const char *first_cgroup(const struct sandbox *n)
{
    return next_text(n, next_text(n, n->texts));
}

static bool has_cgroups(const struct sandbox *n)
{
    for (const char *group = first_cgroup(n); group; group = next_text(n, group))
        if (access(group, F_OK) == 0) return true;
    return false;
}

static void drop(size_t i)
{
    if (sandboxes[i].pidfd >= 0) close(sandboxes[i].pidfd);
    free(sandboxes[i].texts);
    sandboxes[i] = sandboxes[--count];
}

/* The server removes the cgroups of the sandboxes it destroys. */
static void prune(void)
{
    for (size_t i = count; i-- > 0;)
        if (!has_cgroups(&sandboxes[i])) drop(i);
    prune_at = count * 2 < PRUNE_FROM ? PRUNE_FROM : count * 2;
}

void cleanup_receive(void)
{
    static char message[sizeof(struct sandbox) + REPORT_MAX];
    ssize_t n = recv(reports_in, message, sizeof message, MSG_DONTWAIT);
    struct sandbox sandbox;
    if (n <= (ssize_t)sizeof sandbox) return;
    memcpy(&sandbox, message, sizeof sandbox);
    if ((size_t)n != sizeof sandbox + sandbox.length) return;
    if (count >= prune_at) prune();
    if (count == capacity) {
        size_t more = capacity ? 2 * capacity : PRUNE_FROM;
        struct sandbox *bigger = realloc(sandboxes, more * sizeof *sandboxes);
        if (!bigger) return;
        sandboxes = bigger;
        capacity = more;
    }
    sandbox.texts = malloc(sandbox.length);
    if (!sandbox.texts) return;
    memcpy(sandbox.texts, message + sizeof sandbox, sandbox.length);
    sandboxes[count++] = sandbox;
}

/* ---- after the server has exited ---- */

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/*
 * Reports whether the sandbox's record contains the line that marks it as stopped: it will be restarted in these
 * cgroups.
 */
static bool is_stopped(const struct sandbox *n)
{
    const char *line = next_text(n, n->texts);
    char text[4096];
    bool found = false;
    FILE *record = fopen(n->texts, "re");
    while (record && !found && fgets(text, sizeof text, record)) {
        text[strcspn(text, "\r\n")] = 0;
        found = strcmp(text, line) == 0;
    }
    if (record) fclose(record);
    return found;
}

/* Removes a cgroup and its descendants unless they contain processes. */
static void remove_cgroup(const char *path, int depth)
{
    DIR *folder = rmdir(path) == 0 || depth == MAX_DEPTH ? NULL : opendir(path);
    struct dirent *entry;
    if (!folder) return;
    while ((entry = readdir(folder))) {
        char child[PATH_MAX];
        if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(child, sizeof child, "%s/%s", path, entry->d_name) < (int)sizeof child)
            remove_cgroup(child, depth + 1);
    }
    closedir(folder);
    rmdir(path);
}

/* Returns true when nothing is left to do for a sandbox that has ended. */
static bool is_done(const struct sandbox *n, uint64_t now)
{
    if (!has_cgroups(n)) return true;
    if (now - n->ended_ms < GRACE_MS) return false;
    if (is_stopped(n) || now - n->ended_ms > TIMEOUT_MS) return true;
    for (const char *group = first_cgroup(n); group; group = next_text(n, group)) remove_cgroup(group, 0);
    return !has_cgroups(n);
}

static void open_all(void)
{
    for (size_t i = 0; i < count; i++) {
        sandboxes[i].pidfd = (int)syscall(SYS_PIDFD_OPEN_NUMBER, sandboxes[i].pid, 0);
        if (sandboxes[i].pidfd >= 0 && start_time(sandboxes[i].pid) != sandboxes[i].start) { /* the pid was reused */
            close(sandboxes[i].pidfd);
            sandboxes[i].pidfd = -1;
        }
        if (sandboxes[i].pidfd < 0) sandboxes[i].ended_ms = now_ms();
    }
}

static _Noreturn void wait_for_sandboxes(void)
{
    open_all();
    struct pollfd *polled = calloc(count ? count : 1, sizeof *polled);
    if (!polled) _exit(1);
    while (count) {
        bool any_ended = false;
        for (size_t i = 0; i < count; i++) {
            polled[i] = (struct pollfd){sandboxes[i].pidfd, POLLIN, 0};
            any_ended = any_ended || sandboxes[i].pidfd < 0;
        }
        if (poll(polled, count, any_ended ? POLL_MS : -1) < 0 && errno != EINTR) _exit(1);
        uint64_t now = now_ms();
        for (size_t i = count; i-- > 0;) {
            if (polled[i].revents) {
                close(sandboxes[i].pidfd);
                sandboxes[i].pidfd = -1;
                sandboxes[i].ended_ms = now;
            }
            if (sandboxes[i].pidfd < 0 && is_done(&sandboxes[i], now)) drop(i);
        }
    }
    _exit(0);
}

void cleanup_detach(void)
{
    while (reports_in >= 0) { /* records that are still in the socket */
        size_t before = count;
        cleanup_receive();
        if (count == before) break;
    }
    prune();
    if (!count || fork() != 0) return;
    setsid();
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        if (null < 0 || dup2(null, fd) < 0) close(fd);
    close(reports_in);
    close(reports_out);
    wait_for_sandboxes();
}
