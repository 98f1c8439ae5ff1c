/* What the agent gives up, for itself and for all commands, before it serves. */
#ifndef ISOLA_SEAL_H
#define ISOLA_SEAL_H

#include <stdbool.h>

/* Refuses the system calls that no command of a sandbox needs and that have broken sandboxes before. */
bool seccomp_refuse(void);
/* Keeps the capabilities it has and makes sure that no program can ever gain another. Both: false with errno. */
bool capabilities_seal(void);

#endif
