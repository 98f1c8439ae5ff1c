#include "overlay_diff.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Limit for the names of all folders being walked. */
enum { NAMES_MAX = 128 << 20, NAMES_FIRST = 4096 };

struct level {
    int root, upper, image; /* the same folder in each; image is -1 where it does not exist */
    char *block;            /* the names in the upper folder, one after the other */
    char **names;
    size_t length, capacity, count, next;
    size_t path_length; /* of the folder itself */
};

struct walk {
    const struct overlay_diff_visitor *v;
    struct level levels[OVERLAY_DIFF_DEPTH_MAX];
    int depth;
    dev_t device;
    size_t held;
    char *path;
    size_t path_capacity;
};

bool is_mount_point(int folder, const char *name, const struct stat *st, dev_t device)
{
    struct statx x;
    if (S_ISDIR(st->st_mode) && st->st_dev != device) return true;
    /* Files of an overlay can report their own device numbers, so the kernel is asked whether they are mount points. */
    return statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &x) == 0
           && (x.stx_attributes & x.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT);
}

static int open_folder(int folder, const char *name)
{
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static DIR *list_folder(int folder)
{
    int fd = open_folder(folder, ".");
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir && fd >= 0) close(fd);
    return dir;
}

static bool is_dot(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool name_add(struct walk *w, struct level *l, const char *name)
{
    size_t length = strlen(name) + 1;
    if (l->length + length > l->capacity) {
        size_t capacity = l->capacity ? l->capacity * 2 : NAMES_FIRST;
        char *bigger = w->held + capacity > NAMES_MAX ? NULL : realloc(l->block, capacity);
        if (!bigger) return false;
        w->held += capacity - l->capacity;
        l->block = bigger;
        l->capacity = capacity;
    }
    memcpy(l->block + l->length, name, length);
    l->length += length;
    l->count++;
    return true;
}

static bool names_read(struct walk *w, struct level *l)
{
    DIR *dir = list_folder(l->upper);
    if (!dir) return errno == ENOENT;
    struct dirent *e;
    while ((e = readdir(dir)))
        if (!is_dot(e->d_name) && !name_add(w, l, e->d_name)) {
            closedir(dir);
            errno = ENOMEM;
            return false;
        }
    closedir(dir);
    l->names = calloc(l->count ? l->count : 1, sizeof *l->names);
    if (!l->names) return false;
    char *p = l->block;
    for (size_t i = 0; i < l->count; i++, p += strlen(p) + 1) l->names[i] = p;
    qsort(l->names, l->count, sizeof *l->names, by_name);
    return true;
}

/* Builds the path of `name` in the folder of `l`. */
static bool path_make(struct walk *w, const struct level *l, const char *name)
{
    size_t length = strlen(name), at = l->path_length ? l->path_length + 1 : 0;
    if (at + length + 1 > w->path_capacity) {
        size_t capacity = 2 * (at + length + 1);
        char *bigger = realloc(w->path, capacity);
        if (!bigger) return false;
        w->path = bigger;
        w->path_capacity = capacity;
    }
    if (at) w->path[l->path_length] = '/';
    memcpy(w->path + at, name, length + 1);
    return true;
}

/* Reports what exists in the image but not in the root, or is no longer a folder there. */
static bool removals(struct walk *w, struct level *l)
{
    DIR *dir = l->image < 0 ? NULL : list_folder(l->image);
    if (!dir) return true;
    struct dirent *e;
    struct stat now, before;
    bool ok = true;
    while (ok && w->v->going(w->v->self) && (e = readdir(dir))) {
        if (is_dot(e->d_name)) continue;
        bool there = fstatat(l->root, e->d_name, &now, AT_SYMLINK_NOFOLLOW) == 0;
        if (there
            && (S_ISDIR(now.st_mode) || fstatat(l->image, e->d_name, &before, AT_SYMLINK_NOFOLLOW) < 0
                || !S_ISDIR(before.st_mode)))
            continue;
        if (!there && errno != ENOENT) continue;
        ok = path_make(w, l, e->d_name);
        if (ok) w->v->removed(w->v->self, w->path);
    }
    closedir(dir);
    return ok;
}

static void level_close(struct walk *w)
{
    struct level *l = &w->levels[--w->depth];
    if (w->depth > 0) { /* the first level belongs to the caller */
        close(l->root);
        close(l->upper);
        if (l->image >= 0) close(l->image);
    }
    w->held -= l->capacity;
    free(l->block);
    free(l->names);
}

/* Takes ownership of the descriptors. */
static bool level_open(struct walk *w, int root, int upper, int image, size_t path_length)
{
    w->levels[w->depth++] = (struct level){.root = root, .upper = upper, .image = image, .path_length = path_length};
    struct level *l = &w->levels[w->depth - 1];
    return names_read(w, l) && removals(w, l);
}

static bool enter(struct walk *w, struct level *l, const char *name)
{
    if (w->depth == OVERLAY_DIFF_DEPTH_MAX) {
        errno = EOVERFLOW;
        return false;
    }
    int root = open_folder(l->root, name), upper = open_folder(l->upper, name);
    if (root < 0 || upper < 0) {
        /* Removed concurrently, or an entry of the upper folder that the root does not show. */
        bool fine = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
        if (root >= 0) close(root);
        if (upper >= 0) close(upper);
        return fine;
    }
    int image = l->image < 0 ? -1 : open_folder(l->image, name);
    return level_open(w, root, upper, image, strlen(w->path));
}

static bool visit(struct walk *w, struct level *l, const char *name)
{
    struct stat st;
    if (fstatat(l->root, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT; /* removed, which the image shows, or never visible */
    if (!path_make(w, l, name)) return false;
    if (is_mount_point(l->root, name, &st, w->device)) return true;
    if (!S_ISDIR(st.st_mode)) {
        w->v->other(w->v->self, l->root, name, w->path, &st);
        return true;
    }
    return !w->v->folder(w->v->self, l->root, name, w->path, &st) || enter(w, l, name);
}

int overlay_diff_walk(int root, int upper, int image, const struct overlay_diff_visitor *v, char **culprit)
{
    struct stat top;
    struct walk *w = calloc(1, sizeof *w);
    *culprit = NULL;
    if (!w || fstat(root, &top) < 0) {
        int number = w ? errno : ENOMEM;
        free(w);
        return number;
    }
    w->v = v;
    w->device = top.st_dev;
    int number = 0;
    if (!level_open(w, root, upper, image, 0)) number = errno;
    while (!number && w->depth > 0 && v->going(v->self)) {
        struct level *l = &w->levels[w->depth - 1];
        if (l->next == l->count)
            level_close(w);
        else if (!visit(w, l, l->names[l->next++]))
            number = errno ? errno : EIO;
    }
    if (number && w->path) *culprit = strdup(w->path);
    while (w->depth > 0) level_close(w);
    free(w->path);
    free(w);
    return number;
}
