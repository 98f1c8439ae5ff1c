#include "ready.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_cleanup.h"
#include "cgroups.h"
#include "common.h"

enum { ABANDON_ROUNDS = 200, ABANDON_PAUSE_US = 10000, SOCKET_PAUSE_MS = 2 };

/*
 * Receives the next message of the sandbox and the pid of its sender, which the kernel reports in the host's numbering.
 */
static ssize_t receive(int fd, char *text, size_t room, pid_t *sender_pid)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct iovec piece = {text, room};
    struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(fd, &m, 0);
    for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(c), sizeof sender);
            *sender_pid = sender.pid;
        }
    return n;
}

/* Prints the output so far in one line. */
static void print_error(char *text, size_t length)
{
    while (length && (text[length - 1] == '\n' || text[length - 1] == ' ')) length--;
    text[length] = 0;
    for (char *p = text; *p; p++)
        if (*p == '\n' || *p == '\r') *p = ' ';
    printf("error %s\n", length ? text : "the sandbox ended before it was ready");
}

/* Reports whether the sandbox's processes outlive its agent. */
static bool is_loose(const struct plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        if (strcmp(plan->steps[i].words[0], "loose") == 0) return true;
    return false;
}

/* The client is gone, so no server knows this sandbox: ends it, however far the boot has come. */
static int abandon(const struct plan *plan, pid_t child)
{
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    for (int round = 0; round < ABANDON_ROUNDS && cgroup_kill(plan); round++) usleep(ABANDON_PAUSE_US);
    return 1;
}

/* Returns the file that a step names; NULL if the plan does not have the step. */
static const char *file_of(const struct plan *plan, const char *verb)
{
    for (int i = 0; i < plan->count; i++)
        if (strcmp(plan->steps[i].words[0], verb) == 0) return plan->steps[i].words[1];
    return NULL;
}

/* Returns the file that will contain the pid of a sandbox which is restored instead of booted; NULL for a boot. */
static const char *pid_file(const struct plan *plan)
{
    return file_of(plan, "restored");
}

static int print_ready(const struct plan *plan, pid_t pid)
{
    unsigned long long start = start_time(pid);
    cleanup_report(plan, pid, start);
    printf("ready pid=%d start=%llu namespaces=%s\n", (int)pid, start, is_loose(plan) ? "none" : "pid");
    return 0;
}

/* The agent of a restored sandbox does not report. The program that restores it exits when that is done. */
static int restored(const struct plan *plan, pid_t child, char *output, size_t length)
{
    int status;
    long pid = 0;
    FILE *file;
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0
        && (file = fopen(pid_file(plan), "re"))) {
        if (fscanf(file, "%ld", &pid) != 1) pid = 0;
        fclose(file);
    }
    if (pid > 1) return print_ready(plan, (pid_t)pid);
    print_error(output, length);
    return 1;
}

int ready_await(int report, int errors, const struct plan *plan, pid_t child)
{
    char output[700], text[256];
    size_t length = 0;
    /* The last descriptor is the client's connection: it reports an error when the client has gone. */
    int exited = pid_file(plan) ? (int)syscall(SYS_pidfd_open, child, 0) : -1;
    const char *socket = file_of(plan, "machine");
    struct pollfd watched[4] = {{report, POLLIN, 0}, {errors, POLLIN, 0}, {1, 0, 0}, {exited, POLLIN, 0}};
    while (watched[0].fd >= 0 || watched[1].fd >= 0) {
        if (poll(watched, 4, socket ? SOCKET_PAUSE_MS : -1) < 0 && errno != EINTR) break;
        if (socket && access(socket, F_OK) == 0) return print_ready(plan, child);
        if (watched[2].revents & (POLLERR | POLLHUP)) return abandon(plan, child);
        if (watched[1].fd >= 0 && watched[1].revents) {
            char more[256];
            ssize_t n = read(errors, more, sizeof more);
            if (n <= 0) watched[1].fd = -1;
            for (ssize_t i = 0; i < n && length < sizeof output - 1; i++) output[length++] = more[i];
        }
        if (watched[0].fd >= 0 && watched[0].revents) {
            pid_t sender_pid = 0;
            ssize_t n = receive(report, text, sizeof text - 1, &sender_pid);
            if (n <= 0) {
                watched[0].fd = -1;
                continue;
            }
            text[n] = 0;
            if (strncmp(text, "ready", 5) == 0 && sender_pid > 0) { return print_ready(plan, sender_pid); }
            for (ssize_t i = 0; i < n && length < sizeof output - 1; i++) output[length++] = text[i];
        }
        if (exited >= 0 && watched[3].revents && !watched[1].revents) return restored(plan, child, output, length);
    }
    if (pid_file(plan)) return restored(plan, child, output, length);
    print_error(output, length);
    return 1;
}
