/* How much the sandbox has written of what it may. From any thread. */
#ifndef ISOLA_DISK_BUDGET_H
#define ISOLA_DISK_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* `since_ns`: when the sandbox was made, for one whose layer cannot be seen; 0 for just now. */
void disk_set_limit(uint64_t bytes, uint64_t since_ns);
/* The layer is a file system of its own: the kernel limits it, and knows what is written. */
void disk_set_own(void);
bool disk_is_own(void);
/* Whether such a file system has no room for another file, or for its content. */
bool disk_is_full(void);
/* In bytes, 0 for none, or for one that the kernel sees to. */
uint64_t disk_limit(void);
/* Measures what is written now. */
uint64_t disk_measure(void);
/* Before a file operation writes: false, with errno, when that would exceed the limit. */
bool disk_take(uint64_t bytes);
/* How often the limit was met; one time more. */
uint64_t disk_refusals(void);
void disk_refused(void);

#endif
