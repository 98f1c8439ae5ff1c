#include "agent.h"

const char agent_build[] = AGENT_BUILD;
uint64_t agent_started_ns;
