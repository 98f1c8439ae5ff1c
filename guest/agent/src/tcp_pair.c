#include "tcp_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* A connection that never pauses gets this many reads in one turn; then it is the turn of the others. */
enum { READS_IN_A_TURN = 4, READ_LEAST = 16 * 1024, READ_MOST = 64 * 1024 };
enum { PIPE_SIZE = 512 * 1024, MOVE_LEAST = 4096, SPARES_MOST = 4 };

/* No call waits that long, unless the sandbox has made it wait. */
enum { STUCK_AFTER_US = 100000 };

/* If this process is killed, its connections are reset and do not seem to be complete. */
static void linger(int fd, bool reset)
{
    struct linger how = {.l_onoff = reset, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &how, sizeof how);
}

static void close_side(struct watch *w, bool reset)
{
    loop_forget(w);
    if (w->fd < 0) return;
    linger(w->fd, reset);
    close(w->fd);
    w->fd = -1;
}

/* ---- pipes: a flow has one while bytes are in it; the others are kept for the next flow ---- */

static int spare[SPARES_MOST][2];
static int spares;

static bool pipe_take(struct tcp_flow *flow)
{
    if (flow->piped) return true;
    if (spares) {
        memcpy(flow->pipe, spare[--spares], sizeof flow->pipe);
    } else {
        if (pipe2(flow->pipe, O_CLOEXEC | O_NONBLOCK) != 0) return false;
        fcntl(flow->pipe[0], F_SETPIPE_SZ, PIPE_SIZE); /* users without root have few; a small one works, too */
    }
    return flow->piped = true;
}

static void pipe_release(struct tcp_flow *flow)
{
    if (!flow->piped) return;
    if (!flow->held && spares < SPARES_MOST) {
        memcpy(spare[spares++], flow->pipe, sizeof flow->pipe);
    } else {
        close(flow->pipe[0]);
        close(flow->pipe[1]);
    }
    flow->piped = false;
}

void tcp_pairs_trim(void)
{
    while (spares) {
        close(spare[--spares][0]);
        close(spare[spares][1]);
    }
}

static void close_sides(struct tcp_pair *p, bool reset)
{
    for (int i = 0; i < 2; i++) {
        close_side(&p->side[i], reset);
        pipe_release(&p->from[i]);
    }
}

void tcp_pair_reset(struct tcp_pair *p)
{
    close_sides(p, true);
}

/* ---- the limit: a bucket for each direction ---- */

enum { BURST_LEAST = 16 * 1024, BURSTS_IN_A_SECOND = 20, PARTS_OF_A_BURST = 4 };

static uint64_t limit, filled_at;
static uint64_t allowed[2];
static bool waiting;

static uint64_t burst(void)
{
    uint64_t share = limit / BURSTS_IN_A_SECOND;
    return share < BURST_LEAST ? BURST_LEAST : share;
}

void tcp_pairs_limit(uint64_t bytes_per_second)
{
    bool first = !limit;
    limit = bytes_per_second;
    filled_at = now_ns();
    for (int side = 0; side < 2; side++)
        if (first || allowed[side] > burst()) allowed[side] = burst();
}

static void fill(void)
{
    uint64_t now = now_ns(), since = now - filled_at;
    if (since > 1000000000) since = 1000000000;
    uint64_t more = (uint64_t)((double)limit * (double)since / 1e9);
    if (!more) return; /* and the time counts for the next one */
    filled_at = now;
    for (int side = 0; side < 2; side++) {
        allowed[side] += more;
        if (allowed[side] > burst()) allowed[side] = burst();
    }
}

/* Returns how much one side may send now. A little is not worth a system call. */
static size_t allowance(int side)
{
    if (!limit) return SIZE_MAX;
    fill();
    return allowed[side] < burst() / PARTS_OF_A_BURST ? 0 : (size_t)allowed[side];
}

static void spend(int side, uint64_t bytes)
{
    if (limit) allowed[side] -= bytes;
}

bool tcp_pairs_wait(void)
{
    bool was = waiting;
    waiting = false;
    return was;
}

/* ---- from one side to the other ---- */

enum outcome { MOVED, PAUSED, BROKEN };

static enum outcome ended(struct tcp_flow *flow, int out)
{
    flow->eof = true;
    return shutdown(out, SHUT_WR) == 0 ? PAUSED : BROKEN;
}

/* ---- calls that wait ---- */

static volatile sig_atomic_t stuck;

static void on_stuck(int signal)
{
    (void)signal;
    stuck = 1;
}

void tcp_pairs_init(void)
{
    struct sigaction action = {.sa_handler = on_stuck}; /* without SA_RESTART: the call fails with EINTR */
    sigaction(SIGALRM, &action, NULL);
}

/* Repeats, so that it does not matter if it comes just before a call. */
static void watch_for_stuck(bool on)
{
    struct itimerval every = {{0, on ? STUCK_AFTER_US : 0}, {0, on ? STUCK_AFTER_US : 0}};
    setitimer(ITIMER_REAL, &every, NULL);
    stuck = 0;
}

