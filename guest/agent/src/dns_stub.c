#include "dns_stub.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dns_message.h"
#include "loop.h"

#define SECOND 1000000000ull

/* A batch is small, so that a flood of queries delays other events only briefly. */
enum { QUERY_MAX = 1024, BATCH = 16, CLIENTS_MAX = 16, CLIENT_SECONDS = 5, PREFIX = 2 };

/* A connection over TCP, on which each message has a prefix with its length. */
struct client {
    struct watch watch;
    struct timer timeout;
    size_t length;
    uint8_t input[PREFIX + QUERY_MAX];
};

static struct client *clients[CLIENTS_MAX];

static void datagram_ready(struct watch *w, uint32_t what)
{
    (void)what;
    uint8_t query[QUERY_MAX], reply[DNS_REPLY_MAX];
    for (int i = 0; i < BATCH; i++) {
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        ssize_t n = recvfrom(w->fd, query, sizeof query, MSG_TRUNC, (struct sockaddr *)&from, &size);
        if (n < 0) return;
        size_t length = n <= QUERY_MAX ? dns_reply(query, (size_t)n, reply) : 0;
        if (length) sendto(w->fd, reply, length, 0, (struct sockaddr *)&from, size);
    }
}

static void client_close(struct client *c)
{
    for (int i = 0; i < CLIENTS_MAX; i++)
        if (clients[i] == c) clients[i] = NULL;
    loop_forget(&c->watch);
    close(c->watch.fd);
    timer_clear(&c->timeout);
    free(c);
}

static void client_timed_out(struct timer *t)
{
    client_close((struct client *)((char *)t - offsetof(struct client, timeout)));
}

/* Answers the first message, if it is complete. Returns 1 if it was, 0 if more is needed, -1 if the client must go. */
static int client_answer(struct client *c)
{
    if (c->length < PREFIX) return 0;
    size_t query = (size_t)c->input[0] << 8 | c->input[1];
    if (query > QUERY_MAX) return -1;
    if (c->length < PREFIX + query) return 0;
    uint8_t reply[PREFIX + DNS_REPLY_MAX];
    size_t length = dns_reply(c->input + PREFIX, query, reply + PREFIX);
    reply[0] = (uint8_t)(length >> 8);
    reply[1] = (uint8_t)length;
    length += PREFIX;
    if (length == PREFIX || send(c->watch.fd, reply, length, MSG_NOSIGNAL) != (ssize_t)length) return -1;
    c->length -= PREFIX + query;
    memmove(c->input, c->input + PREFIX + query, c->length);
    return 1;
}

static void client_ready(struct watch *w, uint32_t what)
{
    (void)what;
    struct client *c = (struct client *)((char *)w - offsetof(struct client, watch));
    ssize_t n = read(w->fd, c->input + c->length, sizeof c->input - c->length);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    int state = n > 0 ? 1 : -1;
    if (n > 0) c->length += (size_t)n;
    while (state > 0) state = client_answer(c);
    if (state < 0) client_close(c);
}

static void listener_ready(struct watch *w, uint32_t what)
{
    (void)what;
    int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    int free_place = 0;
    while (free_place < CLIENTS_MAX && clients[free_place]) free_place++;
    struct client *c = free_place < CLIENTS_MAX ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        close(fd);
        return;
    }
    clients[free_place] = c;
    c->watch = (struct watch){.fd = fd, .ready = client_ready};
    c->timeout.fire = client_timed_out;
    timer_set(&c->timeout, now_ns() + CLIENT_SECONDS * SECOND);
    loop_watch(&c->watch, EPOLLIN);
}

static bool bind_socket(struct watch *w, int type, struct sockaddr_in *address)
{
    int on = type == SOCK_STREAM; /* over UDP another process could then take over the port */
    socklen_t size = sizeof *address;
    w->fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (w->fd >= 0 && setsockopt(w->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0
        && bind(w->fd, (struct sockaddr *)address, sizeof *address) == 0
        && (type != SOCK_STREAM || listen(w->fd, CLIENTS_MAX) == 0)
        && getsockname(w->fd, (struct sockaddr *)address, &size) == 0) {
        loop_watch(w, EPOLLIN);
        return true;
    }
    int error = errno;
    if (w->fd >= 0) close(w->fd);
    w->fd = -1;
    errno = error;
    return false;
}

static struct watch datagrams = {.fd = -1, .ready = datagram_ready}, listener = {.fd = -1, .ready = listener_ready};

static void stop(struct watch *w)
{
    loop_forget(w);
    if (w->fd >= 0) close(w->fd);
    w->fd = -1;
}

void dns_stub_stop(void)
{
    stop(&datagrams);
    stop(&listener);
}

bool dns_stub_start(struct in_addr address, uint16_t port, uint16_t *udp_port, uint16_t *tcp_port)
{
    struct sockaddr_in udp = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = address}, tcp = udp;
    if (!bind_socket(&datagrams, SOCK_DGRAM, &udp) || !bind_socket(&listener, SOCK_STREAM, &tcp)) return false;
    *udp_port = ntohs(udp.sin_port);
    *tcp_port = ntohs(tcp.sin_port);
    return true;
}
