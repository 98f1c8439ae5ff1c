/*
 * Connection to the server: authenticates peers and sends frames. At most one connection is authenticated at a time;
 * peers in the handshake wait beside it.
 */
#ifndef ISOLA_CONNECTION_H
#define ISOLA_CONNECTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

/* Guards the send queue, and what decides which frames go to it: all streams and their table. */
extern pthread_mutex_t connection_lock;

/* What becomes of a peer that the agent dialled. */
struct dialled_events {
    void (*authenticated)(void);
    void (*ended)(bool authenticated); /* called exactly once; `authenticated` when it had proven the secret */
};

/* `secret` has SECRET_SIZE bytes; WELCOME carries `sandbox`. */
void connection_setup(const uint8_t *secret, const char *sandbox);
/* Accepts peers on a listening socket. */
bool connection_listen(int fd);
/* Serves a peer that has connected, and closes the socket when it ends. */
void connection_accepted(int fd);
/* Serves the peer to which the socket is connected, and closes the socket when it ends. CHALLENGE names the sandbox. */
void connection_dialled(int fd, const struct dialled_events *events);
/* Disconnects the dialled peer that has not authenticated yet, if there is one. */
void connection_abandon_dialled(void);
/*
 * Serves the one peer at the other end of a pair of descriptors. With `repeat`, sends the challenge until it answers.
 */
bool connection_fixed(int in_fd, int out_fd, bool repeat);
bool connection_is_open(void);
/* Returns true when all that was sent has been written, or there is no connection. */
bool connection_is_flushed(void);
/* Closes the authenticated connection. */
void connection_drop(void);
/* Sends BYE and waits briefly for it to be written. */
void connection_send_bye(const char *reason);

/*
 * Sends a frame on the authenticated connection: `head`, then `payload`; either may be empty. Callable from any thread
 * with connection_lock held. Never blocks: what cannot be written at once is queued. Returns false when not connected.
 */
bool connection_send(enum frame_type type, uint32_t stream, const void *head, size_t head_length, const void *payload,
                     size_t length);
/* Like connection_send, with `length` bytes that are in a pipe. */
bool connection_send_pipe(enum frame_type type, uint32_t stream, int pipe, size_t length);
/* Frames sent between cork and uncork go out in one write. Main thread, without connection_lock. */
void connection_cork(void);
void connection_uncork(void);
/* Returns true when the send queue is short enough for bulk data. Requires connection_lock. */
bool connection_has_room(void);
/* Called once per iteration of the event loop: handles failed sends and write events requested by workers. */
void connection_poll(void);

#endif
