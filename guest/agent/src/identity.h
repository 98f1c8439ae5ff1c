/* What distinguishes a virtual machine from its copies, besides its secret: clock, random numbers, names. */
#ifndef ISOLA_IDENTITY_H
#define ISOLA_IDENTITY_H

#include "wire.h"

/* Opens what identity_seed needs. Optional: it makes the first call shorter. */
void identity_prepare(void);
/* Adds bytes to the kernel's random number generator, which uses them at once if the agent may request that. */
void identity_seed(const uint8_t *bytes, size_t length);
/* Applies TIME_NS, NONCE and HOST_NAME of a boot record. Returns false with errno. */
bool identity_apply(struct fields record);

#endif
