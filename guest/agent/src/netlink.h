/* Requests to the kernel's network configuration, written without libraries or programs. */
#ifndef ISOLA_NETLINK_H
#define ISOLA_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NETLINK_BUFFER = 4096 };

/* One or more messages. A nested attribute is open from netlink_open to netlink_close. */
struct netlink {
    _Alignas(4) uint8_t data[NETLINK_BUFFER];
    size_t length, message; /* message: where the last one starts */
    bool overflow;
};

/* Begins a message with a family header of `size` bytes. */
void netlink_message(struct netlink *n, uint16_t type, uint16_t flags, const void *header, size_t size);
void netlink_bytes(struct netlink *n, uint16_t type, const void *value, size_t length);
void netlink_text(struct netlink *n, uint16_t type, const char *text);
/* In network byte order, as nf_tables has it. */
void netlink_be32(struct netlink *n, uint16_t type, uint32_t value);
size_t netlink_open(struct netlink *n, uint16_t type);
void netlink_close(struct netlink *n, size_t opened);
/* Sends all messages, and returns when the kernel has processed them; false with errno. */
bool netlink_send(struct netlink *n, int protocol);

#endif
