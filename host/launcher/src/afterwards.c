#include "afterwards.h"

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

#include "basics.h"
#include "groups.h"
#include "ready.h"

/* Missing from some C libraries; the number is the same on all architectures. */
enum { SYS_PIDFD_OPEN_NUMBER = 434 };

enum {
    NOTE_MAX = 1 << 16,
    DEEPEST = 24,        /* depth of cgroups below a sandbox's own */
    TIDY_FROM = 64,      /* records */
    GRACE_MS = 2000,     /* grace period in which a restarted server can read the exit status of the sandbox */
    PATIENCE_MS = 60000, /* timeout for cgroups that still have processes */
    LOOK_MS = 100
};

/* Consecutive strings in one allocation: the record's path, the line to look for, the cgroups. */
struct note {
    pid_t pid;
    unsigned long long start;
    size_t length;
    uint64_t ended_ms; /* 0 while it runs */
    int pidfd;
    char *texts;
};

static int notes_in = -1, notes_out = -1;
static struct note *notes;
static size_t count, capacity, tidy_at = TIDY_FROM;

int afterwards_open(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -1;
    notes_in = high(pair[0]);
    notes_out = high(pair[1]);
    return notes_in;
}

static const struct step *kept(const struct plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        if (strcmp(plan->steps[i].words[0], "kept") == 0 && plan->steps[i].count == 3) return &plan->steps[i];
    return NULL;
}

static bool put(char *texts, size_t *length, const char *text, size_t size)
{
    if (*length + size + 1 > NOTE_MAX) return false;
    memcpy(texts + *length, text, size);
    texts[*length + size] = 0;
    *length += size + 1;
    return true;
}

void afterwards_tell(const struct plan *plan, pid_t pid, unsigned long long start)
{
    static char message[sizeof(struct note) + NOTE_MAX];
    struct note note = {.pid = pid, .start = start, .pidfd = -1};
    char *texts = message + sizeof note;
    const struct step *record = kept(plan);
    if (notes_out < 0 || !record) return;
    bool fits = put(texts, &note.length, record->words[1], strlen(record->words[1]))
                && put(texts, &note.length, record->words[2], strlen(record->words[2]));
    size_t before = note.length;
    for (int i = 0; fits && i < plan->count; i++) {
        const struct step *s = &plan->steps[i];
        size_t folder = s->count == 2 && strcmp(s->words[0], "cgroup") == 0 ? group_folder(s->words[1]) : 0;
        if (folder > 1) fits = put(texts, &note.length, s->words[1], folder - 1);
    }
    if (!fits || note.length == before) return;
    memcpy(message, &note, sizeof note);
    send(notes_out, message, sizeof note + note.length, MSG_NOSIGNAL);
}

static const char *next_text(const struct note *n, const char *text)
{
    const char *next = text + strlen(text) + 1;
    return next < n->texts + n->length ? next : NULL;
}

static const char *first_group(const struct note *n)
{
    return next_text(n, next_text(n, n->texts));
}

static bool has_groups(const struct note *n)
{
    for (const char *group = first_group(n); group; group = next_text(n, group))
        if (access(group, F_OK) == 0) return true;
    return false;
}

static void forget(size_t i)
{
    if (notes[i].pidfd >= 0) close(notes[i].pidfd);
    free(notes[i].texts);
    notes[i] = notes[--count];
}

/* The server removes the cgroups of the sandboxes it destroys. */
static void tidy(void)
{
    for (size_t i = count; i-- > 0;)
        if (!has_groups(&notes[i])) forget(i);
    tidy_at = count * 2 < TIDY_FROM ? TIDY_FROM : count * 2;
}

void afterwards_note(void)
{
    static char message[sizeof(struct note) + NOTE_MAX];
    ssize_t n = recv(notes_in, message, sizeof message, MSG_DONTWAIT);
    struct note note;
    if (n <= (ssize_t)sizeof note) return;
    memcpy(&note, message, sizeof note);
    if ((size_t)n != sizeof note + note.length) return;
    if (count >= tidy_at) tidy();
    if (count == capacity) {
        size_t more = capacity ? 2 * capacity : TIDY_FROM;
        struct note *bigger = realloc(notes, more * sizeof *notes);
        if (!bigger) return;
        notes = bigger;
        capacity = more;
    }
    note.texts = malloc(note.length);
    if (!note.texts) return;
    memcpy(note.texts, message + sizeof note, note.length);
    notes[count++] = note;
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
static bool is_kept(const struct note *n)
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
static void remove_group(const char *path, int depth)
{
    DIR *folder = rmdir(path) == 0 || depth == DEEPEST ? NULL : opendir(path);
    struct dirent *entry;
    if (!folder) return;
    while ((entry = readdir(folder))) {
        char beneath[PATH_MAX];
        if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(beneath, sizeof beneath, "%s/%s", path, entry->d_name) < (int)sizeof beneath)
            remove_group(beneath, depth + 1);
    }
    closedir(folder);
    rmdir(path);
}

/* Returns true when nothing is left to do for a sandbox that has ended. */
static bool is_done(const struct note *n, uint64_t now)
{
    if (!has_groups(n)) return true;
    if (now - n->ended_ms < GRACE_MS) return false;
    if (is_kept(n) || now - n->ended_ms > PATIENCE_MS) return true;
    for (const char *group = first_group(n); group; group = next_text(n, group)) remove_group(group, 0);
    return !has_groups(n);
}

static void open_all(void)
{
    for (size_t i = 0; i < count; i++) {
        notes[i].pidfd = (int)syscall(SYS_PIDFD_OPEN_NUMBER, notes[i].pid, 0);
        if (notes[i].pidfd >= 0 && start_time(notes[i].pid) != notes[i].start) { /* the pid was reused */
            close(notes[i].pidfd);
            notes[i].pidfd = -1;
        }
        if (notes[i].pidfd < 0) notes[i].ended_ms = now_ms();
    }
}

static _Noreturn void stay(void)
{
    open_all();
    struct pollfd *polled = calloc(count ? count : 1, sizeof *polled);
    if (!polled) _exit(1);
    while (count) {
        bool any_ended = false;
        for (size_t i = 0; i < count; i++) {
            polled[i] = (struct pollfd){notes[i].pidfd, POLLIN, 0};
            any_ended = any_ended || notes[i].pidfd < 0;
        }
        if (poll(polled, count, any_ended ? LOOK_MS : -1) < 0 && errno != EINTR) _exit(1);
        uint64_t now = now_ms();
        for (size_t i = count; i-- > 0;) {
            if (polled[i].revents) {
                close(notes[i].pidfd);
                notes[i].pidfd = -1;
                notes[i].ended_ms = now;
            }
            if (notes[i].pidfd < 0 && is_done(&notes[i], now)) forget(i);
        }
    }
    _exit(0);
}

void afterwards_stay(void)
{
    while (notes_in >= 0) { /* records that are still in the socket */
        size_t before = count;
        afterwards_note();
        if (count == before) break;
    }
    tidy();
    if (!count || fork() != 0) return;
    setsid();
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        if (null < 0 || dup2(null, fd) < 0) close(fd);
    close(notes_in);
    close(notes_out);
    stay();
}
