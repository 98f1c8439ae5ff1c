/* Standard input and output as a way to the agent's socket. */
#ifndef ISOLA_BRIDGE_H
#define ISOLA_BRIDGE_H

/* Copies both ways until the agent closes; returns the exit code, 1 when nobody listens there. */
int bridge(const char *path);

#endif
