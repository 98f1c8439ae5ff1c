/* Whether the agent is the init of a virtual machine, for modules that init itself uses. */
#ifndef ISOLA_INIT_STATE_H
#define ISOLA_INIT_STATE_H

#include <stdbool.h>

/* The agent's program in the root of the machine. */
#define INIT_AGENT "/.isola/agent"

/* The OOM score of the agent and its supervisors in a virtual machine: the kernel kills neither. */
#define INIT_OOM_SCORE "-1000"

/* Returns true in an agent that the kernel of a virtual machine started, as soon as it is set. */
bool init_is_active(void);
void init_set_active(void);
/* Returns the descriptor for messages: the console of a virtual machine, standard error otherwise. */
int init_console(void);
void init_set_console(int fd);

#endif
