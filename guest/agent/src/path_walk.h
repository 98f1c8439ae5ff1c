/* openat2 with RESOLVE_BENEATH for kernels without it. Used by path.c only. */
#ifndef ISOLA_PATH_WALK_H
#define ISOLA_PATH_WALK_H

/* The kernel's limit of links on the way, and how often a lookup that met a rename is retried. */
enum { WALK_LINKS_MAX = 40, WALK_TRIES_MAX = 64 };

/*
 * Opens `path` (shorter than PATH_MAX, not empty, relative) beneath `root`, with the errors of openat2. -1 with errno.
 */
int walk_beneath(int root, const char *path, int flags);

#endif
