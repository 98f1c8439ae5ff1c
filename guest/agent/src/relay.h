/* TCP connections carried over streams: DIAL into the sandbox, RELAY and EGRESS out of it. Main thread only. */
#ifndef ISOLA_RELAY_H
#define ISOLA_RELAY_H

#include "stream.h"

void relay_dial(struct stream *s, struct fields request);
void relay_listen(struct stream *s, struct fields request);

/* Where an accepted connection goes. */
struct relay_listener {
    uint32_t stream;  /* of the request that asked for it */
    const char *host; /* what the guest process connected to; NULL if the server knows */
    uint16_t port;
    int *count, most; /* connections of this listener that are open */
    bool resets;      /* a connection that the server cancels, or loses, is reset */
};
/* Passes a connection to the server. Returns false if there are too many; the caller closes it then. */
bool relay_accepted(int fd, const struct relay_listener *l);
/* Passes a connection, of which nothing was read, to the relay of the server; its stream ends. */
void relay_hand_over(struct stream *s, struct fields request);
/* Closes a connection so that the other side sees a reset. */
void socket_reset(int fd);
/* The send queue has room again. */
void relays_resume(void);

#endif
