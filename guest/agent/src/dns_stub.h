/* The name server of a sandbox in network mode filtered, over UDP and TCP. */
#ifndef ISOLA_DNS_STUB_H
#define ISOLA_DNS_STUB_H

#include <netinet/in.h>
#include <stdbool.h>

/* Serves on this address; port 0 lets the kernel choose. Sets the ports. Returns false with errno. */
bool dns_stub_start(struct in_addr address, uint16_t port, uint16_t *udp_port, uint16_t *tcp_port);
/* Closes its sockets, before any client can have connected. */
void dns_stub_stop(void);

#endif
