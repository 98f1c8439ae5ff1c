/*
 * Frames on their way out of one descriptor, which does not block: what does not go out at once is queued.
 * Guarded by stream_lock.
 */
#ifndef ISOLA_OUTBOX_H
#define ISOLA_OUTBOX_H

#include "wire.h"

struct outbox {
    int fd;
    bool held; /* everything is queued, until it is flushed */
    uint8_t *bytes;
    size_t start, length, capacity;
};

/* Sends `head` then `payload` (either may be empty). False when the peer is gone or far too much is queued. */
bool outbox_send(struct outbox *o, enum frame_type type, uint32_t stream, const void *head, size_t head_length,
                 const void *payload, size_t length);
/* The same with `length` bytes that are waiting in a pipe: the kernel passes its pages on without copying them. */
bool outbox_send_pipe(struct outbox *o, enum frame_type type, uint32_t stream, int pipe, size_t length);
/* Sends what is queued, as far as it goes. False when the peer is gone. */
bool outbox_flush(struct outbox *o);
void outbox_free(struct outbox *o);

#endif
