/*
 * The channel to the server: who may talk to us, and the frames that go out. At any time there is at most one
 * proven connection; peers that are still in the greeting wait beside it.
 */
#ifndef ISOLA_CONNECTION_H
#define ISOLA_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

struct connection_events {
    void (*connected)(void);
    void (*frame)(const struct frame *f); /* every frame of the proven connection but PING and PONG */
    void (*dropped)(void);
    void (*room)(void); /* there is room to send again */
};

/* `secret` has SECRET_SIZE bytes; `sandbox` is told in WELCOME. */
void connection_setup(const uint8_t *secret, const char *sandbox, const struct connection_events *events);
/* Accepts peers on a listening socket. */
bool connection_listen(int fd);
/* Serves the one peer at the other end of a pair of descriptors; `repeat` the challenge until it answers. */
bool connection_fixed(int in_fd, int out_fd, bool repeat);
bool connection_present(void);
/* Cuts the proven connection off. */
void connection_drop(void);
/* Sends BYE and tries for a moment to get it out. */
void connection_farewell(const char *reason);

/*
 * Sends a frame of the proven connection: `head` then `payload` (either may be empty). From any thread, with
 * stream_lock held. Never blocks: what does not go out at once is queued. False when nobody is connected.
 */
bool connection_send(enum frame_type type, uint32_t stream, const void *head, size_t head_length, const void *payload,
                     size_t length);
/* The same with `length` bytes that are waiting in a pipe. */
bool connection_send_pipe(enum frame_type type, uint32_t stream, int pipe, size_t length);
/* Between the two, frames wait for each other and then go out in one write. Main thread, stream_lock not held. */
void connection_hold(void);
void connection_let_go(void);
/* True when the queue is short enough for bulk data. With stream_lock held. */
bool connection_has_room(void);
/* Called once per turn of the loop: sends what workers have queued. */
void connection_turn(void);

#endif
