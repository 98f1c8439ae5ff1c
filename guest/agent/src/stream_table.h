/*
 * The streams of the proven connection, as the agent's own parts see them. Worker operations use stream.h;
 * parts that live in the event loop (executions, relays) own a stream through the callbacks below, all of
 * which are called on the main thread without stream_lock.
 */
#ifndef ISOLA_STREAM_TABLE_H
#define ISOLA_STREAM_TABLE_H

#include <pthread.h>

#include "blocks.h"
#include "frame.h"
#include "ring.h"
#include "stream.h"

struct stream_owner {
    void (*data)(void *context, const uint8_t *bytes, size_t length);
    void (*eof)(void *context);
    void (*credit)(void *context);
    void (*cancel)(void *context);  /* must answer with stream_end or stream_error */
    void (*dropped)(void *context); /* the stream is gone when this returns; do not touch it again */
};

struct stream {
    uint32_t id;
    int64_t credit;    /* payload bytes we may still send */
    int64_t allowance; /* payload bytes the server may still send */
    bool over, ended;
    struct stream *next;
    /* for workers */
    pthread_cond_t changed;
    struct blocks input;
    struct block *reading; /* what stream_receive gave out last */
    bool input_eof, widened;
    size_t ungranted;
    int over_fd;
    /* for owners in the loop */
    const struct stream_owner *owner;
    void *context;
};

/* Guards the table, all streams and the outbox. */
extern pthread_mutex_t stream_lock;

/* A new stream in the table; NULL when the number is taken, memory is short or there are too many. */
struct stream *stream_open(uint32_t id, uint64_t credit);
/* A new stream of the agent's own numbering. */
struct stream *stream_open_own(uint64_t credit);
/* Hands the stream to a part of the loop. */
void stream_own(struct stream *s, const struct stream_owner *owner, void *context);
/* Takes a frame of a stream: DATA, EOF, CREDIT, CANCEL. False when the server broke the rules. */
bool streams_take(const struct frame *f);
/* Payload bytes that could be sent now; 0 without credit or room. Main thread. */
size_t stream_sendable(struct stream *s);
/* Sends without waiting; DATA, OUTPUT and ITEM must fit stream_sendable. Main thread. */
void stream_post(struct stream *s, enum frame_type type, const void *head, size_t head_length, const void *payload,
                 size_t length);
/* Lets the server send `bytes` more. */
void stream_grant(struct stream *s, size_t bytes);
/* Frees a stream of a worker after its operation returned. */
void stream_release(struct stream *s);

/* For the connection: marks all as over (lock held), then tells their owners (lock not held). */
void streams_drop_all(void);
void streams_tell_dropped(void);
void streams_wake_senders(void);

#endif
