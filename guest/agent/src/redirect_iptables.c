/* The redirection for kernels without nf_tables: gVisor's, and small ones of virtual machines. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/if.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <linux/netfilter/nf_nat.h>
#include <linux/netfilter/xt_tcpudp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "redirect.h"

enum { TABLE_BYTES = 4096, DNS_PORT = 53, REVISION = 0 };

static const char TABLE[] = "nat";

/* A table as the kernel reads it: a head, then entries one after another. */
struct table {
    _Alignas(8) uint8_t bytes[TABLE_BYTES];
    size_t length; /* of the entries */
};

/* XT_ALIGN, which in headers of Linux before 6.1.5 is not C11. */
static size_t aligned(size_t size)
{
    size_t mask = _Alignof(struct _xt_align) - 1;
    return (size + mask) & ~mask;
}

static struct ipt_replace *head(struct table *t)
{
    return (struct ipt_replace *)(void *)t->bytes;
}

/* Reserves room at the end. The few entries of this table always fit. */
static void *reserve(struct table *t, size_t size)
{
    void *at = t->bytes + sizeof(struct ipt_replace) + t->length;
    t->length += aligned(size);
    return at;
}

static struct ipt_entry *begin_entry(struct table *t)
{
    struct ipt_entry *e = reserve(t, sizeof *e);
    head(t)->num_entries++;
    e->target_offset = sizeof *e;
    return e;
}

static void *add_target(struct table *t, struct ipt_entry *e, const char *name, size_t size)
{
    struct xt_entry_target *target = reserve(t, size);
    target->u.user.target_size = (uint16_t)aligned(size);
    strcpy(target->u.user.name, name);
    target->u.user.revision = REVISION;
    e->next_offset = (uint16_t)(e->target_offset + aligned(size));
    return target;
}

static void add_accept(struct table *t)
{
    struct ipt_entry *e = begin_entry(t);
    struct xt_standard_target *target = add_target(t, e, XT_STANDARD_TARGET, sizeof *target);
    target->verdict = -NF_ACCEPT - 1;
}

static void add_error(struct table *t)
{
    struct ipt_entry *e = begin_entry(t);
    struct xt_error_target *target = add_target(t, e, XT_ERROR_TARGET, sizeof *target);
    strcpy(target->errorname, XT_ERROR_TARGET);
}

/* tcp and udp have the same fields; to any port if `port` is 0. */
static void add_ports(struct table *t, struct ipt_entry *e, const char *name, uint16_t port)
{
    size_t size = sizeof(struct xt_entry_match) + (strcmp(name, "tcp") ? sizeof(struct xt_udp) : sizeof(struct xt_tcp));
    struct xt_entry_match *match = reserve(t, size);
    match->u.user.match_size = (uint16_t)aligned(size);
    strcpy(match->u.user.name, name);
    uint16_t ports[4] = {0, USHRT_MAX, port, port ? port : USHRT_MAX}; /* sources, then destinations */
    memcpy(match->data, ports, sizeof ports);
    e->target_offset = (uint16_t)(e->target_offset + aligned(size));
}

static void add_redirect(struct table *t, int protocol, uint16_t port, uint16_t to)
{
    struct ipt_entry *e = begin_entry(t);
    e->ip.proto = (uint16_t)protocol;
    e->ip.dst.s_addr = htonl(IN_LOOPBACKNET << IN_CLASSA_NSHIFT);
    e->ip.dmsk.s_addr = htonl(IN_CLASSA_NET);
    e->ip.invflags = IPT_INV_DSTIP;
    add_ports(t, e, protocol == IPPROTO_TCP ? "tcp" : "udp", port);
    size_t size = sizeof(struct xt_entry_target) + sizeof(struct nf_nat_ipv4_multi_range_compat);
    struct xt_entry_target *target = add_target(t, e, "REDIRECT", size);
    struct nf_nat_ipv4_multi_range_compat range = {.rangesize = 1};
    range.range[0].flags = NF_NAT_RANGE_PROTO_SPECIFIED;
    range.range[0].min.all = range.range[0].max.all = htons(to);
    memcpy(target->data, &range, sizeof range);
}

static void begin_chain(struct table *t, int hook)
{
    head(t)->hook_entry[hook] = (uint32_t)t->length;
}

static void end_chain(struct table *t, int hook)
{
    head(t)->underflow[hook] = (uint32_t)t->length;
    add_accept(t);
}

static void build(struct table *t, struct redirect_ports ports)
{
    static const int hooks[] = {NF_INET_PRE_ROUTING, NF_INET_LOCAL_IN, NF_INET_LOCAL_OUT, NF_INET_POST_ROUTING};
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        if (!(head(t)->valid_hooks & 1u << hooks[i])) continue;
        begin_chain(t, hooks[i]);
        if (hooks[i] == NF_INET_LOCAL_OUT) {
            add_redirect(t, IPPROTO_UDP, DNS_PORT, ports.dns_udp);
            add_redirect(t, IPPROTO_TCP, DNS_PORT, ports.dns_tcp);
            add_redirect(t, IPPROTO_TCP, 0, ports.tcp);
        }
        end_chain(t, hooks[i]);
    }
    add_error(t);
    head(t)->size = (uint32_t)t->length;
}

static bool replace_table(int fd, struct redirect_ports ports)
{
    struct ipt_getinfo info = {.name = "nat"};
    socklen_t size = sizeof info;
    if (getsockopt(fd, SOL_IP, IPT_SO_GET_INFO, &info, &size) != 0) return false;
    struct table t = {.length = 0};
    struct xt_counters *counters = calloc(info.num_entries + 1, sizeof *counters);
    if (!counters) return false;
    strcpy(head(&t)->name, TABLE);
    head(&t)->valid_hooks = info.valid_hooks;
    head(&t)->num_counters = info.num_entries;
    head(&t)->counters = counters;
    build(&t, ports);
    bool ok =
        setsockopt(fd, SOL_IP, IPT_SO_SET_REPLACE, t.bytes, (socklen_t)(sizeof(struct ipt_replace) + t.length)) == 0;
    free(counters);
    return ok;
}

bool redirect_with_iptables(struct redirect_ports ports)
{
    int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
    if (fd < 0) fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* Linux accepts any socket, gVisor only some */
    bool ok = fd >= 0 && replace_table(fd, ports);
    int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
    return ok;
}
