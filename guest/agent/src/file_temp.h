/* A file written beside its target and put in its place at the end, so that no reader sees half of it. */
#ifndef ISOLA_FILE_TEMP_H
#define ISOLA_FILE_TEMP_H

#include <stdbool.h>
#include <sys/types.h>

struct temp {
    int folder;
    int fd;
    char name[24];
};

/* Makes `.isola-XXXXXXXXXXXX` in `folder`, which stays the caller's and open until the end. False: errno. */
bool temp_make(struct temp *t, int folder);
/* Renames it to `leaf`. `replace` false: fails with EEXIST when there is one. The file is still to be closed. */
bool temp_place(struct temp *t, const char *leaf, bool replace);
/* Closes it and, unless it was placed, removes it. Keeps errno. */
void temp_drop(struct temp *t);

/* rename that does not replace, also where the file system cannot do it in one step. False: errno. */
bool rename_new(int from, const char *name, int to, const char *target);

bool write_all(int fd, const void *data, size_t length);

#endif
