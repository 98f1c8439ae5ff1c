/*
 * Makes every address local and redirects connections to it to listeners of the agent, in the sandbox's own network
 * namespace. Needs CAP_NET_ADMIN there. All return false with errno.
 */
#ifndef ISOLA_REDIRECT_H
#define ISOLA_REDIRECT_H

#include <stdbool.h>
#include <stdint.h>

/* The ports of the agent's listeners on 127.0.0.1. */
struct redirect_ports {
    uint16_t tcp, dns_udp, dns_tcp;
};

/* Routes all of IPv4 to the loopback interface. */
bool redirect_route_all(void);
/*
 * Gives the loopback interface 198.18.0.1 with a prefix of so many bits, which makes its block local where no such
 * route is possible.
 */
bool redirect_add_address(uint8_t bits);
/* Redirects TCP, and DNS over UDP, to all addresses but 127.0.0.0/8, with nf_tables. */
bool redirect_with_nftables(struct redirect_ports ports);
/* The same with the older interface of the kernel, for those without nf_tables. */
bool redirect_with_iptables(struct redirect_ports ports);

#endif
