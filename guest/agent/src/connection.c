#include "connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "events.h"
#include "handshake.h"
#include "loop.h"
#include "send_queue.h"

enum {
    HANDSHAKES_MAX = 8,
    HANDSHAKE_PAYLOAD_MAX = 1024, /* longest payload accepted from an unauthenticated peer */
    HANDSHAKE_SECONDS = 5,
    QUEUE_FULL = 256 << 10,  /* bulk data waits above this size: it is better left in the socket's buffer than copied */
    SOCKET_BUFFER = 4 << 20, /* holds a whole window, so both sides need fewer wake-ups */
    READ_PER_TURN = 1 << 20,
};

struct peer {
    int in_fd, out_fd;
    bool authenticated, fixed, repeat, dead;
    struct watch in, out; /* `out` is used only when the two descriptors differ */
    struct timer timer;
    struct frame_reader reader;
    struct send_queue queue;
    bool want_write;
    uint8_t nonce[NONCE_SIZE];
    const struct dialled_events *dialled; /* NULL when the peer connected to the agent */
    struct peer *next;
};

pthread_mutex_t connection_lock = PTHREAD_MUTEX_INITIALIZER;
static struct watch listener = {.fd = -1};
static struct peer *unauthenticated;
static struct peer *server;
static bool room_wanted;

void connection_setup(const uint8_t *secret, const char *sandbox)
{
    handshake_setup(secret, sandbox);
}

bool connection_is_open(void)
{
    return server != NULL;
}

/* ---- sending ---- */

/* Requests a write event for what could not be sent at once. May be called on a worker thread. */
static bool after_send(struct peer *p, bool ok)
{
    if (p->queue.length && !p->queue.corked && !p->want_write) {
        p->want_write = true;
        loop_wake();
    }
    return ok;
}

/* Returns false when the peer is gone or its send queue exceeds its bound. */
static bool peer_send(struct peer *p, enum frame_type type, uint32_t stream, const void *head, size_t head_length,
                      const void *payload, size_t length)
{
    return after_send(p, send_queue_send(&p->queue, type, stream, head, head_length, payload, length));
}

static bool send_failed(void)
{
    server->dead = true; /* connection_poll closes it */
    loop_wake();
    return false;
}

bool connection_send(enum frame_type type, uint32_t stream, const void *head, size_t head_length, const void *payload,
                     size_t length)
{
    if (!server || server->dead) return false;
    return peer_send(server, type, stream, head, head_length, payload, length) || send_failed();
}

bool connection_send_pipe(enum frame_type type, uint32_t stream, int pipe, size_t length)
{
    if (!server || server->dead) return false;
    return after_send(server, send_queue_send_pipe(&server->queue, type, stream, pipe, length)) || send_failed();
}

void connection_cork(void)
{
    pthread_mutex_lock(&connection_lock);
    if (server) server->queue.corked = true;
    pthread_mutex_unlock(&connection_lock);
}

void connection_uncork(void)
{
    pthread_mutex_lock(&connection_lock);
    if (server && server->queue.corked) {
        server->queue.corked = false;
        if (!server->dead && !after_send(server, send_queue_flush(&server->queue))) send_failed();
        events->flushed(); /* if everything was sent, no write event follows to wake them */
    }
    pthread_mutex_unlock(&connection_lock);
}

bool connection_has_room(void)
{
    if (server && !server->dead && server->queue.length < QUEUE_FULL) return true;
    room_wanted = true;
    return false;
}

static void send_fields(struct peer *p, enum frame_type type, struct builder *b)
{
    pthread_mutex_lock(&connection_lock);
    if (!peer_send(p, type, 0, NULL, 0, b->data, b->length)) p->dead = true;
    pthread_mutex_unlock(&connection_lock);
    builder_free(b);
}

/* Sends what is queued. Returns true when the queue is empty. Requires connection_lock. */
static bool flush(struct peer *p)
{
    if (!send_queue_flush(&p->queue)) p->dead = true;
    return p->queue.length == 0;
}

/* ---- peers ---- */

/*
 * Before the handshake a port reports changes only, among them that the host has connected: without a host it is always
 * ready to be read.
 */
static void update_watch(struct peer *p)
{
    if (p->repeat && !p->authenticated) {
        loop_watch(&p->in, EPOLLIN | EPOLLOUT | EPOLLET);
        return;
    }
    uint32_t write_events = p->want_write ? EPOLLOUT : 0;
    if (p->in_fd == p->out_fd) {
        loop_watch(&p->in, EPOLLIN | write_events);
    } else {
        loop_watch(&p->in, EPOLLIN);
        if (write_events || p->out.added) loop_watch(&p->out, write_events);
    }
}

static void peer_free(struct peer *p)
{
    loop_forget(&p->in);
    loop_forget(&p->out);
    timer_clear(&p->timer);
    if (!p->fixed) {
        close(p->in_fd);
        if (p->out_fd != p->in_fd) close(p->out_fd);
    }
    frame_reader_free(&p->reader);
    send_queue_free(&p->queue);
    free(p);
}

