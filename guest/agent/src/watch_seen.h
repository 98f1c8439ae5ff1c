/*
 * Entries of new folders that were found by scanning. The kernel may queue an event for them too, which is then
 * dropped, so that each entry is reported once.
 */
#ifndef ISOLA_WATCH_SEEN_H
#define ISOLA_WATCH_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beyond this number, an entry may be reported twice. */
enum { WATCH_SEEN_MAX = 4096 };

/* Reset (count = 0) once the kernel's queue was empty. */
struct watch_seen {
    uint64_t hashes[WATCH_SEEN_MAX];
    size_t count;
};

void watch_seen_add(struct watch_seen *s, int watch, const char *name);
/* Returns true once for each entry that was added. */
bool watch_seen_take(struct watch_seen *s, int watch, const char *name);

#endif
