/* A byte queue that grows on demand up to a bound. */
#ifndef ISOLA_RING_H
#define ISOLA_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ring {
    uint8_t *data;
    size_t start, length, capacity;
};

static inline bool ring_put(struct ring *r, const void *bytes, size_t length, size_t bound)
{
    if (length > bound - r->length) return false;
    if (r->start + r->length + length > r->capacity) {
        size_t capacity = r->capacity ? r->capacity : 4096;
        while (capacity < 2 * (r->length + length)) capacity *= 2; /* amortizes the cost of moving the bytes */
        if (capacity > r->capacity) {
            uint8_t *data = realloc(r->data, capacity);
            if (!data) return false;
            r->data = data;
            r->capacity = capacity;
        }
        if (r->start && r->length) memmove(r->data, r->data + r->start, r->length);
        r->start = 0;
    }
    memcpy(r->data + r->start + r->length, bytes, length);
    r->length += length;
    return true;
}

static inline const uint8_t *ring_head(const struct ring *r)
{
    return r->data + r->start;
}

static inline void ring_drop(struct ring *r, size_t length)
{
    r->start += length;
    r->length -= length;
    if (r->length == 0) r->start = 0;
}

static inline void ring_free(struct ring *r)
{
    free(r->data);
    *r = (struct ring){0};
}

#endif
