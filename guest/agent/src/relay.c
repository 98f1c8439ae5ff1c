#include "relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dial_folder.h"
#include "loop.h"
#include "stream_table.h"

enum { ACCEPTED_MAX = 256, CONNECT_SECONDS = 30 };

struct relay {
    struct stream *stream;
    struct watch watch;
    struct timer connect_timeout;
    bool connecting, try_v6;
    bool moved;                /* a byte was read or written */
    bool resets;               /* what is not closed by both sides is reset, not closed */
    int *accepted;             /* counts the connections of its listener; NULL for one that the server opened */
    bool server_eof, peer_eof; /* which side has sent its last byte */
    struct ring out;           /* from the server to the socket */
    size_t ungranted;
    uint16_t port;
    struct relay *next, **link;
};

struct listening {
    struct stream *stream;
    struct watch watch;
};

static struct relay *relays;

void socket_reset(int fd)
{
    static const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

static void relay_free(struct relay *r)
{
    loop_forget(&r->watch);
    if (r->watch.fd >= 0 && r->resets)
        socket_reset(r->watch.fd);
    else if (r->watch.fd >= 0)
        close(r->watch.fd);
    timer_clear(&r->connect_timeout);
    ring_free(&r->out);
    if (r->accepted) --*r->accepted;
    *r->link = r->next;
    if (r->next) r->next->link = r->link;
    free(r);
}

static void relay_end(struct relay *r)
{
    struct stream *s = r->stream;
    r->resets = false;
    relay_free(r);
    stream_end(s, NULL);
}

static void relay_fail(struct relay *r, enum error_code code, int error)
{
    struct stream *s = r->stream;
    uint16_t port = r->port;
    relay_free(r);
    if (code == E_REFUSED)
        stream_error(s, code, error, "no process listens on port %u", port);
    else
        stream_error(s, code, error, "cannot connect to port %u: %s", port, strerror(error));
}

/* Returns false when the relay is gone. */
static bool from_socket(struct relay *r)
{
    static uint8_t buffer[FRAME_MAX];
    while (!r->peer_eof) {
        size_t sendable = stream_sendable(r->stream);
        if (sendable == 0) return true;
        ssize_t n = read(r->watch.fd, buffer, sendable < sizeof buffer ? sendable : sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return true;
        if (n < 0) {
            relay_fail(r, E_IO, errno);
            return false;
        }
        r->moved = true;
        if (n == 0) {
            r->peer_eof = true;
            stream_post(r->stream, STREAM_EOF, NULL, 0, NULL, 0);
        } else {
            stream_post(r->stream, DATA, buffer, (size_t)n, NULL, 0);
        }
    }
    return true;
}

/* Grants the server credit for what the socket has accepted, once that is worth a frame. */
static void relay_sent(struct relay *r, size_t length)
{
    r->ungranted += length;
    if (r->ungranted < AGENT_WINDOW / 4) return;
    stream_grant(r->stream, r->ungranted);
    r->ungranted = 0;
}

static bool to_socket(struct relay *r)
{
    while (r->out.length) {
        ssize_t n = send(r->watch.fd, ring_head(&r->out), r->out.length, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) break;
        if (n < 0) {
            relay_fail(r, E_IO, errno);
            return false;
        }
        ring_drop(&r->out, (size_t)n);
        relay_sent(r, (size_t)n);
    }
    if (r->server_eof && !r->out.length) shutdown(r->watch.fd, SHUT_WR);
    return true;
}

static void relay_pump(struct relay *r)
{
    if (r->connecting || !to_socket(r) || !from_socket(r)) return;
    if (r->peer_eof && r->server_eof && !r->out.length) {
        relay_end(r);
        return;
    }
    uint32_t wanted = (r->out.length ? EPOLLOUT : 0) | (!r->peer_eof && stream_sendable(r->stream) ? EPOLLIN : 0);
    if (!wanted && !r->peer_eof)
        loop_forget(&r->watch); /* a reset would be reported again and again until there is credit to read it */
    else
        loop_watch(&r->watch, wanted);
}

static bool start_connect(struct relay *r, const char *host);

static void connected(struct relay *r)
{
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(r->watch.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error && r->try_v6) {
        r->try_v6 = false;
        loop_forget(&r->watch);
        close(r->watch.fd);
        r->watch.fd = -1;
        if (start_connect(r, "::1")) return;
        error = ECONNREFUSED;
    }
    if (error) {
        relay_fail(r, error == ECONNREFUSED || error == ENETUNREACH || error == EADDRNOTAVAIL ? E_REFUSED : E_IO,
                   error);
        return;
    }
    r->connecting = false;
    timer_clear(&r->connect_timeout);
    int on = 1;
    setsockopt(r->watch.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    stream_post(r->stream, RESPONSE, NULL, 0, NULL, 0);
    relay_pump(r);
}

static void relay_ready(struct watch *w, uint32_t what)
{
    struct relay *r = (struct relay *)((char *)w - offsetof(struct relay, watch));
    if (r->connecting) {
        connected(r);
        return;
    }
    /* Otherwise a reset with nothing left to read would wake the loop forever. */
    if ((what & EPOLLERR) || ((what & EPOLLHUP) && r->peer_eof)) {
        if (r->peer_eof)
            relay_end(r);
        else
            relay_pump(r);
        return;
    }
    relay_pump(r);
}

static void connect_timed_out(struct timer *t)
{
    relay_fail((struct relay *)((char *)t - offsetof(struct relay, connect_timeout)), E_IO, ETIMEDOUT);
}

static void on_data(void *context, const uint8_t *bytes, size_t length)
{
    struct relay *r = context;
    r->moved = true;
    if (!r->connecting && !r->out.length) { /* without a copy, if the socket has room */
        ssize_t n = send(r->watch.fd, bytes, length, MSG_NOSIGNAL);
        if (n > 0) {
            bytes += n;
            length -= (size_t)n;
            relay_sent(r, (size_t)n);
        }
    }
    if (length && !ring_put(&r->out, bytes, length, 2 * AGENT_WINDOW))
        relay_fail(r, E_LIMIT, ENOMEM);
    else
        relay_pump(r);
}

static void on_eof(void *context)
{
    struct relay *r = context;
    r->moved = r->server_eof = true;
    relay_pump(r);
}

static void on_credit(void *context)
{
    relay_pump(context);
}

static void on_cancel(void *context)
{
    struct relay *r = context;
    struct stream *s = r->stream;
    relay_free(r);
    stream_error(s, E_CANCELLED, 0, "cancelled");
}

static void on_dropped(void *context)
{
    relay_free(context);
}

static const struct stream_owner relay_owner = {on_data, on_eof, on_credit, on_cancel, on_dropped};

static struct relay *relay_new(struct stream *s, int fd, uint16_t port)
{
    struct relay *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->stream = s;
    r->port = port;
    r->watch = (struct watch){.fd = fd, .ready = relay_ready};
    r->connect_timeout.fire = connect_timed_out;
    r->next = relays;
    r->link = &relays;
    if (relays) relays->link = &r->next;
    relays = r;
    stream_set_owner(s, &relay_owner, r);
    return r;
}

static bool start_connect(struct relay *r, const char *host)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    memset(&address, 0, sizeof address);
    socklen_t size;
    if (inet_pton(AF_INET, host, &address.v4.sin_addr) == 1) {
        address.v4.sin_family = AF_INET;
        address.v4.sin_port = htons(r->port);
        size = sizeof address.v4;
    } else if (inet_pton(AF_INET6, host, &address.v6.sin6_addr) == 1) {
        address.v6.sin6_family = AF_INET6;
        address.v6.sin6_port = htons(r->port);
        size = sizeof address.v6;
    } else {
        errno = EINVAL;
        return false;
    }
    r->watch.fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (r->watch.fd < 0) return false;
    if (connect(r->watch.fd, &address.any, size) != 0 && errno != EINPROGRESS) {
        int error = errno;
        close(r->watch.fd);
        r->watch.fd = -1;
        errno = error;
        return false;
    }
    r->connecting = true;
    timer_set(&r->connect_timeout, now_ns() + CONNECT_SECONDS * 1000000000ull);
    loop_watch(&r->watch, EPOLLOUT);
    return true;
}

void relay_dial(struct stream *s, struct fields request)
{
    uint64_t port = fields_u64(request, T_PORT, 0);
    if (port < 1 || port > 65535) {
        stream_error(s, E_INVALID, 0, "PORT must be 1 to 65535");
        stream_release(s);
        return;
    }
    char *host = fields_text(request, T_HOST);
    bool local = !host || !*host || strcmp(host, "localhost") == 0;
    struct relay *r = relay_new(s, -1, (uint16_t)port);
    if (!r) {
        stream_error(s, E_LIMIT, ENOMEM, "the agent is out of memory");
        stream_release(s);
        free(host);
        return;
    }
    r->try_v6 = local;
    if (!start_connect(r, local ? "127.0.0.1" : host)) {
        int error = errno;
        if (!(local && start_connect(r, "::1")))
            relay_fail(r, error == ECONNREFUSED ? E_REFUSED : error == EINVAL ? E_INVALID : E_IO, error);
    }
    free(host);
}

/* Sends a descriptor to the socket `egress` beside that of the server. Returns 0, or the error. */
static int send_descriptor(int fd, const uint8_t *token)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof fd)];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {(void *)(uintptr_t)token, HANDOVER_TOKEN};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    int to = dial_folder_connect("egress");
    if (to < 0) return errno;
    int error = sendmsg(to, &message, MSG_NOSIGNAL) == HANDOVER_TOKEN ? 0 : errno;
    close(to);
    return error;
}

