#include "host_relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "privileges.h"
#include "relay.h"
#include "tcp_pair.h"
#include "wire.h"

enum { CONNECTIONS_MAX = 1024, SENDERS_MAX = 16, LINE_MAX_BYTES = 512 };
/* The agent does not wait: there is room for all connections that a sandbox may have. */
enum { BACKLOG = 1024 };
/* For each connection two sockets, and a pipe in each direction. */
enum { DESCRIPTORS_MAX = 8 * CONNECTIONS_MAX, MEMORY_MAX = 64 << 20, NOBODY = 65534 };
#define HANDOVER_TIMEOUT 2000000000ull
#define REPORT_INTERVAL 1000000000ull
#define LIMIT_INTERVAL 10000000ull

/* A process that has connected to the socket and has not sent a descriptor. */
struct sender {
    struct watch watch;
    struct timer deadline;
};

struct connection {
    struct tcp_pair pair; /* first the guest process, then the other host */
    struct timer deadline;
    unsigned id;
    uint64_t reported;
    enum { CONNECTING, CONNECTED, STARTED } state;
    uint8_t token[HANDOVER_TOKEN];
};

static struct connection *connections[CONNECTIONS_MAX];
static int senders;
static struct timer report, resume;

static void connection_ended(struct connection *c, int error)
{
    timer_clear(&c->deadline);
    tcp_pair_reset(&c->pair);
    printf("ENDED %u %" PRIu64 " %" PRIu64 " %d\n", c->id, c->pair.from[0].bytes, c->pair.from[1].bytes, error);
    connections[c->id] = NULL;
    free(c);
}

static void pair_ended(struct tcp_pair *p)
{
    connection_ended((struct connection *)((char *)p - offsetof(struct connection, pair)), 0);
}

static void connection_timed_out(struct timer *t)
{
    connection_ended((struct connection *)((char *)t - offsetof(struct connection, deadline)), ETIMEDOUT);
}

static void report_due(struct timer *t)
{
    (void)t;
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *c = connections[i];
        if (!c || c->state != STARTED) continue;
        uint64_t sent = c->pair.from[0].bytes, received = c->pair.from[1].bytes;
        if (sent + received != c->reported) printf("BYTES %u %" PRIu64 " %" PRIu64 "\n", i, sent, received);
        c->reported = sent + received;
    }
    tcp_pairs_trim();
    timer_set(&report, now_ns() + REPORT_INTERVAL);
}

/* Nothing wakes a connection that waits for the limit but this timer. */
static void resume_later(void)
{
    if (tcp_pairs_wait() && !resume.at_ns) timer_set(&resume, now_ns() + LIMIT_INTERVAL);
}

static void resume_due(struct timer *t)
{
    (void)t;
    static unsigned first; /* in turns, so that the first connection does not take all */
    first = (first + 1) % CONNECTIONS_MAX;
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *c = connections[(first + i) % CONNECTIONS_MAX];
        if (c && c->state == STARTED) tcp_pair_resume(&c->pair);
    }
    resume_later();
}

/* ---- descriptors of guest processes ---- */

static void sender_free(struct sender *s)
{
    loop_forget(&s->watch);
    close(s->watch.fd);
    timer_clear(&s->deadline);
    senders--;
    free(s);
}

static void sender_timed_out(struct timer *t)
{
    sender_free((struct sender *)((char *)t - offsetof(struct sender, deadline)));
}

static int socket_option(int fd, int option)
{
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

/* Accepts a connected TCP socket and nothing else. */
static bool is_connection(int fd)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    int domain = socket_option(fd, SO_DOMAIN);
    return (domain == AF_INET || domain == AF_INET6) && socket_option(fd, SO_TYPE) == SOCK_STREAM
           && socket_option(fd, SO_PROTOCOL) == IPPROTO_TCP && socket_option(fd, SO_ACCEPTCONN) == 0
           && getpeername(fd, (struct sockaddr *)&peer, &size) == 0;
}

/* Finds the connection of a token, which is valid once, while the other host waits. */
static struct connection *connection_of(const uint8_t *token)
{
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *c = connections[i];
        if (!c || c->state != CONNECTED) continue;
        uint8_t different = 0;
        for (int k = 0; k < HANDOVER_TOKEN; k++) different |= token[k] ^ c->token[k];
        if (!different) return c;
    }
    return NULL;
}

