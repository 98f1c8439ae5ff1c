/* Waits for the boot record on the channel of a virtual machine, whose host may come and go before it sends it. */
#ifndef ISOLA_BOOT_WAIT_H
#define ISOLA_BOOT_WAIT_H

#include "boot.h"
#include "dial_address.h"

/* What the agent sends while it waits. */
extern const char boot_waiting[];

/* A record that arrives in pieces. */
struct boot_buffer {
    uint8_t *bytes;
    size_t length, capacity;
};
/* Adds bytes. Returns true when the record is complete; what follows it is ignored. */
bool boot_buffer_add(struct boot_buffer *b, const uint8_t *bytes, size_t count);
void boot_buffer_clear(struct boot_buffer *b);

/*
 * Sends the line every 50 ms while a host is connected to the port, until a record has arrived. Returns false and sets
 * `problem` when the record is invalid, or the device fails.
 */
bool boot_wait_port(int fd, struct boot *out, const char **problem);
/* Dials until a server has sent a record; sends it the line once. */
bool boot_wait_dial(const struct dial_address *address, struct boot *out, const char **problem);

#endif
