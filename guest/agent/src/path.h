/*
 * From the bytes of a caller's path to descriptors. Nothing else in the program opens a caller's path.
 *
 * Without confinement (file_view.root_fd < 0) paths mean what they mean to the kernel; relative ones start
 * at file_view.cwd. Confined, every path is resolved beneath root_fd by the kernel (openat2) or by a walk
 * of our own, descriptor by descriptor, where the kernel lacks it; a path that leads out fails with EXDEV.
 */
#ifndef ISOLA_PATH_H
#define ISOLA_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Set by tests only: pretend that the kernel has no openat2. */
extern bool path_force_walk;

/* Makes relative paths of a confined view start at `cwd`; at ROOT when it lies elsewhere. Keeps the pointer. */
void path_start_at(const char *cwd);

/* Opens what `path` names, close-on-exec; links are followed unless O_NOFOLLOW. Never creates. -1 and errno. */
int path_open(const char *path, int flags);

/* The folder that holds (or will hold) an entry. `leaf` is one component; empty when the path is the root. */
struct place {
    int folder;
    char leaf[NAME_MAX + 1];
};

/* Resolves all but the last component. A path that ends in `..` fails with EINVAL. */
bool path_place(const char *path, struct place *out);
/* The same, but where the last component is a link, the place the link leads to (at most 40 links). */
bool path_place_followed(const char *path, struct place *out);
void place_close(struct place *p);

/* Makes the missing folders above the last component (or all of them). Existing ones are left as they are. */
bool path_make_parents(const char *path, mode_t mode);

/*
 * Opens `relative` component by component beneath `folder` and follows no link at all: a link on the way
 * fails with ELOOP. An empty path is the folder itself. `make` creates missing folders with that mode; 0 does not.
 */
int path_descend(int folder, const char *relative, mode_t make);

/* Where an open descriptor is, as a next call would name it; `given` where that cannot be told. */
void path_of(int fd, const char *given, char *out, size_t capacity);

/* The text of the link `name` in `folder` ("" when folder is the link itself), cut at capacity. False: errno. */
bool link_text(int folder, const char *name, char *out, size_t capacity);

/* `base` and `relative` joined as a caller would write it; NULL when out of memory. Free it. */
char *path_join(const char *base, const char *relative);

#endif
