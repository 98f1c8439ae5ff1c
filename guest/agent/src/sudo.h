/*
 * `sudo` where no-new-privs is set and set-user-id programs are none: a server that runs as root in the sandbox does
 * what members of the group sudo ask for. Whoever wants it in a sandbox starts `isola-agent --sudo` as root there.
 *
 * A request is a length (u32) with four descriptors (input, output, error, working folder) and fields: ARG+, ENV*,
 * USER?, FLAGS (1 a login shell, 2 a shell, 4 the environment as it is). Then each byte from the client is a signal for
 * the command, and its hanging up ends it. The answer is two u32: kind (0 exited, 1 signaled, 2 refused) and value.
 */
#ifndef ISOLA_SUDO_H
#define ISOLA_SUDO_H

#include <stddef.h>

#define SUDO_FOLDER "/run/isola"
#define SUDO_SOCKET SUDO_FOLDER "/sudo"
#define SUDO_PROGRAM "/usr/local/bin/sudo"

enum { SUDO_LOGIN = 1, SUDO_SHELL = 2, SUDO_KEEP = 4, SUDO_DESCRIPTORS = 4 };
enum { SUDO_EXITED, SUDO_SIGNALED, SUDO_REFUSED };

/* Connects to the server; -1 when there is none. */
int sudo_connect(void);
/* Serves until the sandbox ends. Returns at once where real set-user-id programs work, or somebody serves already. */
int sudo_serve(void);
/* The program `sudo`; returns its exit code. */
int sudo_ask(int count, char **words);

#endif
