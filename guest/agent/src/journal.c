#include "journal.h"

#include <stdlib.h>

enum { SMALL = 4096, LARGE = 65536 };

uint64_t journal_first(const struct journal *j)
{
    return j->first ? j->first->offset : j->end;
}

static struct piece *take_first(struct journal *j)
{
    struct piece *p = j->first;
    j->first = p->next;
    if (!j->first) j->last = NULL;
    j->kept -= sizeof *p + p->capacity;
    return p;
}

void journal_trim(struct journal *j, size_t limit)
{
    while (j->first && j->kept > limit) free(take_first(j));
}

uint8_t *journal_room(struct journal *j, uint8_t channel, uint64_t needed_from, size_t *available)
{
    struct piece *last = j->last;
    /* Small writes that come together share a piece; an empty piece (of a read that found nothing) is used again. */
    if (last && (last->channel == channel || last->length == 0) && last->capacity - last->length >= last->capacity / 4) {
        last->channel = channel;
        *available = last->capacity - last->length;
        return last->data + last->length;
    }
    uint32_t capacity = last && last->length >= SMALL / 2 ? LARGE : SMALL;
    if (sizeof *last + capacity > j->limit) capacity = SMALL;
    struct piece *p = NULL;
    while (!p && j->first && j->kept + sizeof *last + capacity > j->limit) {
        if (j->first->offset + j->first->length > needed_from) return NULL;
        if (j->first->capacity == capacity) p = take_first(j); /* a flood goes round in the same few pieces */
        else free(take_first(j));
    }
    if (!p) p = malloc(sizeof *p + capacity);
    if (!p) return NULL;
    *p = (struct piece){.offset = j->end, .capacity = capacity, .channel = channel};
    if (j->last) j->last->next = p;
    else j->first = p;
    j->last = p;
    j->kept += sizeof *p + capacity;
    *available = capacity;
    return p->data;
}

void journal_filled(struct journal *j, size_t count, uint64_t time_ns)
{
    struct piece *p = j->last;
    if (p->length == 0) {
        p->offset = j->end;
        p->time_ns = time_ns;
    }
    p->length += (uint32_t)count;
    j->end += count;
}

const struct piece *journal_find(const struct journal *j, uint64_t offset)
{
    /* Readers are nearly always at the end. */
    if (offset >= j->end) return NULL;
    if (j->last && j->last->offset <= offset) return j->last;
    const struct piece *p = j->first;
    while (p && p->offset + p->length <= offset) p = p->next;
    return p;
}
