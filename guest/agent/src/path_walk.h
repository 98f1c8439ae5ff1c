/* openat2 with RESOLVE_BENEATH for kernels that lack it; path.c alone uses it. */
#ifndef ISOLA_PATH_WALK_H
#define ISOLA_PATH_WALK_H

/* As the kernel: at most this many links on the way. And how often a lookup that met a rename starts again. */
enum { WALK_LINKS_MAX = 40, WALK_TRIES_MAX = 64 };

/* Opens `path` (shorter than PATH_MAX, not empty, relative) beneath `root`, with openat2's verdicts. -1 and errno. */
int walk_beneath(int root, const char *path, int flags);

#endif
