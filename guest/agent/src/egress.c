#include "egress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter_ipv4.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dial_folder.h"
#include "dns_stub.h"
#include "init_network.h"
#include "loop.h"
#include "name_table.h"
#include "operations.h"
#include "redirect.h"
#include "relay.h"
#include "stream_table.h"
#include "trust.h"

#define NAME_SERVER (NAME_TABLE_NETWORK + 1)

/* Few are accepted in one iteration of the loop, so that a flood of connections delays other events only briefly. */
enum {
    CONNECTIONS_MAX = 512,
    ACCEPT_BATCH = 4,
    BACKLOG = 256,
    PORTS_MAX = 64,
    DNS_PORT = 53,
    BLOCK_BITS = 15,
    LOOPBACK_NET = 127
};
enum { EVERY_PORT = 1, HANDOVER = 2 };

static void accept_ready(struct watch *w, uint32_t what);

static enum { OFF, REDIRECT, LISTENERS } mode;
static struct stream *server; /* the open EGRESS request */
static int connections;
static struct watch redirected = {.fd = -1, .ready = accept_ready};
/* Where nothing redirects: a listener for each port. */
static struct port_listener {
    struct watch watch;
    uint16_t port;
} listeners[PORTS_MAX];

static int listen_tcp(uint32_t address, uint16_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(address)};
    socklen_t size = sizeof at;
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0
        && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, BACKLOG) == 0
        && getsockname(fd, (struct sockaddr *)&at, &size) == 0) {
        *port = ntohs(at.sin_port);
        return fd;
    }
    int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
    return -1;
}

static bool setup_redirect(void)
{
    struct in_addr loopback = {htonl(INADDR_LOOPBACK)};
    struct redirect_ports ports = {0};
    redirected.fd = listen_tcp(INADDR_LOOPBACK, &ports.tcp);
    if (redirected.fd < 0 || !dns_stub_start(loopback, 0, &ports.dns_udp, &ports.dns_tcp)) return false;
    if (!redirect_with_nftables(ports) && !redirect_with_iptables(ports)) {
        int error = errno;
        dns_stub_stop();
        close(redirected.fd);
        redirected.fd = -1;
        errno = error;
        return false;
    }
    loop_watch(&redirected, EPOLLIN);
    mode = REDIRECT;
    return true;
}

static bool setup_listeners(void)
{
    struct in_addr address = {htonl(NAME_SERVER)};
    uint16_t udp, tcp;
    mode = LISTENERS;
    return dns_stub_start(address, DNS_PORT, &udp, &tcp);
}

bool egress_setup(void)
{
    init_network_loopback(); /* if no runtime has; where it fails, the route is refused */
    if (!redirect_route_all() && !redirect_add_address(0) && !redirect_add_address(BLOCK_BITS)) return false;
    return setup_redirect() || setup_listeners();
}

/* Finds out what a guest process connected to. Returns false if it connected to the listener itself. */
static bool destination_of(int fd, struct sockaddr_in *out)
{
    socklen_t size = sizeof *out;
    int result = mode == REDIRECT ? getsockopt(fd, SOL_IP, SO_ORIGINAL_DST, out, &size)
                                  : getsockname(fd, (struct sockaddr *)out, &size);
    return result == 0 && out->sin_family == AF_INET && out->sin_port
           && ntohl(out->sin_addr.s_addr) >> 24 != LOOPBACK_NET;
}

static bool pass_on(int fd)
{
    struct sockaddr_in to;
    char text[INET_ADDRSTRLEN];
    if (!server || !destination_of(fd, &to)) return false;
    const char *name = name_table_name(ntohl(to.sin_addr.s_addr));
    struct relay_listener listener = {.stream = server->id,
                                      .host = name ? name : inet_ntop(AF_INET, &to.sin_addr, text, sizeof text),
                                      .port = ntohs(to.sin_port),
                                      .count = &connections,
                                      .most = CONNECTIONS_MAX,
                                      .resets = true};
    return relay_accepted(fd, &listener);
}

static void accept_ready(struct watch *w, uint32_t what)
{
    (void)what;
    for (int i = 0; i < ACCEPT_BATCH; i++) {
        int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) return;
        if (!pass_on(fd)) socket_reset(fd);
    }
}

/* ---- EGRESS requests ---- */

static bool requests_port(struct fields request, uint16_t port)
{
    size_t position = 0;
    struct field f;
    while (fields_next(request, &position, &f))
        if (f.tag == T_PORT && f.length == 8 && get_u64(f.value) == port) return true;
    return false;
}

static void close_listener(int number)
{
    struct port_listener *l = &listeners[number];
    loop_forget(&l->watch);
    close(l->watch.fd);
    l->watch.fd = -1;
    l->port = 0;
}

static struct port_listener *free_listener(uint16_t port)
{
    struct port_listener *found = NULL;
    for (int i = 0; i < PORTS_MAX; i++) {
        if (listeners[i].port == port) return NULL;
        if (!listeners[i].port) found = &listeners[i];
    }
    return found;
}

/* Listens on the requested ports and no others. A port on which a guest process listens is not passed on. */
static void update_listeners(struct fields request)
{
    for (int i = 0; i < PORTS_MAX; i++)
        if (listeners[i].port && !requests_port(request, listeners[i].port)) close_listener(i);
    size_t position = 0;
    struct field f;
    while (fields_next(request, &position, &f)) {
        uint64_t value = f.tag == T_PORT && f.length == 8 ? get_u64(f.value) : 0;
        uint16_t port = value <= 65535 && value != DNS_PORT ? (uint16_t)value : 0;
        struct port_listener *l = port ? free_listener(port) : NULL;
        int fd = l ? listen_tcp(INADDR_ANY, &port) : -1;
        if (fd < 0) continue;
        l->port = port;
        l->watch = (struct watch){.fd = fd, .ready = accept_ready};
        loop_watch(&l->watch, EPOLLIN);
    }
}

static void ignore_data(void *context, const uint8_t *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
}

static void ignore(void *context)
{
    (void)context;
}

static void on_cancel(void *context)
{
    struct stream *s = context;
    server = NULL;
    stream_end(s, NULL);
}

static void on_dropped(void *context)
{
    (void)context;
    server = NULL;
}

static void refuse(struct stream *s, enum error_code code, int error, const char *reason)
{
    stream_error(s, code, error, "%s", reason);
    stream_release(s);
}

void egress_serve(struct stream *s, struct fields request)
{
    static const struct stream_owner owner = {ignore_data, ignore, ignore, on_cancel, on_dropped};
    struct field trust;
    if (mode == OFF) {
        refuse(s, E_UNSUPPORTED, 0, "the network mode of this sandbox is not filtered");
        return;
    }
    bool trusts = fields_find(request, T_TRUST, &trust) && trust.length;
    if (trusts && file_view.root) {
        refuse(s, E_UNSUPPORTED, 0, "the sandbox shares the host's files, to which no certificate is added");
        return;
    }
    if (trusts && !trust_add(trust.value, trust.length)) {
        refuse(s, errno == EINVAL ? E_INVALID : E_IO, errno, "cannot write the certificates to " TRUST_FOLDER);
        return;
    }
    if (server) stream_end(server, NULL);
    server = s;
    stream_set_owner(s, &owner, s);
    if (mode == LISTENERS) update_listeners(request);
    struct builder b = {0};
    build_u64(&b, T_FLAGS, (dial_folder_is_used() ? HANDOVER : 0) | (mode == REDIRECT ? EVERY_PORT : 0));
    stream_post(s, RESPONSE, b.data, b.length, NULL, 0);
    builder_free(&b);
}
