/* Queue of received bytes for one worker, in blocks. The worker reads a block in place; used blocks are refilled. */
#ifndef ISOLA_BLOCKS_H
#define ISOLA_BLOCKS_H

#include "frame.h"

struct block {
    struct block *next;
    uint8_t *memory;
    size_t start, length, capacity;
};

struct blocks {
    struct block *first, *last, *spare;
};

/* Queues the payload of `f`. A large payload takes over the reader's buffer, a small one is copied. */
bool blocks_put(struct blocks *b, const struct frame *f);
/* Removes and returns the oldest block, or NULL when the queue is empty. The caller returns it with blocks_recycle. */
struct block *blocks_take(struct blocks *b);
void blocks_recycle(struct blocks *b, struct block *used);
void blocks_free(struct blocks *b);

#endif
