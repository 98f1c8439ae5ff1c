/*
 * Limits of the sandbox as the agent observes them. Control groups count refusals in files that the agent has
 * descriptors of; the agent measures disk usage itself.
 */
#ifndef ISOLA_SANDBOX_LIMITS_H
#define ISOLA_SANDBOX_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

/* How often each limit has been reached. */
struct limit_counts {
    uint64_t memory, processes, threads, disk;
};

/*
 * Descriptors of memory.oom_control, memory.events or vmstat, and of pids.events (which counts threads); -1 for none. `disk` is
 * in bytes, 0 for no limit; `since_ns` as in disk_set_limit.
 */
void limits_setup(int memory_events, int thread_events, uint64_t disk, uint64_t since_ns);
struct limit_counts limits_read(void);
/* An execution was killed because there were more processes than allowed. */
void limits_processes_met(void);
/* Returns true when the OOM killer must prefer commands over the agent. */
bool limits_have_memory(void);

/* Schedules a measurement of the disk; called while commands run. */
void limits_check_soon(void);
/* Returns true once after the disk was found above its limit and growing. */
bool limits_disk_exceeded(void);

#endif
