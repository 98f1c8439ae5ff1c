#include "journal.h"

#include <stdlib.h>

enum { SMALL = 4096, LARGE = 65536 };

/* Writes further apart than this get separate timestamps. */
static const uint64_t MERGE_NS = 50 * 1000 * 1000;

uint64_t journal_first(const struct journal *j)
{
    return j->first ? j->first->offset : j->end;
}

static struct piece *take_first(struct journal *j)
{
    struct piece *p = j->first;
    j->first = p->next;
    if (!j->first) j->last = NULL;
    if (j->before_last == p) j->before_last = NULL;
    j->kept -= sizeof *p + p->capacity;
    return p;
}

static void drop_spare(struct journal *j)
{
    if (j->spare) j->kept -= sizeof *j->spare + j->spare->capacity;
    free(j->spare);
    j->spare = NULL;
}

void journal_trim(struct journal *j, size_t limit)
{
    drop_spare(j);
    while (j->first && j->kept > limit) free(take_first(j));
}

/* Returns a piece of that size that is in no list, or NULL when there is no room for it. */
static struct piece *fresh(struct journal *j, uint32_t capacity, uint64_t needed_from)
{
    struct piece *p = NULL;
    while (!p && j->first && j->kept + sizeof *p + capacity > j->limit) {
        if (j->first->offset + j->first->length > needed_from) return NULL;
        if (j->first->capacity == capacity)
            p = take_first(j); /* a flood reuses the same few pieces */
        else
            free(take_first(j));
    }
    if (!p) p = malloc(sizeof *p + capacity);
    if (p) j->kept += sizeof *p + capacity;
    return p;
}

uint8_t *journal_room(struct journal *j, uint8_t channel, uint64_t needed_from, uint64_t time_ns, size_t *available)
{
    struct piece *last = j->last;
    /* Small writes close in time share a piece. */
    j->spare_given = !last || last->channel != channel || last->capacity - last->length < last->capacity / 4
                     || last->capacity == last->length || time_ns - last->time_ns > MERGE_NS;
    if (!j->spare_given) {
        *available = last->capacity - last->length;
        return last->data + last->length;
    }
    uint32_t capacity = last && last->length >= SMALL / 2 ? LARGE : SMALL;
    if (sizeof *last + capacity > j->limit) capacity = SMALL;
    if (j->spare && j->spare->capacity < capacity) drop_spare(j);
    if (!j->spare) {
        j->spare = fresh(j, capacity, needed_from);
        if (!j->spare) return NULL;
        j->spare->capacity = capacity;
    }
    j->spare->channel = channel;
    *available = j->spare->capacity;
    return j->spare->data;
}

/* Shrinks the last piece, since nothing more is written to it. One that is nearly full is left as it is. */
static void seal_last(struct journal *j)
{
    struct piece *last = j->last;
    if (!last || last->capacity - last->length < last->capacity / 4) return;
    struct piece *p = realloc(last, sizeof *last + last->length);
    if (!p) return;
    j->kept -= p->capacity - p->length;
    p->capacity = p->length;
    if (j->before_last)
        j->before_last->next = p;
    else
        j->first = p;
    j->last = p;
}

void journal_filled(struct journal *j, size_t count, uint64_t time_ns)
{
    if (j->spare_given) {
        struct piece *p = j->spare;
        j->spare = NULL;
        p->next = NULL;
        p->offset = j->end;
        p->time_ns = time_ns;
        p->length = 0;
        seal_last(j);
        if (j->last)
            j->last->next = p;
        else
            j->first = p;
        j->before_last = j->last;
        j->last = p;
        j->spare_given = false;
    }
    j->last->length += (uint32_t)count;
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
