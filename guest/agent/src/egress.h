/*
 * Connections of guest processes to other hosts, in network mode filtered. They end at the agent, which passes each to
 * the server with the name, or the address, and the port. See "Egress" in PROTOCOL.md. Main thread only.
 */
#ifndef ISOLA_EGRESS_H
#define ISOLA_EGRESS_H

#include "stream.h"

/* Sets up the network namespace and listens. Needs CAP_NET_ADMIN, which is not needed afterwards. False with errno. */
bool egress_setup(void);
/* Serves an EGRESS request. */
void egress_serve(struct stream *s, struct fields request);

#endif
