/*
 * A launch on its way to a supervisor that has had a command before. Sender and receiver have the parcel at the same
 * address, one having been forked from the other, so the pointers in it hold on both sides.
 */
#ifndef ISOLA_HANDOVER_H
#define ISOLA_HANDOVER_H

#include "supervisor.h"

/* Sends it with its three descriptors; false when it is too long for a parcel or nobody is there. */
bool handover_send(int control_fd, const struct launch *launch);

/*
 * Waits for one, its descriptors being 0, 1 and 2, which must be free. Orders that come before it were for what is over.
 * Returns NULL when the agent is gone. What it returns stays until the next.
 */
const struct launch *handover_receive(int control_fd);

#endif
