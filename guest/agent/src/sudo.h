/*
 * `sudo` where no-new-privs is set and set-user-id programs do not work: the agent listens in the sandbox, where the
 * boot record says so, and starts a helper as root there for each request of a member of the group sudo or wheel. The
 * helper and what it runs have the agent's filter of system calls, its capabilities and the limits of commands: they
 * are the sandbox's root, as `user: root` of a command is, and no more.
 *
 * A request is a length (u32) with four descriptors (input, output, error, working folder) and fields: ARG+, ENV*,
 * USER?, FLAGS (1 a login shell, 2 a shell, 4 the environment as it is). Then each byte from the client is a signal for
 * the command, and its hanging up ends it. The answer is two u32: kind (0 exited, 1 signaled, 2 refused) and value.
 */
#ifndef ISOLA_SUDO_H
#define ISOLA_SUDO_H

#include <stdbool.h>

#define SUDO_FOLDER "/run/isola"
#define SUDO_SOCKET SUDO_FOLDER "/sudo"
#define SUDO_PROGRAM "/usr/local/bin/sudo"

enum { SUDO_LOGIN = 1, SUDO_SHELL = 2, SUDO_KEEP = 4, SUDO_DESCRIPTORS = 4 };
enum { SUDO_EXITED, SUDO_SIGNALED, SUDO_REFUSED };

/* Tells whether a user of the sandbox is entitled to it. */
bool sudo_has_users(void);
/* The helper: serves the request of one connection and returns its exit code when nothing it ran is left. */
int sudo_serve(int connection);
/* The program `sudo`; returns its exit code. */
int sudo_ask(int count, char **words);

#endif
