/* Temporary file written next to its target and renamed at the end, so that readers never see partial content. */
#ifndef ISOLA_FILE_TEMP_H
#define ISOLA_FILE_TEMP_H

#include <stdbool.h>
#include <sys/types.h>

struct temp {
    int folder;
    int fd;
    char name[24];
};

/* Creates `.isola-XXXXXXXXXXXX` in `folder`, which the caller owns and keeps open. Returns false with errno. */
bool temp_make(struct temp *t, int folder);
/* Renames the file to `leaf`. Without `replace`, fails with EEXIST if `leaf` exists. The file remains open. */
bool temp_commit(struct temp *t, const char *leaf, bool replace);
/* Closes the file and removes it unless it was committed. Preserves errno. */
void temp_discard(struct temp *t);

/* Renames without replacing, also on file systems that cannot do that atomically. Returns false with errno. */
bool rename_new(int from, const char *name, int to, const char *target);

bool write_all(int fd, const void *data, size_t length);

#endif
