/*
 * The agent's side of `sudo` (sudo.h): it listens, and starts a process of its own for each request. Such a helper and
 * all that it runs belong to no execution, and have the limits of commands. Main thread only.
 */
#ifndef ISOLA_SUDO_LISTEN_H
#define ISOLA_SUDO_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "execution.h"

/* Called once, before commands. Does nothing unless the boot record says so and set-user-id programs do not work. */
void sudo_setup(const struct execution_defaults *defaults);
/* Begins to serve as soon as a user is entitled to it; called before each command, and cheap. */
void sudo_offer(void);
/* A child of the agent ended; true when it was a helper. */
bool sudo_reaped(pid_t pid);

bool sudo_is_helper(pid_t pid);
/* The helpers that live, each with a tree of its own beneath it; valid until the loop's next turn. */
int sudo_helpers(const pid_t **list);
/* Ends a helper with its tree. */
void sudo_end(pid_t helper);
void sudo_end_all(void);

#endif
