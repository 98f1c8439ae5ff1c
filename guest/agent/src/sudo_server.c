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
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user.h"
#include "wire.h"

enum { READ_SECONDS = 10, WORDS_MAX = 8192 };

static const char SAFE_PATH[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

struct wanted {
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

/* Who asks is told by the kernel. */
static bool is_allowed(int fd, struct user *caller)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return false;
    if (peer.uid == 0)
        return user_by_uid(0, caller) || true;
    return user_by_uid(peer.uid, caller) && (user_is_in(caller, "sudo") || user_is_in(caller, "wheel"));
}

/* Reads the length with its descriptors; 0 when it is not as it must be. */
static size_t head_read(int fd, int *descriptors)
{
    uint8_t length[4];
    union { struct cmsghdr align; char room[CMSG_SPACE(sizeof(int) * SUDO_DESCRIPTORS)]; } control = { 0 };
    struct iovec part = { length, sizeof length };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room,
                              .msg_controllen = sizeof control.room };
    ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    bool whole = n == (ssize_t) sizeof length && head && head->cmsg_type == SCM_RIGHTS
        && head->cmsg_len == CMSG_LEN(sizeof(int) * SUDO_DESCRIPTORS);
    if (!whole)
        return 0;
    memcpy(descriptors, CMSG_DATA(head), sizeof(int) * SUDO_DESCRIPTORS);
    size_t size = get_u32(length);
    return size <= FRAME_MAX ? size : 0;
}

/* 0, or why not. Whatever is left open ends with this process. */
static int request_read(int fd, struct wanted *w)
{
    struct timeval patience = { .tv_sec = READ_SECONDS };
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    size_t size = head_read(fd, w->descriptors);
    w->data = malloc(size ? size : 1);
    if (!size || !w->data || recv(fd, w->data, size, MSG_WAITALL) != (ssize_t) size)
        return EINVAL;
    w->fields = (struct fields) { w->data, size };
    if (!fields_valid(w->fields))
        return EINVAL;
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
            list[n++] = strndup((const char *) field.value, field.length);
    return list;
}

static void put_entry(char **environment, const char *name, const char *value)
{
    size_t length = strlen(name);
    char **at = environment;
    while (*at && !(strncmp(*at, name, length) == 0 && (*at)[length] == '='))
        at++;
    if (asprintf(at, "%s=%s", name, value) < 0)
        _exit(1);
}

static char **environment_of(const struct wanted *w, const char *command)
{
    char **all = list_of(w->fields, T_ENV, 0, 12), number[24];
    if (!all)
        _exit(1);
    for (char **entry = all; *entry; entry++)
        if (!strncmp(*entry, "LD_", 3))
            (*entry)[0] = '_';           /* means nothing to a loader any more */
    put_entry(all, "PATH", SAFE_PATH + 5);
    if (!(w->flags & SUDO_KEEP))
        put_entry(all, "HOME", w->target.home);
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
    return all;
}

