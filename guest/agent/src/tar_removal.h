/* Removes what an archive says is not there any more. */
#ifndef ISOLA_TAR_REMOVAL_H
#define ISOLA_TAR_REMOVAL_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Removes `name` with all that is in it; it need not be there. What is mounted in it stays, with the folders that lead
 * there. Links are not followed. False: errno.
 */
bool tar_remove(int folder, const char *name, dev_t device);

#endif
