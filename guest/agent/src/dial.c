#include "dial.h"

#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "connection.h"
#include "dial_address.h"
#include "dial_folder.h"
#include "loop.h"

#define MS 1000000ull
#define BACKOFF_FIRST (5 * MS)
#define BACKOFF_MAX (500 * MS)
#define CONNECT_TIMEOUT (5000 * MS)
#define CHECK_INTERVAL (2000 * MS)
#define QUICK_INTERVAL (20 * MS)
#define QUICK_PERIOD (5000 * MS)

static void timer_fired(struct timer *t);
static void connect_ready(struct watch *w, uint32_t what);
static void peer_authenticated(void);
static void peer_ended(bool authenticated);

static const struct dialled_events events = {peer_authenticated, peer_ended};

static struct dial_address address;
static enum { UNUSED, IDLE, CONNECTING, HANDSHAKE } state;
static struct watch connecting = {.fd = -1, .ready = connect_ready};
static struct timer timer = {.fire = timer_fired}; /* for the next step of each state */
static uint64_t backoff = BACKOFF_FIRST;
static uint64_t dialled_ns, due_ns;       /* the last attempt; the next one, when IDLE and not connected */
static uint64_t alone_ns;                 /* since when there is no authenticated connection */
static struct socket_file tried, current; /* of the attempt under way; of the authenticated connection */

static bool is_unix(void)
{
    return address.socket.any.sa_family == AF_UNIX;
}

const char *dial_setup(const char *text)
{
    const char *problem = dial_address_parse(text, &address);
    if (!problem && is_unix()) dial_folder_open(address.socket.local.sun_path);
    return problem;
}

bool dial_uses_vsock(void)
{
    return address.socket.any.sa_family == AF_VSOCK;
}

/*
 * Where a new socket is not announced, looks for one until the next attempt is due: often at first, since the server
 * may have hung up only for a moment (to checkpoint the sandbox).
 */
static void set_idle_timer(void)
{
    uint64_t now = now_ns();
    bool looks = is_unix() && !dial_folder_watch() && now - alone_ns < QUICK_PERIOD;
    timer_set(&timer, looks && due_ns > now + QUICK_INTERVAL ? now + QUICK_INTERVAL : due_ns);
}

/* Waits between half of the backoff and all of it, so that the agents of a restarted server do not dial in step. */
static void dial_later(void)
{
    uint32_t random;
    uint64_t wait = backoff;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) == (ssize_t)sizeof random)
        wait = backoff / 2 + random % (backoff / 2 + 1);
    backoff = backoff * 2 < BACKOFF_MAX ? backoff * 2 : BACKOFF_MAX;
    state = IDLE;
    due_ns = now_ns() + wait;
    set_idle_timer();
}

/* Looks for another socket while a peer is in the handshake, where none is announced. */
static void set_handshake_timer(void)
{
    if (is_unix() && !dial_folder_watch())
        timer_set(&timer, now_ns() + BACKOFF_MAX);
    else
        timer_clear(&timer);
}

static void handshake_with(int fd)
{
    set_handshake_timer();
    state = HANDSHAKE; /* first, since the peer may end at once */
    connection_dialled(fd, &events);
}

static void stop_connecting(void)
{
    loop_forget(&connecting);
    close(connecting.fd);
    connecting.fd = -1;
}

static void connect_ready(struct watch *w, uint32_t what)
{
    (void)what;
    int fd = w->fd;
    if (dial_address_finish(fd) != 0) {
        stop_connecting();
        dial_later();
        return;
    }
    loop_forget(w);
    w->fd = -1;
    handshake_with(fd);
}

static void dial(void)
{
    bool pending;
    dialled_ns = now_ns();
    if (is_unix()) {
        dial_folder_watch();
        dial_folder_address(&address.socket.local);
        tried = dial_folder_socket();
    }
    int fd = dial_address_connect(&address, &pending);
    if (fd >= 0 && is_unix()) {
        struct socket_file after = dial_folder_socket();
        if (!tried.inode) tried = after;
        if (!socket_file_equals(tried, after)) { /* it is unknown which of the two was reached */
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0) {
        dial_later();
    } else if (pending) {
        state = CONNECTING;
        connecting.fd = fd;
        timer_set(&timer, dialled_ns + CONNECT_TIMEOUT);
        loop_watch(&connecting, EPOLLOUT);
    } else {
        handshake_with(fd);
    }
}

/* While connected, the agent dials only another socket at the same path: that of a server that takes over. */
static void dial_if_needed(void)
{
    if (!connection_is_open()) {
        if (now_ns() < due_ns) {
            set_idle_timer();
            dial_folder_changed();
        } else {
            dial();
        }
        return;
    }
    if (!is_unix()) return;
    bool reported = dial_folder_watch(); /* before looking, so that nothing is missed in between */
    struct socket_file now = dial_folder_socket();
    if (now.inode && !socket_file_equals(now, current))
        dial();
    else if (!reported)
        timer_set(&timer, now_ns() + CHECK_INTERVAL);
}

static void timer_fired(struct timer *t)
{
    (void)t;
    if (state == CONNECTING) {
        stop_connecting();
        dial_later();
    } else if (state == HANDSHAKE) {
        set_handshake_timer();
        dial_folder_changed();
    } else {
        dial_if_needed();
    }
}

static void peer_authenticated(void)
{
    current = tried;
    backoff = BACKOFF_FIRST;
    state = IDLE;
    timer_set(&timer, now_ns()); /* another socket may have appeared during the handshake */
}

static void peer_ended(bool authenticated)
{
    if (authenticated) alone_ns = now_ns();
    if (authenticated && state != IDLE) return; /* another attempt is under way, perhaps the one that replaces it */
    if (authenticated) backoff = BACKOFF_FIRST;
    dial_later();
}

void dial_folder_changed(void)
{
    if (state == UNUSED || !is_unix()) return;
    struct socket_file now_there = dial_folder_socket();
    if (!now_there.inode || socket_file_unchanged(now_there, tried)) return; /* another file was created */
    backoff = BACKOFF_FIRST;
    if (state == HANDSHAKE) connection_abandon_dialled(); /* its peer is not the newest server */
    if (state != IDLE) return;
    uint64_t earliest = dialled_ns + BACKOFF_FIRST, now = now_ns();
    due_ns = earliest > now ? earliest : now;
    timer_set(&timer, due_ns);
}

void dial_start(void)
{
    alone_ns = now_ns();
    dial();
}
