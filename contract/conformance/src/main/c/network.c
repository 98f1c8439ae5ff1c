/* Servers and traffic of the host, by every socket family that does not need a path in the sandbox. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

static int socket_or_end(int family, int type, int protocol, const char *what)
{
    int fd = socket(family, type | SOCK_CLOEXEC, protocol);
    if (fd < 0 && errno == EAFNOSUPPORT) absent("%s: %s", what, error_name(errno));
    if (fd < 0) failed(errno, what);
    return fd;
}

/* A target server sends its mark to every client. */
static _Noreturn void greeted(int fd, const char *id, const char *what)
{
    char text[256];
    ssize_t n = readable(fd) ? recv(fd, text, sizeof text, 0) : -1;
    if (n > 0 && holds(text, (size_t)n, mark_of(id))) got("talked to the host's server at %s", what);
    refused(0, "no target server answers at %s", what);
}

static socklen_t address_of(const char *host, int port, struct sockaddr_storage *address)
{
    memset(address, 0, sizeof *address);
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        return sizeof *four;
    }
    if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        return sizeof *six;
    }
    absent("%s is not an address", host);
}

static _Noreturn void talk(int type, char **arguments, const char *first)
{
    struct sockaddr_storage address;
    socklen_t size = address_of(arguments[0], atoi(arguments[1]), &address);
    int fd = socket_or_end(address.ss_family, type, 0, arguments[0]);
    if (connect(fd, (struct sockaddr *)&address, size) != 0) failed(errno, "connect");
    if (first && send(fd, first, strlen(first), 0) < 0) failed(errno, "send");
    greeted(fd, arguments[2], arguments[0]);
}

/* tcp HOST PORT ID */
static void tcp(int count, char **arguments)
{
    (void)count;
    talk(SOCK_STREAM, arguments, NULL);
}

/* udp HOST PORT ID */
static void udp(int count, char **arguments)
{
    (void)count;
    talk(SOCK_DGRAM, arguments, "?");
}

static _Noreturn void talk_unix(const struct sockaddr_un *address, socklen_t size, const char *id, const char *what)
{
    int fd = socket_or_end(AF_UNIX, SOCK_STREAM, 0, what);
    if (connect(fd, (const struct sockaddr *)address, size) != 0) failed(errno == ECONNREFUSED ? ENOENT : errno, what);
    greeted(fd, id, what);
}

/* unix PATH ID */
static void unix_path(int count, char **arguments)
{
    (void)count;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", arguments[0]);
    talk_unix(&address, sizeof address, arguments[1], arguments[0]);
}

/* abstract ID: a Unix socket without a path */
static void unix_abstract(int count, char **arguments)
{
    (void)count;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *mark = mark_of(arguments[0]);
    memcpy(address.sun_path + 1, mark, strlen(mark));
    talk_unix(&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(mark)), arguments[0],
              "an abstract name");
}

/* sockets PATH...: of daemons that execute requests without authentication */
static void daemons(int count, char **arguments)
{
    int error = ENOENT;
    for (int i = 0; i < count; i++) {
        static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%s", arguments[i]);
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            int fd = socket_or_end(AF_UNIX, types[t], 0, arguments[i]);
            if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) got("connected to %s", arguments[i]);
            if (errno != ENOENT && errno != EPROTOTYPE) error = errno;
            close(fd);
        }
    }
    failed(error, "the daemons' sockets");
}

/* vsock PORT ID: connects to the own machine; vsock is not bound to network namespaces */
static void vsock(int count, char **arguments)
{
    (void)count;
    int fd = socket_or_end(AF_VSOCK, SOCK_STREAM, 0, "vsock");
    struct sockaddr_vm local = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_LOCAL, .svm_port = VMADDR_PORT_ANY};
    if (bind(fd, (struct sockaddr *)&local, sizeof local) != 0) absent("vsock has no loopback: %s", error_name(errno));
    struct timeval timeout = {.tv_sec = 2};
    setsockopt(fd, AF_VSOCK, SO_VM_SOCKETS_CONNECT_TIMEOUT, &timeout, sizeof timeout);
    struct sockaddr_vm address = {.svm_family = AF_VSOCK,
                                  .svm_cid = VMADDR_CID_LOCAL,
                                  .svm_port = (unsigned)strtoul(arguments[0], NULL, 10)};
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) greeted(fd, arguments[1], "a vsock port");
    failed(errno, "vsock");
}

