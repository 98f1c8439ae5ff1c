/* The root of a virtual machine: an overlay of its image and its scratch disk. */
#ifndef ISOLA_INIT_ROOT_H
#define ISOLA_INIT_ROOT_H

#include "wire.h"

/*
 * Each of these returns NULL, or what it could not do; errno says why.
 */
/* Mounts the file systems of the kernel in the initramfs. */
const char *init_root_begin(void);
/* Mounts the disks and makes their overlay the root. The agent's program is then at INIT_AGENT. */
const char *init_root_switch(void);
/* Mounts what commands expect in /dev, and /run. */
const char *init_root_devices(void);
/* Mounts TMPFS and creates WORKSPACE of the boot record, unless that is `made`, which may be NULL. */
const char *init_root_complete(struct fields record, const char *made);

#endif
