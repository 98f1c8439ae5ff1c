#include "tcp_pair.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relay.h"

/* A connection that never pauses gets this many reads in one turn; then it is the turn of the others. */
enum { READ_MOST = 256 * 1024, READ_LEAST = 16 * 1024, READS_IN_A_TURN = 4 };

static void close_side(struct watch *w, bool reset)
{
    loop_forget(w);
    if (w->fd < 0) return;
    if (reset)
        socket_reset(w->fd);
    else
        close(w->fd);
    w->fd = -1;
}

void tcp_pair_reset(struct tcp_pair *p)
{
    for (int i = 0; i < 2; i++) close_side(&p->side[i], true);
}

/*
 * Passes on what one side has sent. Bytes are removed from its queue only when the other side has accepted them, so
 * none are stored here. Returns false when a connection is broken.
 */
static bool copy(struct tcp_pair *p, int side)
{
    static uint8_t buffer[READ_MOST];
    struct tcp_flow *flow = &p->from[side];
    int in = p->side[side].fd, out = p->side[!side].fd;
    for (int i = 0; i < READS_IN_A_TURN && !flow->eof && !flow->full; i++) {
        ssize_t there = recv(in, buffer, flow->most, MSG_PEEK | MSG_DONTWAIT);
        if (there < 0 && errno == EINTR) continue;
        if (there < 0) return errno == EAGAIN;
        if (there == 0) {
            flow->eof = true;
            return shutdown(out, SHUT_WR) == 0;
        }
        ssize_t sent = send(out, buffer, (size_t)there, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno != EAGAIN) return false;
        if (sent > 0 && recv(in, NULL, (size_t)sent, MSG_TRUNC | MSG_DONTWAIT) != sent) return false;
        if (sent > 0) flow->bytes += (uint64_t)sent;
        flow->full = sent < there;
        if (flow->full)
            flow->most = sent > READ_LEAST ? (size_t)sent : READ_LEAST;
        else if ((size_t)there < flow->most)
            return true; /* that was all */
        else if (flow->most < READ_MOST)
            flow->most = flow->most < READ_MOST / 2 ? flow->most * 2 : READ_MOST;
    }
    return true;
}

/* A side from which nothing can be passed on is not watched for input: it would be reported again and again. */
static void watch(struct tcp_pair *p, int side)
{
    const struct tcp_flow *in = &p->from[side], *out = &p->from[!side];
    uint32_t wanted = (!in->eof && !in->full ? EPOLLIN : 0) | (out->full ? EPOLLOUT : 0);
    if (wanted || in->eof)
        loop_watch(&p->side[side], wanted);
    else
        loop_forget(&p->side[side]);
}

static void update(struct tcp_pair *p, bool broken)
{
    if (broken || (p->from[0].eof && p->from[1].eof)) {
        for (int i = 0; i < 2; i++) close_side(&p->side[i], broken);
        p->ended(p);
        return;
    }
    watch(p, 0);
    watch(p, 1);
}

static void ready(struct tcp_pair *p, int side, uint32_t what)
{
    /* Where nothing more is read, an error is not found by reading. */
    bool broken = p->from[side].eof && (what & (EPOLLERR | EPOLLHUP));
    if (what & (EPOLLOUT | EPOLLERR | EPOLLHUP)) p->from[!side].full = false;
    if (!broken && (what & ~(uint32_t)EPOLLOUT)) broken = !copy(p, side);
    if (!broken && (what & ~(uint32_t)EPOLLIN)) broken = !copy(p, !side);
    update(p, broken);
}

static void first_ready(struct watch *w, uint32_t what)
{
    ready((struct tcp_pair *)((char *)w - offsetof(struct tcp_pair, side[0])), 0, what);
}

static void second_ready(struct watch *w, uint32_t what)
{
    ready((struct tcp_pair *)((char *)w - offsetof(struct tcp_pair, side[1])), 1, what);
}

void tcp_pair_start(struct tcp_pair *p)
{
    static const struct linger none = {0};
    int on = 1;
    for (int i = 0; i < 2; i++) {
        setsockopt(p->side[i].fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
        setsockopt(p->side[i].fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        p->side[i].ready = i ? second_ready : first_ready;
        p->from[i] = (struct tcp_flow){.most = READ_LEAST};
    }
    update(p, !copy(p, 0) || !copy(p, 1));
}
