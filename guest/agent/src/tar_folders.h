/*
 * Folders of an archive being unpacked. Their modes and times are set at the end, in reverse order: a read-only folder
 * must be filled first, and filling it changes its time.
 */
#ifndef ISOLA_TAR_FOLDERS_H
#define ISOLA_TAR_FOLDERS_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct tar_folder;
struct tar_folders {
    struct tar_folder *list;
    size_t count, capacity, bytes;
};

/* Beyond 100,000 folders or 32 MiB of names, sets them at once and keeps them writable for their owner. */
void tar_folders_add(struct tar_folders *f, int top, const char *name, mode_t mode, const struct timespec *mtime);
/* Sets modes and times beneath `top` without following links. Skips folders that cannot be set any more. */
void tar_folders_apply(struct tar_folders *f, int top);
void tar_folders_free(struct tar_folders *f);

#endif
