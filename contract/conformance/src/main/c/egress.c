/*
 * A client for the checks of network mode filtered, so that they need no program of the image. Every command ends with
 * 0 and a result on its standard output, or with 1 and the name of an error.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

enum { TIMEOUT_MS = 10000, MESSAGE = 512, HEADER = 12, TYPE_A = 1, DNS_PORT = 53, BURST_MAX = 1000 };

static _Noreturn void fail(const char *what)
{
    printf("%s: %s\n", what, error_name(errno));
    exit(1);
}

static void wait_for_input(int fd, const char *what)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, TIMEOUT_MS) == 1) return;
    errno = ETIMEDOUT;
    fail(what);
}

/* Returns the first name server of the sandbox. */
static struct in_addr name_server(void)
{
    char text[4096];
    struct in_addr address = {0};
    const char *line = read_text("/etc/resolv.conf", text, sizeof text) ? strstr(text, "nameserver ") : NULL;
    char *end = line ? strpbrk(line, "\r\n") : NULL;
    if (end) *end = 0;
    errno = ENOENT;
    if (!line || inet_pton(AF_INET, line + strlen("nameserver "), &address) != 1) fail("/etc/resolv.conf");
    return address;
}

static size_t build_query(uint8_t *query, const char *name, int type)
{
    static const uint8_t head[HEADER] = {0x12, 0x34, 1, 0, 0, 1};
    memcpy(query, head, HEADER);
    size_t at = HEADER;
    while (*name) {
        size_t label = strcspn(name, ".");
        query[at++] = (uint8_t)label;
        memcpy(query + at, name, label);
        at += label;
        name += label + (name[label] == '.');
    }
    memcpy(query + at, (uint8_t[]){0, 0, (uint8_t)type, 0, 1}, 5);
    return at + 5;
}

/* Returns the response code, and the address if there is one. */
static int ask(struct in_addr server, const char *name, int type, struct in_addr *address)
{
    uint8_t message[MESSAGE];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(DNS_PORT), .sin_addr = server};
    if (strlen(name) > 250) exit(64);
    size_t length = build_query(message, name, type);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) fail("connect");
    if (send(fd, message, length, 0) < 0) fail("send");
    wait_for_input(fd, "a reply");
    ssize_t n = recv(fd, message, sizeof message, 0);
    if (n < HEADER) fail("a reply");
    close(fd);
    address->s_addr = 0;
    if (type == TYPE_A && message[7] && n >= 4) memcpy(address, message + n - 4, 4);
    return message[3] & 15;
}

static struct in_addr find(const char *host)
{
    struct in_addr address;
    if (inet_pton(AF_INET, host, &address) == 1) return address;
    ask(name_server(), host, TYPE_A, &address);
    errno = ENOENT;
    if (!address.s_addr) fail(host);
    return address;
}

static int open_socket(int type, const char *host, const char *port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)), .sin_addr = find(host)};
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) fail("connect");
    return fd;
}

/* resolve NAME TYPE [SERVER]: the address, or the response code */
static int resolve(int count, char **words)
{
    struct in_addr address, server;
    char text[INET_ADDRSTRLEN];
    if (count < 4 || inet_pton(AF_INET, words[3], &server) != 1) server = name_server();
    int code = ask(server, words[1], atoi(words[2]), &address);
    if (address.s_addr)
        puts(inet_ntop(AF_INET, &address, text, sizeof text));
    else
        printf("code %d\n", code);
    return 0;
}

/* names COUNT: resolves so many, and prints how many of the last 1,000 have an address of their own that they keep */
static int names(int count, char **words)
{
    static struct in_addr found[1000];
    struct in_addr server = name_server(), again;
    int total = atoi(words[1]), good = 0;
    char name[64];
    (void)count;
    for (int i = 0; i < total; i++) {
        snprintf(name, sizeof name, "host-%d.example", i);
        ask(server, name, TYPE_A, &found[i % 1000]);
    }
    for (int i = total - 1000; i < total; i++) {
        snprintf(name, sizeof name, "host-%d.example", i);
        ask(server, name, TYPE_A, &again);
        bool own = again.s_addr && again.s_addr == found[i % 1000].s_addr;
        for (int j = 0; j < 1000; j++) own = own && (j == i % 1000 || found[j].s_addr != again.s_addr);
        good += own;
    }
    printf("%d\n", good);
    return 0;
}

static void copy(int from, int to, const char *what)
{
    static char buffer[65536];
    ssize_t n;
    while ((n = read(from, buffer, sizeof buffer)) > 0)
        for (ssize_t done = 0, m; done < n; done += m) {
            m = write(to, buffer + done, (size_t)(n - done));
            if (m < 0) fail(what);
        }
    if (n < 0) fail(what);
}

/* talk HOST PORT: sends its input in a process of its own, closes that side, and prints what it receives */
static int talk(int count, char **words)
{
    (void)count;
    int fd = open_socket(SOCK_STREAM, words[1], words[2]);
    pid_t sender = fork();
    if (sender == 0) {
        copy(STDIN_FILENO, fd, "send");
        if (shutdown(fd, SHUT_WR) != 0) fail("send");
        exit(0);
    }
    copy(fd, STDOUT_FILENO, "receive");
    int status; /* the error of a connection is reported once, perhaps to the other process */
    return waitpid(sender, &status, 0) == sender && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* datagram HOST PORT: prints what it receives */
static int datagram(int count, char **words)
{
    (void)count;
    char text[256];
    int fd = open_socket(SOCK_DGRAM, words[1], words[2]);
    if (send(fd, "x", 1, 0) < 0) fail("send");
    wait_for_input(fd, "receive");
    ssize_t n = recv(fd, text, sizeof text, 0);
    if (n < 0) fail("receive");
    printf("%zd bytes\n", n);
    return 0;
}

/* burst HOST PORT COUNT: opens so many connections at once, and prints how many then answer */
static int burst(int count, char **words)
{
    (void)count;
    static int fds[BURST_MAX];
    int total = atoi(words[3]), good = 0;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(words[2])),
                             .sin_addr = find(words[1])};
    for (int i = 0; i < total && i < BURST_MAX; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fds[i] < 0) fail("socket");
        if (connect(fds[i], (struct sockaddr *)&to, sizeof to) != 0) {
            close(fds[i]);
            fds[i] = -1;
        }
    }
    for (int i = 0; i < total && i < BURST_MAX; i++) {
        char c = 'x';
        if (fds[i] < 0 || send(fds[i], &c, 1, MSG_NOSIGNAL) != 1) continue;
        wait_for_input(fds[i], "an echo");
        good += recv(fds[i], &c, 1, 0) == 1;
    }
    printf("%d\n", good);
    return 0;
}

int egress_client(int count, char **words)
{
    static const struct {
        const char *name;
        int arguments;
        int (*run)(int count, char **words);
    } commands[] = {{"resolve", 2, resolve},
                    {"names", 1, names},
                    {"talk", 2, talk},
                    {"datagram", 2, datagram},
                    {"burst", 3, burst}};
    setvbuf(stdout, NULL, _IONBF, 0);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, words[0]) == 0 && count > commands[i].arguments)
            return commands[i].run(count, words);
    return 64;
}
