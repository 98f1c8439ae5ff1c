/*
 * The relay of a sandbox, `isola-agent --relay SOCKET`: a process of the host that connects to other hosts and passes
 * bytes between them and the sandbox's guest processes. PROTOCOL.md, "Relay process", describes its input and output.
 */
#ifndef ISOLA_HOST_RELAY_H
#define ISOLA_HOST_RELAY_H

/* Serves until standard input ends; agents hand over connections on the socket. Returns the exit code. */
int host_relay(const char *socket_path);

#endif
