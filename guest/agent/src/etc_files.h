/*
 * The files in /etc of a virtual machine that name it: hostname, hosts and resolv.conf. They are in memory and mounted
 * over those of the image, so that no snapshot of the machine's disk contains them.
 */
#ifndef ISOLA_ETC_FILES_H
#define ISOLA_ETC_FILES_H

#include "wire.h"

/* Mounts empty files. Returns NULL, or what it could not do; errno says why. */
const char *etc_files_mount(void);
/* Writes HOST_NAME and RESOLV_CONF of a boot record to the files, wherever guest processes have moved them. Returns
 * false with errno. */
bool etc_files_write(struct fields record);

#endif
