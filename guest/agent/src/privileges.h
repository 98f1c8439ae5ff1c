/* Privileges the agent drops, for itself and for all commands, before it serves. */
#ifndef ISOLA_PRIVILEGES_H
#define ISOLA_PRIVILEGES_H

#include <stdbool.h>

/* Refuses system calls that no command needs and that have been used to escape sandboxes. */
bool seccomp_install(bool setuid_files, bool vsock);
/*
 * Called in each process from which commands descend: refuses vsock if seccomp_install allowed it to the agent alone.
 * Uses system calls only.
 */
bool seccomp_confine_command(void);
/* Refuses what a relay process does not call. */
bool seccomp_confine_relay(void);
/* Hides system calls that PRoot does not know and would pass through with paths of the host. */
bool seccomp_hide_new_syscalls(void);
/* Drops a capability from all sets of this process, so that no command can have it. False with errno. */
bool capability_drop(int capability);
/* Drops all capabilities of this process. */
bool capabilities_drop_all(void);
/* Keeps the current capabilities and prevents any program from gaining others. All return false with errno. */
bool capabilities_lock(void);

#endif
