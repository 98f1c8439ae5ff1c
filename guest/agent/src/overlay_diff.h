/*
 * Walks the changes that a sandbox made to the root it has over an image. The overlay's upper folder lists which names
 * were written; the root shows what they are now. A name that exists in the image but not in the root was removed. No
 * attribute or device of the overlay format needs to be interpreted.
 *
 * Other mounts (volumes, the workspace, /proc) are neither entered nor reported. Links are never followed.
 */
#ifndef ISOLA_OVERLAY_DIFF_H
#define ISOLA_OVERLAY_DIFF_H

#include <stdbool.h>
#include <sys/stat.h>

enum { OVERLAY_DIFF_DEPTH_MAX = 256 };

struct overlay_diff_visitor {
    void *self;
    /* `path` is relative to the root; `name` is in `folder`. */
    void (*removed)(void *self, const char *path);
    /* Returns false to skip the folder and its content. */
    bool (*folder)(void *self, int folder, const char *name, const char *path, const struct stat *st);
    void (*other)(void *self, int folder, const char *name, const char *path, const struct stat *st);
    bool (*going)(void *self);
};

/*
 * The caller keeps the descriptors. Returns 0, or errno with the path in `culprit` (the caller frees it; NULL for
 * none).
 */
int overlay_diff_walk(int root, int upper, int image, const struct overlay_diff_visitor *v, char **culprit);

/* Returns whether `name` is a mount point. `device` is that of folders in the same mount. */
bool is_mount_point(int folder, const char *name, const struct stat *st, dev_t device);

#endif
