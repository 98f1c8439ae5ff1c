#include "frame.h"

#include <stdlib.h>
#include <string.h>

uint8_t *frame_room(struct frame_reader *r, size_t *available)
{
    size_t wanted = FRAME_HEADER + r->limit;
    if (wanted < 65536) wanted = r->limit < 65536 ? FRAME_HEADER + r->limit : 65536;
    if (r->capacity < wanted) {
        /* Starts small: an idle connection needs room for its requests only. */
        size_t needed = r->length + FRAME_HEADER;
        if (r->length >= FRAME_HEADER) {
            size_t payload = get_u32(r->buffer + r->start);
            if (payload <= r->limit) needed = FRAME_HEADER + payload;
        }
        size_t capacity = r->capacity ? r->capacity : 16384;
        if (capacity > wanted) capacity = wanted;
        while (capacity < needed) capacity *= 2;
        if (capacity > wanted) capacity = wanted;
        if (capacity > r->capacity) {
            uint8_t *buffer = realloc(r->buffer, capacity);
            if (!buffer) return NULL;
            r->buffer = buffer;
            r->capacity = capacity;
        }
    }
    if (r->start && (r->length == 0 || r->capacity - r->start - r->length < r->capacity / 2)) {
        memmove(r->buffer, r->buffer + r->start, r->length);
        r->start = 0;
    }
    *available = r->capacity - r->start - r->length;
    return r->buffer + r->start + r->length;
}

void frame_filled(struct frame_reader *r, size_t count)
{
    r->length += count;
}

enum frame_result frame_next(struct frame_reader *r, struct frame *out)
{
    if (r->length < FRAME_HEADER) return FRAME_NONE;
    const uint8_t *p = r->buffer + r->start;
    size_t length = get_u32(p);
    if (length > r->limit) return FRAME_BROKEN;
    if (r->length - FRAME_HEADER < length) return FRAME_NONE;
    *out = (struct frame){
        .type = p[4], .stream = get_u32(p + 5), .payload = p + FRAME_HEADER, .length = length, .reader = r};
    r->start += FRAME_HEADER + length;
    r->length -= FRAME_HEADER + length;
    return FRAME_READY;
}

uint8_t *frame_exchange(struct frame_reader *r, uint8_t *buffer)
{
    if (r->length || r->capacity != FRAME_BUFFER) return NULL;
    uint8_t *full = r->buffer;
    r->buffer = buffer;
    r->start = 0;
    return full;
}

void frame_reader_free(struct frame_reader *r)
{
    free(r->buffer);
    *r = (struct frame_reader){0};
}
