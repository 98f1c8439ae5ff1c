/*
 * Holds the sandbox while it is saved by a checkpoint: commands are frozen, and the agent hangs up, because a runtime
 * cannot save a connection to the host. What is saved that way may go on as another sandbox, so commands continue only
 * when a server that knows the secret says so. In the sandbox that was held they also continue after a timeout, because
 * its server may have died; not in a virtual machine, which cannot know whether it is a copy.
 */
#ifndef ISOLA_HOLD_H
#define ISOLA_HOLD_H

#include "boot.h"
#include "execution_launch.h"
#include "stream.h"

/* `boot` and `defaults` live as long as the agent; a new identity replaces their content. */
void hold_setup(struct boot *boot, struct execution_defaults *defaults);
/* HOLD, on a worker: freezes all commands, answers and hangs up. */
void operate_hold(const struct request *r);
/* RELEASE: continues the commands. */
void hold_release(struct stream *s, struct fields request);
/* IDENTIFY: takes the boot record of another sandbox. Commands stay frozen. */
void hold_identify(struct stream *s, struct fields request);
/* Returns true while the sandbox is held. */
bool hold_is_active(void);
/* Called once per iteration of the event loop. */
void hold_poll(void);

#endif
