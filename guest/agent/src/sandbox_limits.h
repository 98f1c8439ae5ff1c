/*
 * The limits of the sandbox, as its agent sees them: control groups count what they refused in files that the agent
 * was given as descriptors, and the size of what was written is watched here.
 */
#ifndef ISOLA_SANDBOX_LIMITS_H
#define ISOLA_SANDBOX_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

/* How often each limit was met so far. */
struct limit_counts {
    uint64_t memory, processes, threads, disk;
};

/*
 * Descriptors of memory.oom_control or memory.events and of pids.events, which counts threads, -1 for none; `disk` bytes, 0 for no limit;
 * `since_ns` as disk_set_limit has it.
 */
void limits_setup(int memory_events, int thread_events, uint64_t disk, uint64_t since_ns);
struct limit_counts limits_read(void);
/* True when commands must be more likely to be killed for memory than the agent. */
bool limits_have_memory(void);

/* A command starts or is still there: the disk is looked at in a moment. */
void limits_look_soon(void);
/* True once after the disk was found over its limit and growing. */
bool limits_disk_filled(void);

#endif
