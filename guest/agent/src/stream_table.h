/*
 * The streams of the authenticated connection, as seen by the agent's own modules. Worker operations use stream.h.
 * Modules in the event loop (executions, relays) own a stream through the callbacks below, which are all called on the
 * main thread without connection_lock.
 */
#ifndef ISOLA_STREAM_TABLE_H
#define ISOLA_STREAM_TABLE_H

#include <pthread.h>

#include "blocks.h"
#include "frame.h"
#include "ring.h"

struct stream_owner {
    void (*data)(void *context, const uint8_t *bytes, size_t length);
    void (*eof)(void *context);
    void (*credit)(void *context);
    void (*cancel)(void *context);  /* must end the stream with stream_end or stream_error */
    void (*dropped)(void *context); /* the stream is freed when this returns */
};

struct stream {
    uint32_t id;
    int64_t credit;    /* payload bytes the agent may still send */
    int64_t allowance; /* payload bytes the server may still send */
    bool over, ended;
    struct stream *next;
    /* for workers */
    pthread_cond_t changed;
    struct blocks input;
    struct block *reading; /* the block that stream_receive returned last */
    bool input_eof, widened;
    size_t ungranted;
    int wake_fd;
    /* for owners in the loop */
    const struct stream_owner *owner;
    void *context;
};

/* Opens a stream. Returns NULL when the number is in use, out of memory, or at the maximum number of streams. */
struct stream *stream_open(uint32_t id, uint64_t credit);
/* Opens a stream with a number of the agent. */
struct stream *stream_open_own(uint64_t credit);
/* Passes the stream to a module of the event loop. */
void stream_set_owner(struct stream *s, const struct stream_owner *owner, void *context);
/* Handles a stream frame: DATA, EOF, CREDIT, CANCEL. Returns false when the server violated the protocol. */
bool streams_dispatch(const struct frame *f);
/* Returns how many payload bytes can be sent now; 0 without credit or room. Main thread. */
size_t stream_sendable(struct stream *s);
/* Sends without waiting; DATA, OUTPUT and ITEM must fit stream_sendable. Main thread. */
void stream_post(struct stream *s, enum frame_type type, const void *head, size_t head_length, const void *payload,
                 size_t length);
/* Grants the server `bytes` more. */
void stream_grant(struct stream *s, size_t bytes);
/* Frees a worker's stream after its operation has returned. */
void stream_release(struct stream *s);

/* For the connection: marks all streams as over (with the lock), then notifies their owners (without it). */
void streams_drop_all(void);
void streams_notify_dropped(void);
void streams_wake_senders(void);

#endif
