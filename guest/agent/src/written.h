/*
 * A walk through what a sandbox wrote to the root it has over an image. Which names it wrote is told by the folder
 * that takes its writes (the upper folder of an overlay); what they are now, by the root itself. A name that the image
 * has and the root has not was removed. No attribute or device of the overlay needs to be understood for that.
 *
 * Other mounts (volumes, the workspace, /proc) are not entered and not reported. Links are never followed.
 */
#ifndef ISOLA_WRITTEN_H
#define ISOLA_WRITTEN_H

#include <stdbool.h>
#include <sys/stat.h>

enum { WRITTEN_DEPTH_MAX = 256 };

struct written_visitor {
    void *self;
    /* `path` is relative to the root; `name` is in `folder`. */
    void (*removed)(void *self, const char *path);
    /* False: the folder is passed over, with what is in it. */
    bool (*folder)(void *self, int folder, const char *name, const char *path, const struct stat *st);
    void (*other)(void *self, int folder, const char *name, const char *path, const struct stat *st);
    bool (*going)(void *self);
};

/* The descriptors stay the caller's. 0, or errno with the path in `culprit` (to be freed; NULL for none). */
int written_walk(int root, int upper, int image, const struct written_visitor *v, char **culprit);

/* Whether something is mounted at `name`. `device` is that of folders in the same mount. */
bool written_is_mount(int folder, const char *name, const struct stat *st, dev_t device);

#endif
