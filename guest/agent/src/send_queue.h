/*
 * Send queue of one non-blocking descriptor: frames that cannot be written at once are queued. Guarded by connection_lock.
 */
#ifndef ISOLA_SEND_QUEUE_H
#define ISOLA_SEND_QUEUE_H

#include "wire.h"

struct send_queue {
    int fd;
    bool corked; /* queue everything until the next flush */
    uint8_t *bytes;
    size_t start, length, capacity;
};

/*
 * Sends `head`, then `payload`; either may be empty. Returns false when the peer is gone or the queue exceeds its
 * bound.
 */
bool send_queue_send(struct send_queue *o, enum frame_type type, uint32_t stream, const void *head, size_t head_length,
                     const void *payload, size_t length);
/* Like send_queue_send, with `length` bytes that are in a pipe; the kernel passes the pages on without copying them. */
bool send_queue_send_pipe(struct send_queue *o, enum frame_type type, uint32_t stream, int pipe, size_t length);
/* Sends as much of the queue as possible. Returns false when the peer is gone. */
bool send_queue_flush(struct send_queue *o);
void send_queue_free(struct send_queue *o);

#endif