/* Moves pages through a pipe, without a copy. Unlike the calls of `copy` these depend on the flags of a connection. */
static enum outcome move(struct tcp_flow *flow, int in, int out, size_t most)
{
    if (!flow->held) {
        if (most > PIPE_SIZE) most = PIPE_SIZE;
        ssize_t there = splice(in, NULL, flow->pipe[1], NULL, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (there < 0) return errno == EAGAIN ? PAUSED : errno == EINTR && !stuck ? MOVED : BROKEN;
        if (there == 0) return ended(flow, out);
        flow->held = (size_t)there;
        flow->bulk = there >= MOVE_LEAST;
    }
    ssize_t sent = splice(flow->pipe[0], NULL, out, NULL, flow->held, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (sent < 0 && errno != EAGAIN) return errno == EINTR && !stuck ? MOVED : BROKEN;
    flow->full = sent < 0;
    if (sent > 0) {
        flow->held -= (size_t)sent;
        flow->bytes += (uint64_t)sent;
    }
    return MOVED;
}

/* Bytes are removed from the queue of one side only when the other has accepted them, so none are stored here. */
static enum outcome copy(struct tcp_flow *flow, int in, int out, size_t most)
{
    static uint8_t buffer[READ_MOST];
    if (most > flow->most) most = flow->most;
    ssize_t there = recv(in, buffer, most, MSG_PEEK | MSG_DONTWAIT);
    if (there < 0) return errno == EINTR ? MOVED : errno == EAGAIN ? PAUSED : BROKEN;
    if (there == 0) return ended(flow, out);
    ssize_t sent = send(out, buffer, (size_t)there, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) return MOVED;
    if (sent < 0 && errno != EAGAIN) return BROKEN;
    if (sent > 0 && recv(in, NULL, (size_t)sent, MSG_TRUNC | MSG_DONTWAIT) != sent) return BROKEN;
    if (sent > 0) flow->bytes += (uint64_t)sent;
    flow->full = sent < there;
    if (!flow->full && (size_t)there < most) return PAUSED; /* that was all */
    if (most < flow->most) return MOVED;
    if (flow->most < READ_MOST)
        flow->most *= 2;
    else
        flow->bulk = true;
    return MOVED;
}

/* Passes on what one side has sent. Returns false when a connection is broken. */
static bool pass(struct tcp_pair *p, int side)
{
    struct tcp_flow *flow = &p->from[side];
    int in = p->side[side].fd, out = p->side[!side].fd;
    enum outcome outcome = MOVED;
    bool watched = false;
    flow->waits = false;
    for (int i = 0; i < READS_IN_A_TURN && outcome == MOVED && !flow->eof && !flow->full; i++) {
        size_t most = allowance(side);
        if (!most && !flow->held) {
            flow->waits = waiting = true;
            break;
        }
        bool moves = flow->held || (flow->bulk && pipe_take(flow));
        uint64_t before = flow->bytes + flow->held;
        if (moves && !watched) watch_for_stuck(watched = true);
        outcome = moves ? move(flow, in, out, most) : copy(flow, in, out, most);
        spend(side, flow->bytes + flow->held - before);
    }
    if (watched) watch_for_stuck(false);
    if (!flow->held) pipe_release(flow);
    return outcome != BROKEN;
}

/* A side from which nothing can be passed on is not watched for input: it would be reported again and again. */
static void watch(struct tcp_pair *p, int side)
{
    const struct tcp_flow *in = &p->from[side], *out = &p->from[!side];
    uint32_t wanted = (!in->eof && !in->full && !in->waits ? EPOLLIN : 0) | (out->full ? EPOLLOUT : 0);
    if (wanted || in->eof)
        loop_watch(&p->side[side], wanted);
    else
        loop_forget(&p->side[side]);
}

static void update(struct tcp_pair *p, bool broken)
{
    if (broken || (p->from[0].eof && p->from[1].eof)) {
        close_sides(p, broken);
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
    if (!broken && (what & ~(uint32_t)EPOLLOUT)) broken = !pass(p, side);
    if (!broken && (what & ~(uint32_t)EPOLLIN)) broken = !pass(p, !side);
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

void tcp_pair_resume(struct tcp_pair *p)
{
    bool broken = false;
    if (!p->from[0].waits && !p->from[1].waits) return;
    for (int side = 0; side < 2 && !broken; side++)
        if (p->from[side].waits) broken = !pass(p, side);
    update(p, broken);
}

void tcp_pair_start(struct tcp_pair *p)
{
    int on = 1;
    for (int i = 0; i < 2; i++) {
        linger(p->side[i].fd, true);
        fcntl(p->side[i].fd, F_SETFL, O_NONBLOCK);
        setsockopt(p->side[i].fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        p->side[i].ready = i ? second_ready : first_ready;
        p->from[i] = (struct tcp_flow){.most = READ_LEAST};
    }
    update(p, !pass(p, 0) || !pass(p, 1));
}
