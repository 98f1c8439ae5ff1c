/*
 * The agent as the init of a virtual machine: it loads drivers, waits for its boot record on the channel that the
 * kernel's command line names, and sets up the machine before it serves. PROTOCOL.md describes the steps.
 */
#ifndef ISOLA_INIT_H
#define ISOLA_INIT_H

#include <stdbool.h>

#include "boot.h"

/* The channel on which the agent serves afterwards. */
struct init_result {
    int port;          /* descriptor of the virtio port; -1 when the agent dials */
    const char *dial;  /* the address; NULL when there is a port */
    int memory_events; /* where the kernel counts the processes that it killed for memory */
};

/* Returns true when the agent was started by the kernel of a virtual machine. */
bool init_is_requested(int count, char **words);
/* Does everything up to the point where the agent serves. Resets the machine, after a message, if that fails. */
struct init_result init_run(struct boot *boot);
/* Writes what is cached, for 5 s at most, and resets the machine, which ends it. */
_Noreturn void init_reset(void);

#endif
