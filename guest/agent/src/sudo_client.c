#include "sudo.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire.h"

extern char **environ;

/* Returns -1 when the agent does not listen. */
static int connect_to_agent(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SUDO_SOCKET};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool starts(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

/* Terminal and locale variables are preserved; the target user's environment replaces the rest. */
static bool is_kept(const char *entry, bool all)
{
    return all || starts(entry, "TERM=") || starts(entry, "LANG=") || starts(entry, "LC_")
           || starts(entry, "COLORTERM=") || starts(entry, "DEBIAN_FRONTEND=");
}

static int refuse(const char *what, const char *detail)
{
    fprintf(stderr, "sudo: %s%s\n", what, detail);
    return 1;
}

struct sudo_options {
    const char *user;
    uint64_t flags;
    int first;
    bool done;
};

/* Parses the options; `first` is the index of the command. Returns -1, or the code to exit with. */
static int options_read(int count, char **words, struct sudo_options *w)
{
    static const char *const with_value[] = {"-g", "-p", "-C", "-r", "-t", "-T", "-h", "-D", "-R", NULL};
    int i = 1;
    for (; i < count && words[i][0] == '-' && words[i][1]; i++) {
        const char *word = words[i];
        if (!strcmp(word, "--")) {
            i++;
            break;
        }
        if (!strcmp(word, "-u") || !strcmp(word, "--user")) {
            if (++i >= count) return refuse("option requires an argument: ", word);
            w->user = words[i];
        } else if (starts(word, "--user=")) {
            w->user = word + 7;
        } else if (starts(word, "--preserve-env")) {
            w->flags |= SUDO_KEEP;
        } else if (!strcmp(word, "--login")) {
            w->flags |= SUDO_LOGIN;
        } else if (!strcmp(word, "--shell")) {
            w->flags |= SUDO_SHELL;
        } else if (!strcmp(word, "-V") || !strcmp(word, "--version")) {
            puts("sudo of the Isola guest agent");
            return 0;
        } else if (!strcmp(word, "-v") || !strcmp(word, "-k") || !strcmp(word, "-K") || !strcmp(word, "-l")) {
            w->done = true;
        } else if (starts(word, "--")) {
            /* --non-interactive, --set-home and the like: already the default behaviour */
        } else {
            for (int k = 0; with_value[k]; k++)
                if (!strcmp(word, with_value[k])) return refuse("option is not supported: ", word);
            for (const char *letter = word + 1; *letter; letter++) {
                w->flags |= *letter == 'i' ? SUDO_LOGIN : *letter == 's' ? SUDO_SHELL : *letter == 'E' ? SUDO_KEEP : 0;
                if (!strchr("isEnHSPbAB", *letter)) return refuse("option is not supported: ", word);
            }
        }
    }
    w->first = i;
    return -1;
}

static void request_build(struct builder *b, int count, char **words, const struct sudo_options *w)
{
    int i = w->first;
    for (char **entry = environ; *entry; entry++)
        if (is_kept(*entry, w->flags & SUDO_KEEP)) build_text(b, T_ENV, *entry);
    for (; i < count && strchr(words[i], '=') && words[i][0] != '/' && words[i][0] != '='; i++)
        build_text(b, T_ENV, words[i]);
    for (; i < count; i++) build_text(b, T_ARG, words[i]);
    if (w->user) build_text(b, T_USER, w->user);
    build_u64(b, T_FLAGS, w->flags);
}

/* Sends the length with the descriptors, then the fields. */
static bool request_send(int fd, const struct builder *b)
{
    uint8_t length[4];
    put_u32(length, (uint32_t)b->length);
    int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int given[SUDO_DESCRIPTORS] = {0, 1, 2, folder};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof given)];
    } control = {0};
    struct iovec part = {length, sizeof length};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof given);
    memcpy(CMSG_DATA(head), given, sizeof given);
    bool sent = folder >= 0 && sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof length;
    for (size_t at = 0; sent && at < b->length;) {
        ssize_t n = send(fd, b->data + at, b->length - at, MSG_NOSIGNAL);
        if (n <= 0)
            sent = false;
        else
            at += (size_t)n;
    }
    if (folder >= 0) close(folder);
    return sent;
}

static int answer_read(int fd)
{
    uint8_t answer[8];
    if (recv(fd, answer, sizeof answer, MSG_WAITALL) != (ssize_t)sizeof answer)
        return refuse("the command was killed by the sandbox", "");
    uint32_t kind = get_u32(answer), value = get_u32(answer + 4);
    if (kind == SUDO_EXITED) return (int)value;
    if (kind == SUDO_SIGNALED) {
        signal((int)value, SIG_DFL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        raise((int)value);
        return 128 + (int)value;
    }
    if (value == EPERM) return refuse("this user is not in the group sudo", "");
    return refuse("cannot run the command: ", value == ENOENT ? "no such user" : strerror((int)value));
}

/* Forwards signals until the reply arrives. */
static int wait_for_end(int fd)
{
    sigset_t passed;
    sigemptyset(&passed);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(&passed, numbers[i]);
    sigprocmask(SIG_BLOCK, &passed, NULL);
    struct pollfd polled[2] = {{.fd = fd, .events = POLLIN},
                               {.fd = signalfd(-1, &passed, SFD_CLOEXEC), .events = POLLIN}};
    for (;;) {
        if (poll(polled, 2, -1) < 0 && errno != EINTR) return refuse("poll failed", "");
        if (polled[0].revents) return answer_read(fd);
        struct signalfd_siginfo info;
        if ((polled[1].revents & POLLIN) && read(polled[1].fd, &info, sizeof info) == (ssize_t)sizeof info) {
            uint8_t number = (uint8_t)info.ssi_signo;
            send(fd, &number, 1, MSG_NOSIGNAL);
        }
    }
}

/*
 * A snapshot may have brought this link into a sandbox where set-user-id programs work and the agent does not listen.
 * Executes the image's own sudo then.
 */
static void exec_image_sudo(char **words)
{
    static const char path[] = "/usr/bin/sudo";
    struct stat own, other;
    if (stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0
        && (own.st_dev != other.st_dev || own.st_ino != other.st_ino))
        execv(path, words);
}

int sudo_main(int count, char **words)
{
    int fd = connect_to_agent(), error = errno;
    if (fd < 0) exec_image_sudo(words);
    struct sudo_options w = {0};
    int code = options_read(count, words, &w);
    if (code >= 0) return code;
    if (w.first >= count && !(w.flags & (SUDO_LOGIN | SUDO_SHELL)))
        return w.done ? 0 : refuse("usage: sudo [-EHinsS] [-u user] [VAR=value] command [argument ...]", "");
    struct builder b = {0};
    request_build(&b, count, words, &w);
    if (b.overflow) return refuse("arguments and environment are too long", "");
    if (fd < 0) return refuse("sudo is not available in this sandbox: ", strerror(error));
    if (!request_send(fd, &b)) return refuse("cannot send the request: ", strerror(errno));
    builder_free(&b);
    return wait_for_end(fd);
}
