/* What the agent gives up, for itself and for all commands, before it serves. */
#ifndef ISOLA_SEAL_H
#define ISOLA_SEAL_H

#include <stdbool.h>

/* Refuses the system calls that no command of a sandbox needs and that have broken sandboxes before. */
bool seccomp_refuse(bool setuid_files);
/* Hides the system calls that PRoot does not know and would let through with paths of the host's. */
bool seccomp_hide_new(void);
/* Keeps the capabilities it has and makes sure that no program can ever gain another. All: false with errno. */
bool capabilities_seal(void);

#endif
