#include "blocks.h"

#include <stdlib.h>
#include <string.h>

enum {
    SMALL = 64 << 10, /* many small frames share a block of this size */
};

static void block_free(struct block *block)
{
    free(block->memory);
    free(block);
}

static struct block *block_new(size_t capacity)
{
    struct block *block = calloc(1, sizeof *block);
    uint8_t *memory = block ? malloc(capacity) : NULL;
    if (!memory) {
        free(block);
        return NULL;
    }
    block->memory = memory;
    block->capacity = capacity;
    return block;
}

static struct block *large_block(struct blocks *b)
{
    struct block *block = b->spare;
    if (!block) return block_new(FRAME_BUFFER);
    b->spare = block->next;
    block->next = NULL;
    return block;
}

static bool fits_into_last(const struct blocks *b, size_t length)
{
    const struct block *last = b->last;
    return last && last->start + last->length + length <= last->capacity;
}

static void copy(struct block *block, const struct frame *f)
{
    memcpy(block->memory + block->start + block->length, f->payload, f->length);
    block->length += f->length;
}

bool blocks_put(struct blocks *b, const struct frame *f)
{
    if (f->length <= SMALL && fits_into_last(b, f->length)) {
        copy(b->last, f);
        return true;
    }
    struct block *block = f->length <= SMALL ? block_new(SMALL) : large_block(b);
    if (!block) return false;
    uint8_t *taken = f->length <= SMALL ? NULL : frame_exchange(f->reader, block->memory);
    if (taken) {
        block->memory = taken;
        block->start = (size_t)(f->payload - taken);
        block->length = f->length;
    } else {
        block->start = block->length = 0;
        copy(block, f);
    }
    if (b->last)
        b->last->next = block;
    else
        b->first = block;
    b->last = block;
    return true;
}

struct block *blocks_take(struct blocks *b)
{
    struct block *block = b->first;
    if (!block) return NULL;
    b->first = block->next;
    if (!b->first) b->last = NULL;
    block->next = NULL;
    return block;
}

void blocks_recycle(struct blocks *b, struct block *used)
{
    if (used->capacity != FRAME_BUFFER) {
        block_free(used);
        return;
    }
    used->next = b->spare;
    b->spare = used;
}

static void free_all(struct block *block)
{
    while (block) {
        struct block *next = block->next;
        block_free(block);
        block = next;
    }
}

void blocks_free(struct blocks *b)
{
    free_all(b->first);
    free_all(b->spare);
    *b = (struct blocks){0};
}
