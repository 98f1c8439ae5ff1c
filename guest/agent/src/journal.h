/*
 * The last bytes a command wrote, in pieces, each with its channel, offset and time. Bounded: when it is full
 * the oldest piece goes, unless somebody still has to read it; then the writer has to wait.
 */
#ifndef ISOLA_JOURNAL_H
#define ISOLA_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct piece {
    struct piece *next;
    uint64_t offset, time_ns;
    uint32_t length, capacity;
    uint8_t channel;
    uint8_t data[];
};

struct journal {
    struct piece *first, *last;
    struct piece *before_last; /* NULL when there are fewer than two */
    struct piece *spare;       /* room that a read was given and did not fill; not one of the pieces yet */
    bool spare_given;          /* whether the next read fills the spare, and not the rest of the last piece */
    uint64_t end;              /* offset of the next byte */
    size_t kept, limit;        /* memory used by pieces, and the most it may be */
};

/* The oldest offset that can still be read. */
uint64_t journal_first(const struct journal *j);
/*
 * Room for the next read of `channel`, at least one byte. Pieces that end at or before `needed_from` may be thrown
 * away for it; NULL when that does not make room. A read that finds nothing leaves no trace.
 */
uint8_t *journal_room(struct journal *j, uint8_t channel, uint64_t needed_from, uint64_t time_ns, size_t *available);
void journal_filled(struct journal *j, size_t count, uint64_t time_ns);
/* The piece that holds `offset`, or the first one after it. NULL at the end. */
const struct piece *journal_find(const struct journal *j, uint64_t offset);
/* Throws away pieces until at most `limit` is kept. */
void journal_trim(struct journal *j, size_t limit);

#endif