void relay_hand_over(struct stream *s, struct fields request)
{
    struct field token;
    uint64_t number = fields_u64(request, T_RELAY, 0);
    struct relay *r = relays;
    while (r && r->stream->id != number) r = r->next;
    if (!r || !r->accepted || r->moved || !fields_find(request, T_NONCE, &token) || token.length != HANDOVER_TOKEN) {
        stream_error(s, E_INVALID, 0, "HANDOVER needs a NONCE of 16 bytes and the RELAY of an unused connection");
        stream_release(s);
        return;
    }
    int error = send_descriptor(r->watch.fd, token.value);
    if (error) {
        stream_error(s, E_IO, error, "cannot reach the relay of the server: %s", strerror(error));
    } else {
        relay_end(r);
        stream_end(s, NULL);
    }
    stream_release(s);
}

void relays_resume(void)
{
    for (struct relay *r = relays, *next; r; r = next) {
        next = r->next;
        relay_pump(r);
    }
}

/* ---- listening ---- */

bool relay_accepted(int fd, const struct relay_listener *l)
{
    struct stream *s = *l->count < l->most ? stream_open_own(0) : NULL;
    struct relay *r = s ? relay_new(s, fd, l->port) : NULL;
    if (!r) {
        if (s) stream_release(s);
        return false;
    }
    r->resets = l->resets;
    r->accepted = l->count;
    ++*l->count;
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct builder b = {0};
    build_u64(&b, T_RELAY, l->stream);
    if (l->host) build_text(&b, T_HOST, l->host);
    if (l->port) build_u64(&b, T_PORT, l->port);
    stream_post(s, INCOMING, b.data, b.length, NULL, 0);
    builder_free(&b);
    relay_pump(r);
    return true;
}

