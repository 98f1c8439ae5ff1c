#include "redirect.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_nat.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "name_table.h"
#include "netlink.h"

#define NAME_SERVER (NAME_TABLE_NETWORK + 1)

enum { LOOPBACK = 1, DNAT_PRIORITY = -100, DNS_PORT = 53 };
enum { TRANSPORT_PORT_AT = 2, NETWORK_DESTINATION_AT = 16, LOOPBACK_NET = 127 };

static const char TABLE[] = "isola", CHAIN[] = "output";

bool redirect_route_all(void)
{
    struct netlink n = {.length = 0};
    struct rtmsg route = {.rtm_family = AF_INET,
                          .rtm_table = RT_TABLE_LOCAL,
                          .rtm_protocol = RTPROT_BOOT,
                          .rtm_scope = RT_SCOPE_HOST,
                          .rtm_type = RTN_LOCAL};
    uint32_t device = LOOPBACK;
    netlink_message(&n, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK, &route, sizeof route);
    netlink_bytes(&n, RTA_OIF, &device, sizeof device);
    return netlink_send(&n, NETLINK_ROUTE);
}

bool redirect_add_address(uint8_t bits)
{
    struct netlink n = {.length = 0};
    struct ifaddrmsg address = {.ifa_family = AF_INET, .ifa_prefixlen = bits, .ifa_index = LOOPBACK};
    netlink_message(&n, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK, &address, sizeof address);
    netlink_be32(&n, IFA_LOCAL, NAME_SERVER);
    netlink_be32(&n, IFA_ADDRESS, NAME_SERVER);
    return netlink_send(&n, NETLINK_ROUTE);
}

/* ---- nf_tables ---- */

static void message(struct netlink *n, uint16_t type, uint16_t flags)
{
    struct nfgenmsg family = {.nfgen_family = NFPROTO_IPV4, .version = NFNETLINK_V0};
    netlink_message(n, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), (uint16_t)(flags | NLM_F_ACK), &family,
                    sizeof family);
}

static void batch(struct netlink *n, uint16_t type)
{
    struct nfgenmsg system = {.version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)};
    netlink_message(n, type, 0, &system, sizeof system);
}

struct nesting {
    size_t element, data;
};

static struct nesting open_expression(struct netlink *n, const char *name)
{
    struct nesting opened = {.element = netlink_open(n, NFTA_LIST_ELEM)};
    netlink_text(n, NFTA_EXPR_NAME, name);
    opened.data = netlink_open(n, NFTA_EXPR_DATA);
    return opened;
}

static void close_expression(struct netlink *n, struct nesting opened)
{
    netlink_close(n, opened.data);
    netlink_close(n, opened.element);
}

static void data(struct netlink *n, uint16_t type, const void *value, size_t length)
{
    size_t opened = netlink_open(n, type);
    netlink_bytes(n, NFTA_DATA_VALUE, value, length);
    netlink_close(n, opened);
}

static void compare(struct netlink *n, enum nft_cmp_ops operation, const void *value, size_t length)
{
    struct nesting e = open_expression(n, "cmp");
    netlink_be32(n, NFTA_CMP_SREG, NFT_REG_1);
    netlink_be32(n, NFTA_CMP_OP, operation);
    data(n, NFTA_CMP_DATA, value, length);
    close_expression(n, e);
}

static void compare_payload(struct netlink *n, enum nft_payload_bases base, uint32_t offset, enum nft_cmp_ops operation,
                            const void *value, size_t length)
{
    struct nesting e = open_expression(n, "payload");
    netlink_be32(n, NFTA_PAYLOAD_DREG, NFT_REG_1);
    netlink_be32(n, NFTA_PAYLOAD_BASE, base);
    netlink_be32(n, NFTA_PAYLOAD_OFFSET, offset);
    netlink_be32(n, NFTA_PAYLOAD_LEN, (uint32_t)length);
    close_expression(n, e);
    compare(n, operation, value, length);
}

static void redirect(struct netlink *n, uint16_t port)
{
    uint16_t wire = htons(port);
    struct nesting e = open_expression(n, "immediate");
    netlink_be32(n, NFTA_IMMEDIATE_DREG, NFT_REG_1);
    data(n, NFTA_IMMEDIATE_DATA, &wire, sizeof wire);
    close_expression(n, e);
    e = open_expression(n, "redir");
    netlink_be32(n, NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1);
    netlink_be32(n, NFTA_REDIR_FLAGS, NF_NAT_RANGE_PROTO_SPECIFIED);
    close_expression(n, e);
}

/* Redirects a protocol, to one port of the destination if `port` is not 0. */
static void rule(struct netlink *n, uint8_t protocol, uint16_t port, uint16_t to)
{
    static const uint8_t loopback = LOOPBACK_NET;
    uint16_t wire = htons(port);
    message(n, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
    netlink_text(n, NFTA_RULE_TABLE, TABLE);
    netlink_text(n, NFTA_RULE_CHAIN, CHAIN);
    size_t expressions = netlink_open(n, NFTA_RULE_EXPRESSIONS);
    struct nesting e = open_expression(n, "meta");
    netlink_be32(n, NFTA_META_KEY, NFT_META_L4PROTO);
    netlink_be32(n, NFTA_META_DREG, NFT_REG_1);
    close_expression(n, e);
    compare(n, NFT_CMP_EQ, &protocol, sizeof protocol);
    compare_payload(n, NFT_PAYLOAD_NETWORK_HEADER, NETWORK_DESTINATION_AT, NFT_CMP_NEQ, &loopback, sizeof loopback);
    if (port) compare_payload(n, NFT_PAYLOAD_TRANSPORT_HEADER, TRANSPORT_PORT_AT, NFT_CMP_EQ, &wire, sizeof wire);
    redirect(n, to);
    netlink_close(n, expressions);
}

bool redirect_with_nftables(struct redirect_ports ports)
{
    struct netlink n = {.length = 0};
    batch(&n, NFNL_MSG_BATCH_BEGIN);
    message(&n, NFT_MSG_NEWTABLE, NLM_F_CREATE);
    netlink_text(&n, NFTA_TABLE_NAME, TABLE);
    message(&n, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
    netlink_text(&n, NFTA_CHAIN_TABLE, TABLE);
    netlink_text(&n, NFTA_CHAIN_NAME, CHAIN);
    netlink_text(&n, NFTA_CHAIN_TYPE, "nat");
    size_t hook = netlink_open(&n, NFTA_CHAIN_HOOK);
    netlink_be32(&n, NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
    netlink_be32(&n, NFTA_HOOK_PRIORITY, (uint32_t)DNAT_PRIORITY);
    netlink_close(&n, hook);
    rule(&n, IPPROTO_UDP, DNS_PORT, ports.dns_udp);
    rule(&n, IPPROTO_TCP, DNS_PORT, ports.dns_tcp);
    rule(&n, IPPROTO_TCP, 0, ports.tcp);
    batch(&n, NFNL_MSG_BATCH_END);
    return netlink_send(&n, NETLINK_NETFILTER);
}
