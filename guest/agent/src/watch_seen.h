/*
 * Entries of new folders that were found by looking. The kernel may have an event for them in its queue as well;
 * it is left out then, so that an entry is reported once.
 */
#ifndef ISOLA_WATCH_SEEN_H
#define ISOLA_WATCH_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Past this many, an entry may be reported twice; that is all that happens. */
enum { WATCH_SEEN_MAX = 4096 };

/* Empty it (count = 0) once the kernel's queue was empty. */
struct watch_seen {
    uint64_t hashes[WATCH_SEEN_MAX];
    size_t count;
};

void watch_seen_add(struct watch_seen *s, int watch, const char *name);
/* True, once, for an entry that was added. */
bool watch_seen_take(struct watch_seen *s, int watch, const char *name);

#endif