/* interfaces: any interface that is up, other than loopback */
static void interfaces(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    struct ifaddrs *list;
    if (getifaddrs(&list) != 0) failed(errno, "getifaddrs");
    for (struct ifaddrs *i = list; i; i = i->ifa_next)
        if (!(i->ifa_flags & IFF_LOOPBACK) && (i->ifa_flags & IFF_UP)) got("there is an interface %s", i->ifa_name);
    refused(0, "there is no interface but loopback");
}

/* route HOST: tests for a route. Connecting a datagram socket looks the route up and sends nothing. */
static void route(int count, char **arguments)
{
    (void)count;
    struct sockaddr_storage address;
    socklen_t size = address_of(arguments[0], 80, &address);
    int fd = socket_or_end(address.ss_family, SOCK_DGRAM, 0, arguments[0]);
    if (connect(fd, (struct sockaddr *)&address, size) == 0) got("there is a route to %s", arguments[0]);
    failed(errno, arguments[0]);
}

/* Datagrams with the mark are sent over the loopback interface of the host continuously. */
static _Noreturn void listen_for(int fd, const char *id, const char *what)
{
    static char packet[65536];
    time_t end = time(NULL) + 2;
    while (time(NULL) <= end) {
        ssize_t n = readable(fd) ? recv(fd, packet, sizeof packet, MSG_DONTWAIT) : 0;
        if (n > 0 && holds(packet, (size_t)n, mark_of(id))) got("saw the host's traffic on %s", what);
    }
    refused(0, "nothing of the host's traffic is seen on %s", what);
}

/* sniff ID */
static void sniff(int count, char **arguments)
{
    (void)count;
    int fd = socket_or_end(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL), "a packet socket");
    listen_for(fd, arguments[0], "a packet socket");
}

/* raw ID */
static void raw(int count, char **arguments)
{
    (void)count;
    int fd = socket_or_end(AF_INET, SOCK_RAW, IPPROTO_UDP, "a raw socket");
    listen_for(fd, arguments[0], "a raw socket");
}

/* links: changes an interface that does not exist; fails with ENODEV after the check for CAP_NET_ADMIN */
static void links(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    struct {
        struct nlmsghdr head;
        struct ifinfomsg body;
    } request = {{.nlmsg_len = sizeof request, .nlmsg_type = RTM_SETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
                 {.ifi_family = AF_UNSPEC, .ifi_index = 0x7ffffff0}};
    struct {
        struct nlmsghdr head;
        struct nlmsgerr body;
        char rest[1024];
    } answer;
    int fd = socket_or_end(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, "netlink");
    if (send(fd, &request, sizeof request, 0) < 0) failed(errno, "netlink");
    ssize_t n = readable(fd) ? recv(fd, &answer, sizeof answer, 0) : -1;
    if (n < (ssize_t)(sizeof answer.head + sizeof answer.body) || answer.head.nlmsg_type != NLMSG_ERROR)
        refused(0, "netlink does not answer");
    if (answer.body.error == -ENODEV || answer.body.error == -EINVAL || answer.body.error == 0)
        got("interfaces may be changed");
    failed(-answer.body.error, "netlink");
}

const struct probe network_probes[] = {
    {"tcp", 3, tcp},         {"udp", 3, udp},     {"unix", 2, unix_path},        {"abstract", 1, unix_abstract},
    {"sockets", 1, daemons}, {"vsock", 2, vsock}, {"interfaces", 0, interfaces}, {"route", 1, route},
    {"sniff", 1, sniff},     {"raw", 1, raw},     {"links", 0, links},           {0}};
