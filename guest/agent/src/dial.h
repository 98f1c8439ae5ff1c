/*
 * Dials the server instead of listening for it, again and again until a peer proves the secret, and after each end of
 * that connection. At most one attempt is under way. PROTOCOL.md describes when the agent dials.
 */
#ifndef ISOLA_DIAL_H
#define ISOLA_DIAL_H

#include <stdbool.h>

/* Accepts the address, before the agent enters its namespaces. Returns NULL, or why it is invalid. */
const char *dial_setup(const char *address);
/* Returns true when dialling needs vsock, which commands may not use. */
bool dial_uses_vsock(void);
/* Starts dialling. Whether a server can be reached now does not matter. */
void dial_start(void);
/* Called on SIGIO: the folder of a unix socket has changed. */
void dial_folder_changed(void);

#endif