/* Receives a token and one descriptor. Returns it, or -1; all others are closed. */
static int receive(int from, uint8_t *token)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {token, HANDOVER_TOKEN};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_LEN(sizeof(int))}; /* no room for a second one */
    ssize_t n = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = n >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
    int fd = -1;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS
        && header->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
    if (fd >= 0 && (n != HANDOVER_TOKEN || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || !is_connection(fd))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void sender_ready(struct watch *w, uint32_t what)
{
    (void)what;
    struct sender *s = (struct sender *)((char *)w - offsetof(struct sender, watch));
    uint8_t token[HANDOVER_TOKEN];
    int fd = receive(w->fd, token);
    sender_free(s);
    struct connection *c = fd >= 0 ? connection_of(token) : NULL;
    if (!c) {
        if (fd >= 0) socket_reset(fd);
        return;
    }
    timer_clear(&c->deadline);
    c->state = STARTED;
    c->pair.side[0].fd = fd;
    printf("STARTED %u\n", c->id);
    tcp_pair_start(&c->pair);
}

static void listener_ready(struct watch *w, uint32_t what)
{
    (void)what;
    int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    struct sender *s = senders < SENDERS_MAX ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        close(fd);
        return;
    }
    senders++;
    s->deadline.fire = sender_timed_out;
    timer_set(&s->deadline, now_ns() + HANDOVER_TIMEOUT);
    s->watch = (struct watch){.fd = fd, .ready = sender_ready};
    loop_watch(&s->watch, EPOLLIN);
}

static int listen_at(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof at.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, BACKLOG) == 0) return fd;
    int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
    return -1;
}

/* ---- requests of the server ---- */

static void connect_ready(struct watch *w, uint32_t what)
{
    (void)what;
    struct connection *c = (struct connection *)((char *)w - offsetof(struct connection, pair.side[1]));
    int error = socket_option(w->fd, SO_ERROR);
    loop_forget(w);
    if (error) {
        connection_ended(c, error);
        return;
    }
    c->state = CONNECTED;
    timer_set(&c->deadline, now_ns() + HANDOVER_TIMEOUT);
    printf("CONNECTED %u\n", c->id);
}

static int start_connect(const char *host, uint16_t port, int *error)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to;
    memset(&to, 0, sizeof to);
    socklen_t size = sizeof to.v4;
    if (inet_pton(AF_INET, host, &to.v4.sin_addr) == 1) {
        to.v4.sin_family = AF_INET;
        to.v4.sin_port = htons(port);
    } else if (inet_pton(AF_INET6, host, &to.v6.sin6_addr) == 1) {
        size = sizeof to.v6;
        to.v6.sin6_family = AF_INET6;
        to.v6.sin6_port = htons(port);
    } else {
        *error = EINVAL;
        return -1;
    }
    int on = 1, fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    *error = fd >= 0 && connect(fd, &to.any, size) == 0 ? 0 : errno;
    if (*error == EINPROGRESS) *error = 0; /* and reported as ready */
    return fd;
}

static bool request_open(unsigned id, char *words)
{
    char *save, *end;
    const char *hex = strtok_r(words, " ", &save), *host = strtok_r(NULL, " ", &save);
    const char *port_word = strtok_r(NULL, " ", &save), *timeout_word = strtok_r(NULL, " ", &save);
    if (!timeout_word || strlen(hex) != 2 * HANDOVER_TOKEN) return false;
    unsigned long port = strtoul(port_word, &end, 10), timeout = strtoul(timeout_word, &end, 10);
    if (connections[id] || port > 65535) return false;
    struct connection *c = calloc(1, sizeof *c);
    if (!c) return false;
    c->id = id;
    c->deadline.fire = connection_timed_out;
    c->pair.ended = pair_ended;
    c->pair.side[0].fd = -1;
    for (int i = 0; i < HANDOVER_TOKEN; i++) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], 0};
        c->token[i] = (uint8_t)strtoul(digits, &end, 16);
    }
    connections[id] = c;
    int error;
    c->pair.side[1] = (struct watch){.fd = start_connect(host, (uint16_t)port, &error), .ready = connect_ready};
    if (error) {
        connection_ended(c, error);
        return true;
    }
    timer_set(&c->deadline, now_ns() + timeout * 1000000ull);
    loop_watch(&c->pair.side[1], EPOLLOUT);
    return true;
}

