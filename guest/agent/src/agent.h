/* What the agent reports about itself. */
#ifndef ISOLA_AGENT_H
#define ISOLA_AGENT_H

#include <stdint.h>

extern const char agent_build[];
/* CLOCK_BOOTTIME when the agent began to serve; set by main. */
extern uint64_t agent_started_ns;

#endif
