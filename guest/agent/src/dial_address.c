#include "dial_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 64, SILENCE_MS = 60000, KEEPALIVE_IDLE_S = 30, KEEPALIVE_INTERVAL_S = 10 };

/* Parses the decimal number up to `end`. Returns false for a sign, a space, or a value above `most`. */
static bool parse_number(const char *text, const char *end, uint64_t most, uint64_t *out)
{
    if (text == end || end - text > 10) return false;
    *out = 0;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9') return false;
        *out = *out * 10 + (uint64_t)(*text - '0');
    }
    return *out <= most;
}

static const char *parse_unix(const char *path, struct dial_address *out)
{
    const char *name = strrchr(path, '/');
    if (path[0] != '/') return "the path of a unix socket must be absolute";
    if (strlen(path) >= sizeof out->socket.local.sun_path) return "the path of a unix socket has at most 107 bytes";
    name++;
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return "the path of a unix socket names a folder";
    if (strlen(name) > NAME_MAX_BYTES) return "the name of a unix socket has at most 64 bytes";
    out->socket.local.sun_family = AF_UNIX;
    memcpy(out->socket.local.sun_path, path, strlen(path) + 1);
    out->size = sizeof out->socket.local;
    return NULL;
}

static const char *parse_vsock(const char *text, struct dial_address *out)
{
    const char *colon = strchr(text, ':');
    uint64_t cid, port;
    if (!colon || !parse_number(text, colon, VMADDR_CID_ANY - 1u, &cid)
        || !parse_number(colon + 1, text + strlen(text), VMADDR_PORT_ANY - 1u, &port))
        return "vsock needs a context id and a port, both numbers: vsock:CID:PORT";
    out->socket.vm.svm_family = AF_VSOCK;
    out->socket.vm.svm_cid = (unsigned)cid;
    out->socket.vm.svm_port = (unsigned)port;
    out->size = sizeof out->socket.vm;
    return NULL;
}

static const char *parse_tcp(const char *text, struct dial_address *out)
{
    static const char expected[] = "tcp needs a numeric host, IPv6 in brackets, and a port: tcp:HOST:PORT";
    char host[INET6_ADDRSTRLEN];
    const char *colon = strrchr(text, ':');
    uint64_t port;
    if (!colon || !parse_number(colon + 1, text + strlen(text), 65535, &port) || port == 0) return expected;
    bool brackets = text[0] == '[' && colon > text + 1 && colon[-1] == ']';
    size_t length = (size_t)(colon - text) - (brackets ? 2 : 0);
    if (length >= sizeof host) return expected;
    memcpy(host, text + brackets, length);
    host[length] = 0;
    if (brackets) {
        out->socket.v6.sin6_family = AF_INET6;
        out->socket.v6.sin6_port = htons((uint16_t)port);
        out->size = sizeof out->socket.v6;
        return inet_pton(AF_INET6, host, &out->socket.v6.sin6_addr) == 1 ? NULL : expected;
    }
    out->socket.v4.sin_family = AF_INET;
    out->socket.v4.sin_port = htons((uint16_t)port);
    out->size = sizeof out->socket.v4;
    return inet_pton(AF_INET, host, &out->socket.v4.sin_addr) == 1 ? NULL : expected;
}

const char *dial_address_parse(const char *text, struct dial_address *out)
{
    memset(out, 0, sizeof *out);
    if (strncmp(text, "unix:", 5) == 0) return parse_unix(text + 5, out);
    if (strncmp(text, "vsock:", 6) == 0) return parse_vsock(text + 6, out);
    if (strncmp(text, "tcp:", 4) == 0) return parse_tcp(text + 4, out);
    return "an address starts with unix:, vsock: or tcp:";
}

static bool is_tcp(const struct dial_address *a)
{
    return a->socket.any.sa_family == AF_INET || a->socket.any.sa_family == AF_INET6;
}

/* A server that vanished without closing the connection is noticed after a minute, also while nothing is sent. */
static void set_tcp_options(int fd)
{
    int on = 1, idle = KEEPALIVE_IDLE_S, interval = KEEPALIVE_INTERVAL_S;
    unsigned silence = SILENCE_MS;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof silence);
}

/*
 * A socket that dials a port of its own machine where no process listens may be given that port as its own, and is then
 * connected to itself. Reset, so that the port is free for the server at once.
 */
static bool is_connected_to_itself(int fd)
{
    struct sockaddr_storage here, there;
    socklen_t here_size = sizeof here, there_size = sizeof there;
    memset(&here, 0, sizeof here);
    memset(&there, 0, sizeof there);
    if (getsockname(fd, (struct sockaddr *)&here, &here_size) != 0
        || getpeername(fd, (struct sockaddr *)&there, &there_size) != 0
        || (here.ss_family != AF_INET && here.ss_family != AF_INET6) || memcmp(&here, &there, sizeof here) != 0)
        return false;
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    return true;
}

int dial_address_finish(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
    return error ? error : is_connected_to_itself(fd) ? ECONNREFUSED : 0;
}

int dial_address_connect(const struct dial_address *a, bool *pending)
{
    int fd = socket(a->socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    if (is_tcp(a)) set_tcp_options(fd);
    int error = connect(fd, &a->socket.any, a->size) == 0 ? 0 : errno;
    *pending = error == EINPROGRESS;
    if (*pending) return fd;
    if (!error) error = dial_address_finish(fd);
    if (!error) return fd;
    close(fd);
    errno = error;
    return -1;
}
