/* Folders of the host, or of a disk that is mounted there, that a sandbox writes to. */
#ifndef ISOLA_FOLDERS_H
#define ISOLA_FOLDERS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Makes a folder unless it is there. One that is made is like `like`, if given, whose owners begin at `first`; an owner
 * of -1 is left as it is. All return false with errno.
 */
bool folder_make(const char *path, mode_t mode, uid_t uid, gid_t gid, const struct stat *like, uid_t first);

/* Whether nothing was written to a folder that was made like another. */
bool folder_untouched(const char *path, uid_t owner, const struct stat *like, uid_t first);

/* Removes a file, or a folder with all that is in it, however deep; true when nothing is there. */
bool folder_remove(const char *path);

#endif
