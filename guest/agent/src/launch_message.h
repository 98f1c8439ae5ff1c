/*
 * Passes a launch to a supervisor that has run a command before. One process was forked from the other, so both have
 * the message buffer at the same address and pointers into it are valid on both sides.
 */
#ifndef ISOLA_LAUNCH_MESSAGE_H
#define ISOLA_LAUNCH_MESSAGE_H

#include <stdbool.h>

#include "launch.h"

/* Sends the launch with its three descriptors. Returns false when it does not fit or the supervisor is gone. */
bool launch_message_send(int control_fd, const struct launch *launch);

/*
 * Receives a launch; its descriptors become 0, 1 and 2, which must be free. Discards orders for the previous command.
 * Returns NULL when the agent is gone. The result is valid until the next call.
 */
const struct launch *launch_message_receive(int control_fd);

#endif
