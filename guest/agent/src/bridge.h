/* Connects standard input and output to the agent's socket. */
#ifndef ISOLA_BRIDGE_H
#define ISOLA_BRIDGE_H

/*
 * Copies in both directions until the agent closes the socket. Returns the exit code: 1 when the agent is not
 * listening within the time to wait.
 */
int bridge(const char *path, int wait_ms);

#endif
