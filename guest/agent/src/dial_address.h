/* Address that the agent dials: unix:PATH, vsock:CID:PORT or tcp:HOST:PORT. */
#ifndef ISOLA_DIAL_ADDRESS_H
#define ISOLA_DIAL_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <linux/vm_sockets.h>

struct dial_address {
    union {
        struct sockaddr any;
        struct sockaddr_un local;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_vm vm;
    } socket;
    socklen_t size;
};

/* Returns NULL, or why the text is no address. */
const char *dial_address_parse(const char *text, struct dial_address *out);
/*
 * Starts to connect a new non-blocking socket. Returns the socket, or -1 with errno; `pending` is set when the socket
 * becomes writable once the attempt is over.
 */
int dial_address_connect(const struct dial_address *a, bool *pending);
/* Returns 0 when the pending socket is connected, or the error. */
int dial_address_finish(int fd);

#endif
