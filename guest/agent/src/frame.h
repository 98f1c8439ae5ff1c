/* Splits a byte stream into frames without interpreting them. Checks the length before allocating anything. */
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
    size_t limit; /* longest payload accepted now */
};

enum { FRAME_BUFFER = FRAME_HEADER + FRAME_MAX };
enum frame_result { FRAME_NONE, FRAME_READY, FRAME_BROKEN };

/* Returns space for the next read and its size in *available, or NULL when out of memory. */
uint8_t *frame_room(struct frame_reader *r, size_t *available);
void frame_filled(struct frame_reader *r, size_t count);
/* Returns the next complete frame. Its payload is valid until the next frame_room. */
enum frame_result frame_next(struct frame_reader *r, struct frame *out);
/*
 * Exchanges the reader's buffer, which holds the payload of the frame just read, for `buffer` of FRAME_BUFFER bytes, so
 * that a large payload is passed on without a copy. Returns NULL when the buffer is smaller or holds more frames.
 */
uint8_t *frame_exchange(struct frame_reader *r, uint8_t *buffer);
void frame_reader_free(struct frame_reader *r);

#endif
