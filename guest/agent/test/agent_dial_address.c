/* Addresses that an agent dials. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent_test.h"

#include <linux/vm_sockets.h>

static void serve_tcp(int family, const char *host)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    memset(&address, 0, sizeof address);
    address.any.sa_family = (sa_family_t)family;
    if (family == AF_INET)
        address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        address.v6.sin6_addr = in6addr_loopback;
    socklen_t size = family == AF_INET ? sizeof address.v4 : sizeof address.v6;
    int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (listener < 0 || bind(listener, &address.any, size) != 0 || getsockname(listener, &address.any, &size) != 0) {
        if (listener >= 0) close(listener);
        NOT_RUN(tcp, host);
        return;
    }
    struct agent a;
    struct client c;
    char where[64];
    snprintf(where, sizeof where, "tcp:%s:%d", host, ntohs(address.v4.sin_port)); /* at the same place in both */
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    CHECK(agent_prepare(&a));
    CHECK(start_dialling(&a, NULL, where)); /* refused until it listens */
    CHECK(listen(listener, 16) == 0);
    CHECK(server_serve(listener, &c, &a));
    check_command(&c, "tcp");
    client_close(&c);
    CHECK(server_serve(listener, &c, &a));
    struct outcome o = run(&c, shell("head -c 5000000 /dev/zero"), 20000);
    CHECK_INT(5000000, o.bytes);
    outcome_free(&o);
    close(listener);
    finish(&a, &c);
}

static void an_agent_dials_tcp(void)
{
    serve_tcp(AF_INET, "127.0.0.1");
}

static void an_agent_dials_tcp_version_6(void)
{
    serve_tcp(AF_INET6, "[::1]");
}

/* A network with two ports for connections, so that a socket is soon connected to itself. */
static bool enter_small_network(void)
{
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    if (unshare(CLONE_NEWNET) != 0) return false;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &loopback) == 0;
    if (fd >= 0) close(fd);
    FILE *range = fopen("/proc/sys/net/ipv4/ip_local_port_range", "w");
    ok = range && fputs("5000 5001", range) >= 0 && ok;
    return range && fclose(range) == 0 && ok;
}

static void a_connection_to_itself_does_not_take_the_port(void)
{
    int network = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (geteuid() != 0 || network < 0) {
        NOT_RUN(a_connection_to_itself_does_not_take_the_port, "only root can make a network");
        if (network >= 0) close(network);
        return;
    }
    struct agent a;
    struct client c;
    CHECK(enter_small_network());
    CHECK(agent_prepare(&a));
    CHECK(start_dialling(&a, NULL, "tcp:127.0.0.1:5000"));
    usleep(500000); /* for several attempts */
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(5000),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 16) == 0 && server_serve(listener, &c, &a));
    check_command(&c, "served");
    close(listener);
    finish(&a, &c);
    CHECK(setns(network, CLONE_NEWNET) == 0);
    close(network);
}

static void an_agent_dials_vsock(void)
{
    struct sockaddr_vm address = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_LOCAL, .svm_port = VMADDR_PORT_ANY};
    socklen_t size = sizeof address;
    int listener = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 16) != 0
        || getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        if (listener >= 0) close(listener);
        NOT_RUN(an_agent_dials_vsock, "vsock has no loopback here");
        return;
    }
    struct agent a;
    struct client c;
    char where[64];
    snprintf(where, sizeof where, "vsock:%u:%u", VMADDR_CID_LOCAL, address.svm_port);
    struct builder b = {0};
    build_u64(&b, T_SECCOMP, 1);
    CHECK(agent_prepare(&a));
    CHECK(start_dialling(&a, &b, where));
    builder_free(&b);
    for (int i = 0; i < 2; i++) {
        CHECK(server_serve(listener, &c, &a));
        check_command(&c, "vsock");
        if (i == 0) client_close(&c);
    }
    close(listener);
    finish(&a, &c);
}

/* What the agent writes there is expected, and would hide the output of a failed test. */
static void hide_errors(void)
{
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2);
}

static void invalid_addresses_are_rejected(void)
{
    static char long_path[200] = "unix:/", long_name[100] = "unix:/tmp/";
    memset(long_path + 6, 'x', 110);
    memset(long_path + 60, '/', 1);
    memset(long_name + 10, 'x', 65);
    static const char *const invalid[] = {
        "",
        "unix",
        "unix:",
        "unix:relative/s",
        "unix:/",
        "unix:/tmp/",
        "unix:/tmp/..",
        "unix:/tmp/.",
        long_path,
        long_name,
        "/tmp/s",
        "vsock:",
        "vsock:2",
        "vsock:2:",
        "vsock::5",
        "vsock:-1:5",
        "vsock:2:5:5",
        "vsock:4294967295:5",
        "vsock:2:4294967296",
        "vsock:2:99999999999999999999",
        "tcp:",
        "tcp:127.0.0.1",
        "tcp:127.0.0.1:",
        "tcp:127.0.0.1:0",
        "tcp:127.0.0.1:65536",
        "tcp:127.0.0.1:80x",
        "tcp:127.0.0.1: 80",
        "tcp:localhost:80",
        "tcp:127.1:80",
        "tcp::80",
        "tcp:[]:80",
        "tcp:[:80",
        "tcp:]:80",
        "tcp:::1:80",
        "tcp:[127.0.0.1]:80",
        "tcp:[::1%lo]:80",
        "tcp:[00000000000000000000000000000000000000000000000000::1]:80",
        "udp:127.0.0.1:80",
    };
    struct agent a;
    CHECK(agent_prepare(&a));
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        char expected[256];
        snprintf(expected, sizeof expected, "error cannot dial %s: ", invalid[i]);
        bool started = agent_dial(&a, NULL, invalid[i], hide_errors);
        if (started || strncmp(a.output, expected, strlen(expected)) != 0) {
            printf("  `%s`: %s\n", invalid[i], a.output);
            CHECK(false);
        }
        if (started) kill(a.pid, SIGKILL);
        memset(a.output, 0, sizeof a.output);
        a.pid = 0;
    }
    agent_finish(&a);
}

void dial_address_tests(void)
{
    RUN(an_agent_dials_tcp);
    RUN(an_agent_dials_tcp_version_6);
    RUN(a_connection_to_itself_does_not_take_the_port);
    RUN(an_agent_dials_vsock);
    RUN(invalid_addresses_are_rejected);
}
