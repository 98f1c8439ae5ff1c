/* Cuts a byte stream into frames. Knows nothing of what they mean; the length is checked before anything is allocated. */
#ifndef ISOLA_FRAME_H
#define ISOLA_FRAME_H

#include <sys/types.h>

#include "wire.h"

struct frame_reader;
struct frame {
    uint8_t type;
    uint32_t stream;
    const uint8_t *payload;
    size_t length;
    struct frame_reader *reader;
};

struct frame_reader {
    uint8_t *buffer;
    size_t start, length, capacity;
    size_t limit; /* the longest payload taken now */
};

enum { FRAME_BUFFER = FRAME_HEADER + FRAME_MAX };
enum frame_result { FRAME_NONE, FRAME_READY, FRAME_BROKEN };

/* Room for the next read; *available says how much. NULL when memory is short. */
uint8_t *frame_room(struct frame_reader *r, size_t *available);
void frame_filled(struct frame_reader *r, size_t count);
/* The next whole frame. Its payload is good until the next frame_room. */
enum frame_result frame_next(struct frame_reader *r, struct frame *out);
/*
 * Takes the reader's buffer, with the payload of the frame just read, in exchange for `buffer` of FRAME_BUFFER
 * bytes: a large payload is passed on without copying it. NULL when the buffer is smaller or holds more.
 */
uint8_t *frame_exchange(struct frame_reader *r, uint8_t *buffer);
void frame_reader_free(struct frame_reader *r);

#endif
