/*
 * The relay of a server, `isola-agent --relay`: a process of the host that connects to other hosts and copies bytes
 * between them and guest processes. PROTOCOL.md, "Relay process", describes its input and output.
 */
#ifndef ISOLA_HOST_RELAY_H
#define ISOLA_HOST_RELAY_H

/* Serves until standard input ends. Returns the exit code. */
int host_relay(void);

#endif
