/* Folders of the host, or of a mounted disk, that a sandbox writes to. */
#ifndef ISOLA_FOLDERS_H
#define ISOLA_FOLDERS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Creates a folder unless it exists. With `like`, the new folder gets the mode, owner and times of `like`, whose ids
 * are relative to `first`. An owner of -1 is left unchanged. All functions return false and set errno on failure.
 */
bool folder_make(const char *path, mode_t mode, uid_t uid, gid_t gid, const struct stat *like, uid_t first);

/* Reports whether nothing was written to a folder since it was created like another. */
bool folder_untouched(const char *path, uid_t owner, const struct stat *like, uid_t first);

/* Removes a file or a folder tree of any depth; returns true when the path does not exist. */
bool folder_remove(const char *path);

#endif
