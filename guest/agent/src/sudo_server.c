#include "sudo.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process_tree.h"
#include "trust.h"
#include "user.h"
#include "wire.h"

enum { READ_SECONDS = 10, KILL_MILLISECONDS = 5000, WORDS_MAX = 8192 };

static const char *const ENTITLED[] = {"sudo", "wheel", NULL};

static const char SAFE_PATH[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

struct sudo_request {
    int descriptors[SUDO_DESCRIPTORS];
    struct user caller, target;
    uint64_t flags;
    struct fields fields;
    uint8_t *data;
};

static void answer(int fd, uint32_t kind, uint32_t value)
{
    uint8_t text[8];
    put_u32(text, kind);
    put_u32(text + 4, value);
    send(fd, text, sizeof text, MSG_NOSIGNAL);
}

bool sudo_has_users(void)
{
    for (int i = 0; ENTITLED[i]; i++)
        if (group_has_users(ENTITLED[i])) return true;
    return false;
}

/* The kernel reports the uid of the client. */
static bool is_allowed(int fd, struct user *caller)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return false;
    if (peer.uid == 0) return user_by_uid(0, caller) || true;
    for (int i = 0; user_by_uid(peer.uid, caller) && ENTITLED[i]; i++)
        if (user_is_in(caller, ENTITLED[i])) return true;
    return false;
}

/* Reads the length and its descriptors. Returns 0 when they are invalid. */
static size_t head_read(int fd, int *descriptors)
{
    uint8_t length[4];
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int) * SUDO_DESCRIPTORS)];
    } control = {0};
    struct iovec part = {length, sizeof length};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    bool whole = n == (ssize_t)sizeof length && head && head->cmsg_type == SCM_RIGHTS
                 && head->cmsg_len == CMSG_LEN(sizeof(int) * SUDO_DESCRIPTORS);
    if (!whole) return 0;
    memcpy(descriptors, CMSG_DATA(head), sizeof(int) * SUDO_DESCRIPTORS);
    size_t size = get_u32(length);
    return size <= FRAME_MAX ? size : 0;
}

/* Returns 0, or the reason for refusing. Open descriptors are closed when this process exits. */
static int request_read(int fd, struct sudo_request *w)
{
    size_t size = head_read(fd, w->descriptors);
    w->data = malloc(size ? size : 1);
    if (!size || !w->data || recv(fd, w->data, size, MSG_WAITALL) != (ssize_t)size) return EINVAL;
    w->fields = (struct fields){w->data, size};
    if (!fields_valid(w->fields)) return EINVAL;
    w->flags = fields_u64(w->fields, T_FLAGS, 0);
    char *name = fields_text(w->fields, T_USER);
    return user_find(name ? name : "0", &w->target) ? 0 : ENOENT;
}

static char **list_of(struct fields f, enum tag tag, size_t before, size_t after)
{
    char **list = calloc(WORDS_MAX + before + after + 1, sizeof *list);
    size_t position = 0, n = before;
    struct field field;
    while (list && fields_next(f, &position, &field) && n < WORDS_MAX + before)
        if (field.tag == tag && !memchr(field.value, 0, field.length))
            list[n++] = strndup((const char *)field.value, field.length);
    return list;
}

static void put_entry(char **environment, const char *name, const char *value)
{
    size_t length = strlen(name);
    char **at = environment;
    while (*at && !(strncmp(*at, name, length) == 0 && (*at)[length] == '=')) at++;
    if (asprintf(at, "%s=%s", name, value) < 0) _exit(1);
}

/* Adds NAME=VALUE unless the environment has NAME. */
static void add_entry(char **environment, const char *entry)
{
    size_t length = strcspn(entry, "=") + 1;
    char **at = environment;
    while (*at && strncmp(*at, entry, length) != 0) at++;
    if (!*at) *at = strdup(entry);
}

static char **environment_of(const struct sudo_request *w, const char *command)
{
    char **all = list_of(w->fields, T_ENV, 0, 12 + TRUST_VARIABLES), number[24];
    if (!all) _exit(1);
    trust_detect();
    for (char **entry = all; *entry; entry++)
        if (!strncmp(*entry, "LD_", 3)) (*entry)[0] = '_'; /* hides the variable from the dynamic loader */
    put_entry(all, "PATH", SAFE_PATH + 5);
    if (!(w->flags & SUDO_KEEP)) put_entry(all, "HOME", w->target.home);
    const char *name = w->target.name[0] ? w->target.name : "root";
    put_entry(all, "USER", name);
    put_entry(all, "LOGNAME", name);
    put_entry(all, "SHELL", w->target.shell);
    put_entry(all, "SUDO_COMMAND", command);
    put_entry(all, "SUDO_USER", w->caller.name);
    snprintf(number, sizeof number, "%u", w->caller.uid);
    put_entry(all, "SUDO_UID", number);
    snprintf(number, sizeof number, "%u", w->caller.gid);
    put_entry(all, "SUDO_GID", number);
    for (const char *const *p = trust_variables(); *p; p++) add_entry(all, *p);
    return all;
}

