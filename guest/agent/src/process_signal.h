/* Signals a process identified earlier, and never another process that has reused its pid. */
#ifndef ISOLA_PROCESS_SIGNAL_H
#define ISOLA_PROCESS_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Returns the start time of a process (field 22 of PID/stat in the folder `proc`), which identifies it together with
 * its pid; 0 when the process is gone.
 */
uint64_t process_start(int proc, pid_t pid);

/* Signals the process with this pid and start time. Returns false with errno; ESRCH when it is gone. */
bool process_signal(int proc, pid_t pid, uint64_t start, int signal_number);

#endif
