/*
 * Resolves request paths to descriptors. No other code of the agent opens a path from a request.
 *
 * Without confinement (file_view.root_fd < 0) paths have their usual meaning and relative ones start at file_view.cwd.
 * When confined, every path is resolved beneath root_fd by the kernel (openat2) or, on kernels without openat2, by a
 * walk from descriptor to descriptor. A path that leads outside fails with EXDEV.
 */
#ifndef ISOLA_PATH_H
#define ISOLA_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* For tests: behave as if the kernel had no openat2. */
extern bool path_force_walk;

/* Makes relative paths of a confined view start at `cwd`, or at ROOT when `cwd` is outside. Keeps the pointer. */
void path_start_at(const char *cwd);

/* Opens `path` close-on-exec; follows links unless O_NOFOLLOW. Never creates. Returns -1 with errno. */
int path_open(const char *path, int flags);

/* The folder that contains, or will contain, an entry. `leaf` is one component, empty when the path is the root. */
struct path_parent {
    int folder;
    char leaf[NAME_MAX + 1];
};

/* Resolves all but the last component. A path that ends in `..` fails with EINVAL. */
bool path_resolve_parent(const char *path, struct path_parent *out);
/* Like path_resolve_parent, but where the last component is a link, the parent of its target (at most 40 links). */
bool path_resolve_parent_following(const char *path, struct path_parent *out);
void path_parent_close(struct path_parent *p);

/* Creates the missing folders above the last component (or all of them). Leaves existing folders unchanged. */
bool path_make_parents(const char *path, mode_t mode);

/*
 * Opens `relative` component by component beneath `folder` without following links: a link on the way fails with ELOOP.
 * An empty path is the folder itself. A nonzero `make` creates missing folders with that mode.
 */
int path_descend(int folder, const char *relative, mode_t make);

/* Returns the path of an open descriptor as a request would name it, or `given` when it cannot be determined. */
void path_of(int fd, const char *given, char *out, size_t capacity);

/*
 * Joins `base` and `relative` as a request would write the path. Returns NULL when out of memory. The caller frees it.
 */
char *path_join(const char *base, const char *relative);

#endif
