/*
 * The agent's side of `sudo` (sudo.h): listens and starts a helper process for each request. A helper and its processes
 * belong to no execution and have the limits of commands. Main thread only.
 */
#ifndef ISOLA_SUDO_LISTEN_H
#define ISOLA_SUDO_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

struct execution_defaults;

/* Reads which users there are, optionally and before sudo_setup, so that it has less to do. */
void sudo_prepare(void);
/*
 * Called once, before commands. Does nothing unless the boot record enables sudo and set-user-id programs do not work.
 */
void sudo_setup(const struct execution_defaults *defaults);
/* Starts to serve as soon as a user may use sudo. Called before each command; cheap. */
void sudo_update(void);
/* A child of the agent ended. Returns true when it was a helper. */
bool sudo_reaped(pid_t pid);

bool sudo_is_helper(pid_t pid);
/* Returns the live helpers, each the root of its own process tree; valid until the next loop iteration. */
int sudo_helpers(const pid_t **list);
/* Kills a helper and its process tree. */
void sudo_kill(pid_t helper);
void sudo_kill_all(void);

#endif