static void send_challenge(struct peer *p)
{
    struct builder b = {0};
    handshake_challenge(&b, p->nonce, p->dialled != NULL);
    send_fields(p, CHALLENGE, &b);
}

static void begin_handshake(struct peer *p)
{
    p->authenticated = false;
    p->reader.limit = HANDSHAKE_PAYLOAD_MAX;
    if (!handshake_nonce(p->nonce)) {
        p->dead = true;
        return;
    }
    send_challenge(p);
    timer_set(&p->timer, now_ns() + (p->fixed ? 1u : HANDSHAKE_SECONDS) * 1000000000ull);
    p->next = unauthenticated;
    unauthenticated = p;
}

static void remove_unauthenticated(struct peer *p)
{
    for (struct peer **at = &unauthenticated; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            p->next = NULL;
            return;
        }
}

static void discard_buffers(struct peer *p)
{
    p->reader.start = p->reader.length = 0;
    p->queue.start = p->queue.length = 0;
    p->want_write = false;
}

static void peer_gone(struct peer *p)
{
    if (p == server) {
        pthread_mutex_lock(&connection_lock);
        server = NULL;
        events->lost();
        pthread_mutex_unlock(&connection_lock);
        events->disconnected();
    } else {
        remove_unauthenticated(p);
    }
    if (p->fixed && p->repeat) {
        /* The device stays open; the next server finds a fresh challenge. */
        discard_buffers(p);
        p->dead = false;
        begin_handshake(p);
        update_watch(p);
        return;
    }
    const struct dialled_events *dialled = p->dialled;
    bool authenticated = p->authenticated;
    peer_free(p);
    if (dialled) dialled->ended(authenticated);
}

bool connection_is_flushed(void)
{
    pthread_mutex_lock(&connection_lock);
    bool flushed = !server || server->queue.length == 0;
    pthread_mutex_unlock(&connection_lock);
    return flushed;
}

void connection_drop(void)
{
    /* Only marks it, since the caller may be reading its frames. connection_poll closes it. */
    if (server) server->dead = true;
    loop_wake();
}

static void handshake_timer(struct timer *t)
{
    struct peer *p = (struct peer *)((char *)t - offsetof(struct peer, timer));
    if (p->authenticated) return;
    if (p->fixed) {
        if (p->queue.length == 0) send_challenge(p);
        update_watch(p);
        timer_set(&p->timer, now_ns() + 1000000000ull);
        return;
    }
    peer_gone(p);
}

static bool authenticate(struct peer *p, const struct frame *f)
{
    struct builder welcome = {0};
    if (!handshake_answer(f, p->nonce, &welcome)) return false;
    remove_unauthenticated(p);
    timer_clear(&p->timer);
    if (server) {
        struct builder bye = {0};
        build_text(&bye, T_REASON, "replaced");
        send_fields(server, BYE, &bye);
        peer_gone(server);
    }
    send_fields(p, WELCOME, &welcome);
    p->authenticated = true;
    p->reader.limit = FRAME_MAX;
    pthread_mutex_lock(&connection_lock);
    server = p;
    pthread_mutex_unlock(&connection_lock);
    events->connected();
    if (p->dialled) p->dialled->authenticated();
    return true;
}

static bool handle(struct peer *p, const struct frame *f)
{
    if (!p->authenticated) return authenticate(p, f);
    if (f->type == PING) {
        if (f->stream != 0 || f->length > 64) return false;
        pthread_mutex_lock(&connection_lock);
        bool ok = peer_send(p, PONG, 0, NULL, 0, f->payload, f->length);
        pthread_mutex_unlock(&connection_lock);
        return ok;
    }
    if (f->type == PONG) return f->stream == 0;
    events->frame(f);
    return true;
}

/*
 * A server begins with this on a port, in case the agent has missed the end of the previous connection. Returns true
 * when it is a repetition of the challenge that the server needs.
 */
static bool skip_reset(struct peer *p)
{
    static const uint8_t reset[FRAME_HEADER] = {255, 255, 255, 255, 255, 255, 255, 255, 255};
    if (!p->repeat || p->authenticated || memcmp(p->reader.buffer + p->reader.start, reset, sizeof reset) != 0)
        return false;
    p->reader.start += sizeof reset;
    p->reader.length -= sizeof reset;
    if (p->queue.length == 0) send_challenge(p);
    return true;
}

static void read_frames(struct peer *p)
{
    size_t taken = 0;
    while (!p->dead && taken < READ_PER_TURN) {
        size_t available;
        uint8_t *room = frame_room(&p->reader, &available);
        if (!room) {
            p->dead = true;
            return;
        }
        ssize_t n = read(p->in_fd, room, available);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) {
            p->dead = true;
            return;
        }
        frame_filled(&p->reader, (size_t)n);
        taken += (size_t)n;
        struct frame f;
        enum frame_result result = FRAME_NONE;
        do {
            while (!p->dead && (result = frame_next(&p->reader, &f)) == FRAME_READY)
                if (!handle(p, &f)) p->dead = true;
        } while (!p->dead && result == FRAME_BROKEN && skip_reset(p));
        if (result == FRAME_BROKEN) p->dead = true;
        if ((size_t)n < available && !p->repeat) return; /* a port returns one buffer at a time */
    }
}