/* The server closes what it knows; the end of a connection may have crossed with that. */
static bool request_close(unsigned id)
{
    if (connections[id]) connection_ended(connections[id], ECANCELED);
    return true;
}

static bool handle(char *line)
{
    char *rest;
    size_t verb = strcspn(line, " ");
    unsigned long id = strtoul(line + verb, &rest, 10);
    if (rest == line + verb) return false;
    line[verb] = 0;
    if (strcmp(line, "LIMIT") == 0) {
        tcp_pairs_limit(id);
        return true;
    }
    if (id >= CONNECTIONS_MAX) return false;
    if (*rest == ' ') rest++;
    if (strcmp(line, "OPEN") == 0) return request_open((unsigned)id, rest);
    return strcmp(line, "CLOSE") == 0 && request_close((unsigned)id);
}

static void input_ready(struct watch *w, uint32_t what)
{
    (void)what;
    static char lines[4 * LINE_MAX_BYTES];
    static size_t length;
    ssize_t n = read(w->fd, lines + length, sizeof lines - length);
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) {
        loop_stop(); /* the server is gone */
        return;
    }
    length += (size_t)n;
    char *begin = lines, *end;
    while ((end = memchr(begin, '\n', length - (size_t)(begin - lines)))) {
        *end = 0;
        if (!handle(begin)) {
            fprintf(stderr, "isola-agent: the relay does not understand: %s\n", begin);
            loop_stop();
            return;
        }
        begin = end + 1;
    }
    length -= (size_t)(begin - lines);
    memmove(lines, begin, length);
    if (length == sizeof lines) loop_stop();
}

static void flush(void)
{
    resume_later();
    if (fflush(stdout) != 0) loop_stop();
}

static void limit(int resource, rlim_t most)
{
    struct rlimit both;
    if (getrlimit(resource, &both) != 0) return;
    if (both.rlim_max > most) both.rlim_max = most;
    both.rlim_cur = both.rlim_max;
    setrlimit(resource, &both);
}

/*
 * Gives up what a process of the host has and this one does not need, once it listens. Root of a user namespace without
 * another user is an ordinary user of the host and stays what it is.
 */
static bool confine(void)
{
    limit(RLIMIT_NOFILE, DESCRIPTORS_MAX);
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_MEMLOCK, 0);
    limit(RLIMIT_MSGQUEUE, 0);
#ifndef __SANITIZE_ADDRESS__
    limit(RLIMIT_DATA, MEMORY_MAX);
#endif
    if (geteuid() == 0) {
        bool left =
            setresgid(NOBODY, NOBODY, NOBODY) == 0 && setgroups(0, NULL) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0;
        if (!left && errno != EINVAL) return false;
    }
    if (prctl(PR_SET_DUMPABLE, 0) != 0 || !capabilities_drop_all()) return false;
#ifdef __SANITIZE_ADDRESS__
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0; /* a sanitizer calls more */
#else
    return seccomp_confine_relay();
#endif
}

int host_relay(const char *socket_path)
{
    static struct watch input = {.fd = 0, .ready = input_ready}, listener = {.ready = listener_ready};
    static char output[65536];
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* of a terminal: the server decides when it ends */
    prctl(PR_SET_DUMPABLE, 0);
    umask(077);
    setvbuf(stdout, output, _IOFBF, sizeof output);
    if (!loop_open()) return 1;
    listener.fd = listen_at(socket_path);
    if (listener.fd < 0) {
        fprintf(stderr, "isola-agent: cannot listen on %s: %s\n", socket_path, strerror(errno));
        return 1;
    }
    tcp_pairs_init();
    if (chdir("/") != 0 || !confine()) {
        fprintf(stderr, "isola-agent: the relay cannot give up its privileges: %s\n", strerror(errno));
        return 1;
    }
    printf("LISTENING\n");
    report.fire = report_due;
    resume.fire = resume_due;
    timer_set(&report, now_ns() + REPORT_INTERVAL);
    loop_watch(&input, EPOLLIN);
    loop_watch(&listener, EPOLLIN);
    loop_run(flush);
#ifdef __SANITIZE_ADDRESS__
    _exit(0); /* the search for leaks would trace this process, which it no longer may */
#else
    return 0;
#endif
}
