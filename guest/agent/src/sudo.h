/*
 * `sudo` for sandboxes where no-new-privs is set and set-user-id programs therefore do not work. When the boot record
 * enables it, the agent listens inside the sandbox and starts a helper as root for each request of a member of the
 * group sudo or wheel. The helper and its processes have the agent's system call filter, its capabilities and the
 * limits of commands: they are root of the sandbox, exactly like a command with `user: root`.
 *
 * A request is a length (u32) with four descriptors (input, output, error, working folder), then fields: ARG+, ENV*,
 * USER?, FLAGS (1 login shell, 2 shell, 4 preserve the environment). Each further byte from the client is a signal for
 * the command; closing the connection ends the command. The reply is two u32: kind (0 exited, 1 signaled, 2 refused)
 * and value.
 */
#ifndef ISOLA_SUDO_H
#define ISOLA_SUDO_H

#include <stdbool.h>

#define SUDO_FOLDER "/run/isola"
#define SUDO_SOCKET SUDO_FOLDER "/sudo"
#define SUDO_PROGRAM "/usr/local/bin/sudo"

enum { SUDO_LOGIN = 1, SUDO_SHELL = 2, SUDO_KEEP = 4, SUDO_DESCRIPTORS = 4 };
enum { SUDO_EXITED, SUDO_SIGNALED, SUDO_REFUSED };

/* Returns whether a user of the sandbox may use sudo. */
bool sudo_has_users(void);
/* Runs as the helper: serves one connection and returns the exit code once none of its processes is left. */
int sudo_serve(int connection);
/* Runs as the program `sudo`; returns its exit code. */
int sudo_main(int count, char **words);

#endif
