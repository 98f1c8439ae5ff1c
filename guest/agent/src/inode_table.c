#include "inode_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 100000, NAMES_MAX = 16 << 20 };

struct inode_entry {
    dev_t device;
    ino_t inode;
    char *name;
};

static struct inode_entry *slot_of(struct inode_entry *slots, size_t capacity, dev_t device, ino_t inode)
{
    uint64_t hash = ((uint64_t)inode ^ (uint64_t)device << 40) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(hash >> 20) & (capacity - 1);
    while (slots[i].name && (slots[i].device != device || slots[i].inode != inode)) i = (i + 1) & (capacity - 1);
    return &slots[i];
}

/* Keeps the table at most half full, so that lookups stay short; the capacity is a power of two. */
static int table_grow(struct inode_table *t)
{
    size_t capacity = t->capacity ? t->capacity * 2 : 256;
    struct inode_entry *slots = calloc(capacity, sizeof *slots);
    if (!slots) return 0;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->slots[i].name) *slot_of(slots, capacity, t->slots[i].device, t->slots[i].inode) = t->slots[i];
    free(t->slots);
    t->slots = slots;
    t->capacity = capacity;
    return 1;
}

const char *inode_table_seen(struct inode_table *t, dev_t device, ino_t inode, const char *name)
{
    if (t->capacity > 0) {
        struct inode_entry *found = slot_of(t->slots, t->capacity, device, inode);
        if (found->name) return found->name;
    }
    size_t length = strlen(name) + 1;
    if (t->count == ENTRIES_MAX || t->bytes + length > NAMES_MAX) return NULL;
    if (t->count * 2 >= t->capacity && !table_grow(t)) return NULL;
    struct inode_entry *slot = slot_of(t->slots, t->capacity, device, inode);
    if ((slot->name = strdup(name))) {
        slot->device = device;
        slot->inode = inode;
        t->count++;
        t->bytes += length;
    }
    return NULL;
}

void inode_table_free(struct inode_table *t)
{
    for (size_t i = 0; i < t->capacity; i++) free(t->slots[i].name);
    free(t->slots);
}
