/*
 * Disks: file systems of a given size in files of the host (images), mounted by loop devices in our own mount namespace
 * only, so that the kernel unmounts them with the last process that has them. An image is attached to at most one loop
 * device at a time: all that mount it share one file system.
 */
#ifndef ISOLA_DISK_H
#define ISOLA_DISK_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* What a sandbox's disk is mounted with: nothing of it outlives the machine, so nothing waits for the host's disk. */
#define DISK_OPTIONS "noinit_itable,nobarrier"

/* Gives us mounts of our own, unless we have them. False with errno, as all of these. */
bool disk_own_mounts(void);

/*
 * Mounts the file system in `image` on the folder `path`. An image that is not there is made as a copy of `model`, in
 * one step: it is there whole or not at all.
 */
bool disk_mount(const char *image, const char *model, const char *path, const char *options);

/*
 * A layer's folder `tree` whose files lie in a disk is empty: beside it is a name of the image, `disk`, and in that they
 * are at layers/NAME, where NAME is the layer's. Mounts them on it. Nothing to do for other paths.
 */
bool disk_reveal(const char *path);

/* What is known of such a folder, or of any other. */
bool disk_stat(const char *path, struct stat *s);

#endif
