/* Applies the removals recorded in an archive. */
#ifndef ISOLA_TAR_REMOVAL_H
#define ISOLA_TAR_REMOVAL_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Removes `name` recursively; it may be missing. Keeps mounts beneath it and the folders that lead to them. Does not
 * follow links. Returns false with errno.
 */
bool tar_remove(int folder, const char *name, dev_t device);

#endif