static void accept_ready(struct watch *w, uint32_t what)
{
    (void)what;
    static int count;
    struct listening *l = (struct listening *)((char *)w - offsetof(struct listening, watch));
    int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct relay_listener listener = {.stream = l->stream->id, .count = &count, .most = ACCEPTED_MAX};
    if (fd >= 0 && !relay_accepted(fd, &listener)) close(fd);
}

static void listening_free(struct listening *l)
{
    loop_forget(&l->watch);
    close(l->watch.fd);
    free(l);
}

static void listening_data(void *context, const uint8_t *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
}

static void listening_ignore(void *context)
{
    (void)context;
}

static void listening_cancel(void *context)
{
    struct listening *l = context;
    struct stream *s = l->stream;
    listening_free(l);
    stream_end(s, NULL);
}

static void listening_dropped(void *context)
{
    listening_free(context);
}

void relay_listen(struct stream *s, struct fields request)
{
    static const struct stream_owner owner = {listening_data, listening_ignore, listening_ignore, listening_cancel,
                                              listening_dropped};
    uint64_t port = fields_u64(request, T_PORT, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = port > 65535 ? -1 : socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    struct listening *l = calloc(1, sizeof *l);
    if (!l || fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0
        || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 128) != 0
        || getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        int error = port > 65535 ? EINVAL : errno;
        if (fd >= 0) close(fd);
        free(l);
        stream_error(s,
                     error == EADDRINUSE ? E_EXISTS
                     : error == EINVAL   ? E_INVALID
                                         : E_IO,
                     error, "cannot listen on port %llu: %s", (unsigned long long)port, strerror(error));
        stream_release(s);
        return;
    }
    l->stream = s;
    l->watch = (struct watch){.fd = fd, .ready = accept_ready};
    stream_set_owner(s, &owner, l);
    struct builder b = {0};
    build_u64(&b, T_PORT, ntohs(address.sin_port));
    stream_post(s, RESPONSE, b.data, b.length, NULL, 0);
    builder_free(&b);
    loop_watch(&l->watch, EPOLLIN);
}
