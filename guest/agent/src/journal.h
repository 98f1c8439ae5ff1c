/*
 * The most recent output of a command, in pieces with channel, offset and time. Bounded: when the journal is full the
 * oldest piece is discarded, unless an attached reader still needs it; then the writer waits.
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
    struct piece *spare;       /* space handed to a read that did not fill it; not in the list yet */
    bool spare_given;          /* whether the next read fills the spare instead of the rest of the last piece */
    uint64_t end;              /* offset of the next byte */
    size_t kept, limit;        /* memory used by pieces, and its limit */
};

/* Returns the oldest offset that can still be read. */
uint64_t journal_first(const struct journal *j);
/*
 * Returns space for the next read of `channel`, at least one byte. May discard pieces that end at or before
 * `needed_from`; returns NULL when that does not make room. A read that finds nothing leaves the journal unchanged.
 */
uint8_t *journal_room(struct journal *j, uint8_t channel, uint64_t needed_from, uint64_t time_ns, size_t *available);
void journal_filled(struct journal *j, size_t count, uint64_t time_ns);
/* Returns the piece that contains `offset`, or the first one after it; NULL at the end. */
const struct piece *journal_find(const struct journal *j, uint64_t offset);
/* Discards pieces until at most `limit` bytes are kept. */
void journal_trim(struct journal *j, size_t limit);

#endif
