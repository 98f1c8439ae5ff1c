#include "netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void *reserve(struct netlink *n, size_t size)
{
    size_t aligned = NLMSG_ALIGN(size);
    if (aligned > sizeof n->data - n->length) {
        n->overflow = true;
        return NULL;
    }
    void *at = n->data + n->length;
    memset(at, 0, aligned);
    n->length += aligned;
    ((struct nlmsghdr *)(void *)(n->data + n->message))->nlmsg_len = (uint32_t)(n->length - n->message);
    return at;
}

void netlink_message(struct netlink *n, uint16_t type, uint16_t flags, const void *header, size_t size)
{
    n->message = n->length;
    struct nlmsghdr *head = reserve(n, sizeof *head);
    if (!head) return;
    head->nlmsg_type = type;
    head->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    void *extra = reserve(n, size);
    if (extra) memcpy(extra, header, size);
}

void netlink_bytes(struct netlink *n, uint16_t type, const void *value, size_t length)
{
    struct nlattr *a = reserve(n, NLA_HDRLEN + length);
    if (!a) return;
    a->nla_type = type;
    a->nla_len = (uint16_t)(NLA_HDRLEN + length);
    if (length) memcpy((uint8_t *)a + NLA_HDRLEN, value, length);
}

void netlink_text(struct netlink *n, uint16_t type, const char *text)
{
    netlink_bytes(n, type, text, strlen(text) + 1);
}

void netlink_be32(struct netlink *n, uint16_t type, uint32_t value)
{
    uint32_t wire = htonl(value);
    netlink_bytes(n, type, &wire, sizeof wire);
}

size_t netlink_open(struct netlink *n, uint16_t type)
{
    size_t at = n->length;
    netlink_bytes(n, (uint16_t)(type | NLA_F_NESTED), NULL, 0);
    return at;
}

void netlink_close(struct netlink *n, size_t opened)
{
    if (!n->overflow) ((struct nlattr *)(void *)(n->data + opened))->nla_len = (uint16_t)(n->length - opened);
}

/* Reads what the kernel has answered, which it does before a send returns. Returns the first error. */
static int read_answers(int fd)
{
    _Alignas(4) uint8_t answer[NETLINK_BUFFER];
    bool acknowledged = false;
    for (;;) {
        ssize_t n = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return acknowledged ? 0 : EPROTO;
        if (n < 0) return errno;
        unsigned left = (unsigned)n;
        for (struct nlmsghdr *m = (void *)answer; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
            struct nlmsgerr *result = NLMSG_DATA(m);
            if (m->nlmsg_type != NLMSG_ERROR || m->nlmsg_len < NLMSG_LENGTH(sizeof result->error)) continue;
            if (result->error) return -result->error;
            acknowledged = true;
        }
    }
}

bool netlink_send(struct netlink *n, int protocol)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    int fd = n->overflow ? -1 : socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (n->overflow) errno = EOVERFLOW;
    if (fd < 0) return false;
    ssize_t sent = sendto(fd, n->data, n->length, 0, (struct sockaddr *)&kernel, sizeof kernel);
    int error = sent == (ssize_t)n->length ? read_answers(fd) : errno;
    close(fd);
    errno = error;
    return !error;
}