/* Discards what a host has left that hung up before the handshake was over, and prepares for the next one. */
static bool is_host_absent(struct peer *p, uint32_t what)
{
    char left[4096];
    if (!p->repeat || p->authenticated || !(what & EPOLLHUP)) return false;
    while (read(p->in_fd, left, sizeof left) > 0) {}
    discard_buffers(p);
    send_challenge(p); /* written when a host connects */
    return true;
}

static void peer_ready(struct peer *p, uint32_t what)
{
    if (is_host_absent(p, what)) return;
    if (what & EPOLLOUT) {
        pthread_mutex_lock(&connection_lock);
        if (flush(p)) p->want_write = false;
        events->flushed();
        pthread_mutex_unlock(&connection_lock);
    }
    if (what & (EPOLLIN | EPOLLHUP | EPOLLERR)) read_frames(p);
    if (p->dead)
        peer_gone(p);
    else
        update_watch(p);
}

static void in_ready(struct watch *w, uint32_t what)
{
    peer_ready((struct peer *)((char *)w - offsetof(struct peer, in)), what);
}

static void out_ready(struct watch *w, uint32_t what)
{
    struct peer *p = (struct peer *)((char *)w - offsetof(struct peer, out));
    if (what & (EPOLLHUP | EPOLLERR)) {
        peer_gone(p);
        return;
    }
    peer_ready(p, what & EPOLLOUT);
}

void connection_poll(void)
{
    if (!server) return;
    pthread_mutex_lock(&connection_lock);
    bool dead = server->dead;
    bool room = room_wanted && !dead && server->queue.length < QUEUE_FULL / 2;
    if (room) room_wanted = false;
    pthread_mutex_unlock(&connection_lock);
    if (dead) {
        peer_gone(server);
        return;
    }
    update_watch(server);
    if (room) events->room();
}

static struct peer *peer_new(int in_fd, int out_fd)
{
    struct peer *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->in_fd = in_fd;
    p->out_fd = p->queue.fd = out_fd;
    p->in = (struct watch){.fd = in_fd, .ready = in_ready};
    p->out = (struct watch){.fd = out_fd, .ready = out_ready};
    p->timer.fire = handshake_timer;
    return p;
}

static void start_handshake(struct peer *p)
{
    begin_handshake(p);
    if (p->dead)
        peer_gone(p);
    else
        update_watch(p);
}

static void enlarge_send_buffer(int fd)
{
    int size = SOCKET_BUFFER;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size); /* without root: limited by net.core.wmem_max */
}

void connection_accepted(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    int count = 0;
    struct peer *oldest = NULL;
    for (struct peer *p = unauthenticated; p; p = p->next) {
        count++;
        if (!p->fixed) oldest = p; /* the list is newest first */
    }
    if (count >= HANDSHAKES_MAX && oldest) peer_gone(oldest);
    enlarge_send_buffer(fd);
    struct peer *p = peer_new(fd, fd);
    if (p)
        start_handshake(p);
    else
        close(fd);
}

static void accept_ready(struct watch *w, uint32_t what)
{
    (void)what;
    int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) connection_accepted(fd);
}

bool connection_listen(int fd)
{
    listener = (struct watch){.fd = fd, .ready = accept_ready};
    loop_watch(&listener, EPOLLIN);
    return listener.added;
}

void connection_dialled(int fd, const struct dialled_events *e)
{
    enlarge_send_buffer(fd);
    struct peer *p = peer_new(fd, fd);
    if (!p) {
        close(fd);
        e->ended(false);
        return;
    }
    p->dialled = e;
    start_handshake(p);
}

void connection_abandon_dialled(void)
{
    for (struct peer *p = unauthenticated; p; p = p->next)
        if (p->dialled) {
            peer_gone(p);
            return;
        }
}

bool connection_fixed(int in_fd, int out_fd, bool repeat)
{
    fcntl(in_fd, F_SETFL, fcntl(in_fd, F_GETFL) | O_NONBLOCK);
    fcntl(out_fd, F_SETFL, fcntl(out_fd, F_GETFL) | O_NONBLOCK);
    struct peer *p = peer_new(in_fd, out_fd);
    if (!p) return false;
    p->fixed = true;
    p->repeat = repeat;
    start_handshake(p);
    return true;
}

void connection_send_bye(const char *reason)
{
    if (!server) return;
    struct builder b = {0};
    build_text(&b, T_REASON, reason);
    send_fields(server, BYE, &b);
    for (int i = 0; i < 20 && server->queue.length && !server->dead; i++) {
        struct pollfd ready = {.fd = server->out_fd, .events = POLLOUT};
        poll(&ready, 1, 10);
        pthread_mutex_lock(&connection_lock);
        flush(server);
        pthread_mutex_unlock(&connection_lock);
    }
}
