/* Waits for the boot record on the agent's own socket, for containers whose first process gets no standard input. */
#ifndef ISOLA_BOOT_LISTEN_H
#define ISOLA_BOOT_LISTEN_H

#include "boot.h"

/*
 * Listens on a unix socket and reads the record from the first peer that sends a whole one. Returns the connection to
 * that peer, whose further bytes are unread, and sets `listener`; returns -1 and sets `problem` when the socket cannot
 * be made or the record is invalid, which it also tells the peer. Until the agent is ready, what it reports goes to the
 * peer.
 */
int boot_listen(const char *path, struct boot *out, int *listener, const char **problem);

#endif
