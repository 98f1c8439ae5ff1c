/* Bytes on their way to a worker, in blocks. A worker reads a block where it lies; used ones are filled again. */
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

/* Queues the payload of `f`: a large one by taking over the reader's buffer, a small one by copying it. */
bool blocks_put(struct blocks *b, const struct frame *f);
/* The oldest block, which is the caller's until it gives it back; NULL when there is none. */
struct block *blocks_take(struct blocks *b);
void blocks_give_back(struct blocks *b, struct block *used);
void blocks_free(struct blocks *b);

#endif
