/* Signals to a process that was seen before, and to no other that has got its pid meanwhile. */
#ifndef ISOLA_PROCESS_SIGNAL_H
#define ISOLA_PROCESS_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* When a process was started (field 22 of PID/stat in the folder `proc`), which tells two of one pid apart; 0: gone. */
uint64_t process_start(int proc, pid_t pid);

/* Signals the process of this pid and start. False with errno; ESRCH when that process is gone. */
bool process_signal(int proc, pid_t pid, uint64_t start, int signal_number);

#endif
