/* STAT fields. */
#ifndef ISOLA_FILE_STAT_H
#define ISOLA_FILE_STAT_H

#include <sys/stat.h>

#include "wire.h"

/* Adds the STAT fields; `target` is the target of a symbolic link, or NULL. */
void build_stat(struct builder *b, const char *path, const struct stat *st, const char *target);

#endif