/* The words of a shell that is to run the command, if a shell was asked for. */
static char **words_of(const struct wanted *w)
{
    bool shell = w->flags & (SUDO_LOGIN | SUDO_SHELL);
    char **words = list_of(w->fields, T_ARG, shell ? 4 : 0, 1);
    if (!words || !shell)
        return words;
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

static _Noreturn void become(const struct wanted *w)
{
    char **words = words_of(w);
    if (!words || !words[0])
        _exit(1);
    char **environment = environment_of(w, words[0]);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    setsid();
    for (int i = 0; i < 3; i++)
        if (dup2(w->descriptors[i], i) < 0)
            _exit(1);
    bool moved = w->flags & SUDO_LOGIN ? chdir(w->target.home) == 0 : fchdir(w->descriptors[3]) == 0;
    if (setgroups((size_t) w->target.group_count, w->target.groups) < 0 || setgid(w->target.gid) < 0
            || setuid(w->target.uid) < 0 || !moved) {
        dprintf(2, "sudo: cannot become %s: %s\n", w->target.name, strerror(errno));
        _exit(1);
    }
    setenv("PATH", SAFE_PATH + 5, 1);    /* where execvpe looks */
    execvpe(words[0], words, environment);
    dprintf(2, "sudo: %s: %s\n", words[0], errno == ENOENT ? "command not found" : strerror(errno));
    _exit(1);
}

/* Until the command ends, or who wanted it is gone: then it is killed. */
static void attend(int fd, pid_t command, int children)
{
    struct pollfd polled[2] = { { .fd = fd, .events = POLLIN }, { .fd = children, .events = POLLIN } };
    for (;;) {
        int status;
        if (waitpid(command, &status, WNOHANG) == command) {
            bool by_signal = WIFSIGNALED(status);
            answer(fd, by_signal ? SUDO_SIGNALED : SUDO_EXITED,
                (uint32_t) (by_signal ? WTERMSIG(status) : WEXITSTATUS(status)));
            return;
        }
        if (poll(polled, 2, -1) < 0 && errno != EINTR)
            break;
        struct signalfd_siginfo info;
        if ((polled[1].revents & POLLIN) && read(children, &info, sizeof info) < 0)
            break;
        uint8_t number;
        if (polled[0].revents && recv(fd, &number, 1, MSG_DONTWAIT) <= 0)
            break;
        if (polled[0].revents && number >= 1 && number <= 64)
            kill(-command, number);
    }
    kill(-command, SIGKILL);
    kill(command, SIGKILL);
}

static _Noreturn void serve_one(int fd)
{
    struct wanted w = { 0 };
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &child, NULL);
    int children = signalfd(-1, &child, SFD_CLOEXEC);
    bool allowed = is_allowed(fd, &w.caller);
    int problem = request_read(fd, &w);  /* read in any case, or the answer would not arrive */
    if (!allowed || problem) {
        answer(fd, SUDO_REFUSED, (uint32_t) (allowed ? problem : EPERM));
        _exit(0);
    }
    pid_t command = fork();
    if (command == 0)
        become(&w);
    for (int i = 0; i < SUDO_DESCRIPTORS; i++)
        close(w.descriptors[i]);
    if (command < 0)
        answer(fd, SUDO_REFUSED, (uint32_t) errno);
    else
        attend(fd, command, children);
    _exit(0);
}

static int listen_here(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SUDO_SOCKET };
    if (mkdir(SUDO_FOLDER, 0755) < 0 && errno != EEXIST)
        return -1;
    unlink(SUDO_SOCKET);                 /* nobody answered there */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *) &address, sizeof address) < 0 || chmod(SUDO_SOCKET, 0666) < 0
            || listen(fd, 64) < 0)
        return -1;
    return fd;
}

/* Where the image has one of its own before it in PATH, that stays. */
static void install(void)
{
    char self[256];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return;
    self[length] = 0;
    mkdir("/usr/local", 0755);
    mkdir("/usr/local/bin", 0755);
    if (symlink(self, SUDO_PROGRAM) < 0 && errno != EEXIST)
        perror("sudo: " SUDO_PROGRAM);
}

int sudo_serve(void)
{
    if (geteuid() != 0)
        return 1;
    int known = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ? 0 : sudo_connect();
    if (known >= 0)
        return 0;
    int fd = listen_here();
    if (fd < 0) {
        perror("sudo: " SUDO_SOCKET);
        return 1;
    }
    umask(022);
    install();
    puts("ready");
    fflush(stdout);
    signal(SIGCHLD, SIG_IGN);            /* the kernel buries them */
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0 && errno != EINTR && errno != ECONNABORTED)
            sleep(1);                    /* no descriptors, no memory: others may end */
        if (client < 0)
            continue;
        pid_t one = fork();
        if (one == 0) {
            close(fd);
            serve_one(client);
        }
        close(client);
    }
}
