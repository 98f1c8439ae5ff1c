/*
 * Disks: file systems of fixed size in files of the host (images), mounted through loop devices in the launcher's own
 * mount namespace only, so that the kernel unmounts them when the last process using them exits. An image is attached
 * to at most one loop device at a time: all processes that mount it share one file system.
 */
#ifndef ISOLA_DISK_H
#define ISOLA_DISK_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Mount options of a sandbox's disk. Its content does not outlive the host, so nothing waits for the host's disk. */
#define DISK_OPTIONS "noinit_itable,nobarrier"

/*
 * Unshares the mount namespace unless that was done before. This and the functions below return false and set errno on
 * failure.
 */
bool disk_unshare_mounts(void);

/*
 * Mounts the file system in `image` on the folder `path`. A missing image is created atomically as a copy of `model`.
 */
bool disk_mount(const char *image, const char *model, const char *path, const char *options);

/*
 * Mounts the files of a layer on its folder `tree` if they are in a disk. Such a folder is empty; next to it, `disk` is
 * a hard link to the image, which holds the files at layers/NAME. Does nothing for other paths.
 */
bool disk_mount_layer(const char *path);

/* Returns the status of such a folder, or of any other. */
bool disk_stat(const char *path, struct stat *s);

#endif