/* Returns the command line, wrapped in a shell if one was requested. */
static char **words_of(const struct sudo_request *w)
{
    bool shell = w->flags & (SUDO_LOGIN | SUDO_SHELL);
    char **words = list_of(w->fields, T_ARG, shell ? 4 : 0, 1);
    if (!words || !shell) return words;
    static char login[] = "-l", command[] = "-c", run[] = "\"$0\" \"$@\"";
    bool bare = !words[4];
    words[0] = strdup(w->target.shell);
    words[1] = w->flags & SUDO_LOGIN ? login : command;
    words[2] = w->flags & SUDO_LOGIN ? command : run;
    words[3] = run;
    if (bare)
        words[w->flags & SUDO_LOGIN ? 2 : 1] = NULL;
    else if (!(w->flags & SUDO_LOGIN))
        for (size_t i = 3; (words[i] = words[i + 1]); i++) {}
    return words;
}

static _Noreturn void run_command(const struct sudo_request *w)
{
    char **words = words_of(w);
    if (!words || !words[0]) _exit(1);
    char **environment = environment_of(w, words[0]);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    setsid();
    for (int i = 0; i < 3; i++)
        if (dup2(w->descriptors[i], i) < 0) _exit(1);
    bool moved = w->flags & SUDO_LOGIN ? chdir(w->target.home) == 0 : fchdir(w->descriptors[3]) == 0;
    if (setgroups((size_t)w->target.group_count, w->target.groups) < 0 || setgid(w->target.gid) < 0
        || setuid(w->target.uid) < 0 || !moved) {
        dprintf(2, "sudo: cannot switch to user %s: %s\n", w->target.name, strerror(errno));
        _exit(1);
    }
    setenv("PATH", SAFE_PATH + 5, 1); /* the path that execvpe searches */
    execvpe(words[0], words, environment);
    dprintf(2, "sudo: %s: %s\n", words[0], errno == ENOENT ? "command not found" : strerror(errno));
    _exit(1);
}

static void answer_end(int fd, int status)
{
    bool by_signal = WIFSIGNALED(status);
    answer(fd, by_signal ? SUDO_SIGNALED : SUDO_EXITED, (uint32_t)(by_signal ? WTERMSIG(status) : WEXITSTATUS(status)));
}

/* Reaps children, and replies when the command has ended. Returns false when no child is left. */
static bool reap(int fd, pid_t command, bool *ended)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid <= 0) return pid == 0;
        if (pid == command) {
            *ended = true;
            answer_end(fd, status);
        }
    }
}

/* Forwards a signal. Returns false when the client has closed the connection. */
static bool forward_signal(int fd, pid_t command)
{
    uint8_t number;
    if (recv(fd, &number, 1, MSG_DONTWAIT) <= 0) return false;
    if (number >= 1 && number <= 64 && kill(-command, number) < 0)
        kill(command, number); /* it is not a process group leader yet */
    return true;
}

/*
 * Runs until no process of the command is left. Kills the whole tree when the client closes the connection before the
 * command has ended.
 */
static void supervise_command(int fd, pid_t command, int children)
{
    struct pollfd polled[2] = {{.fd = children, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    bool ended = false;
    while (reap(fd, command, &ended)) {
        struct signalfd_siginfo info;
        polled[1].revents = 0;
        if (poll(polled, ended ? 1 : 2, -1) < 0 && errno != EINTR) break;
        if (polled[0].revents & POLLIN)
            while (read(children, &info, sizeof info) > 0) {}
        if (!ended && polled[1].revents && !forward_signal(fd, command)) break;
    }
    if (!ended) tree_kill_own(KILL_MILLISECONDS, NULL);
}

/* Blocks exactly the signals that are read from the descriptor. */
static int children_watch(void)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (int i = 1; i < 32; i++) signal(i, i == SIGPIPE ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &child, NULL);
    return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

int sudo_serve(int fd)
{
    struct sudo_request w = {0};
    int children = children_watch();
    if (geteuid() != 0 || children < 0) return 1;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    umask(022);
    alarm(READ_SECONDS); /* ends this process: a client that sends nothing must not occupy a helper */
    bool allowed = is_allowed(fd, &w.caller);
    int problem = request_read(fd, &w); /* read even when refusing, or the reply would be lost */
    alarm(0);
    if (!allowed || problem) {
        answer(fd, SUDO_REFUSED, (uint32_t)(allowed ? problem : EPERM));
        return 0;
    }
    pid_t command = fork();
    if (command == 0) run_command(&w);
    for (int i = 0; i < SUDO_DESCRIPTORS; i++) close(w.descriptors[i]);
    if (command < 0)
        answer(fd, SUDO_REFUSED, (uint32_t)errno);
    else
        supervise_command(fd, command, children);
    return 0;
}
