/* Disk usage of the sandbox and its limit. Callable from any thread. */
#ifndef ISOLA_DISK_BUDGET_H
#define ISOLA_DISK_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* `since_ns`: when the sandbox was created, for sandboxes without a view of their layer; 0 for now. */
void disk_set_limit(uint64_t bytes, uint64_t since_ns);
/* The layer is a separate file system, which the kernel limits and measures. */
void disk_set_kernel_limited(void);
bool disk_is_kernel_limited(void);
/* Returns whether that file system has no free inode or block. */
bool disk_is_full(void);
/* Returns the limit in bytes; 0 without a limit or when the kernel enforces it. */
uint64_t disk_limit(void);
/* Measures how much is written now. */
uint64_t disk_measure(void);
/* Reserves space before a file operation writes. Returns false with errno when that would exceed the limit. */
bool disk_reserve(uint64_t bytes);
/* How often a write was refused at the limit; disk_refused counts one more. */
uint64_t disk_refusals(void);
void disk_refused(void);

#endif
