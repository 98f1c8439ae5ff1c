#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Above this many bytes of names in memory, folders are read in small pieces and not sorted. */
enum { NAMES_BUDGET = 16 << 20, PIECE_SMALL = 64 };

/* A piece of a folder: its entries as `kind, name, NUL` in one block, and pointers to them. */
struct tree_level {
    DIR *dir;
    bool read_all;
    char *block;
    size_t block_length, block_capacity;
    char **entries;
    size_t count, next;
    size_t prefix; /* length of the folder's own relative path and slash */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a + 1, *(char *const *)b + 1);
}

static void piece_drop(struct tree *t, struct tree_level *l)
{
    t->names_held -= l->block_capacity;
    free(l->block);
    free(l->entries);
    l->block = NULL;
    l->entries = NULL;
    l->block_length = l->block_capacity = l->count = l->next = 0;
}

static bool block_add(struct tree *t, struct tree_level *l, const struct dirent *e)
{
    size_t length = strlen(e->d_name) + 2;
    if (l->block_length + length > l->block_capacity) {
        size_t capacity = l->block_capacity ? l->block_capacity * 2 : 1024;
        char *bigger = realloc(l->block, capacity);
        if (!bigger) return false;
        t->names_held += capacity - l->block_capacity;
        l->block = bigger;
        l->block_capacity = capacity;
    }
    l->block[l->block_length] = (char)e->d_type;
    memcpy(l->block + l->block_length + 1, e->d_name, length - 1);
    l->block_length += length;
    l->count++;
    return true;
}

static bool piece_read(struct tree *t, struct tree_level *l)
{
    bool first = !l->block;
    piece_drop(t, l);
    while (l->count < (t->names_held < NAMES_BUDGET ? TREE_SORTED_MAX : PIECE_SMALL)) {
        errno = 0;
        struct dirent *e = readdir(l->dir);
        if (!e) {
            /* A folder removed while it is read has no more entries. */
            if (errno && errno != ENOENT) t->error = errno;
            l->read_all = true;
            break;
        }
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        if (!block_add(t, l, e)) {
            t->error = ENOMEM;
            return false;
        }
    }
    if (l->count == 0) return true;
    l->entries = malloc(l->count * sizeof *l->entries);
    if (!l->entries) {
        t->error = ENOMEM;
        return false;
    }
    char *p = l->block;
    for (size_t i = 0; i < l->count; i++, p += strlen(p + 1) + 2) l->entries[i] = p;
    if (t->sorted && first && l->read_all) qsort(l->entries, l->count, sizeof *l->entries, by_name);
    return true;
}

static bool level_open(struct tree *t, int folder, size_t prefix)
{
    DIR *dir = fdopendir(folder);
    if (!dir) {
        int saved = errno;
        close(folder);
        errno = saved;
        return false;
    }
    t->levels[t->depth++] = (struct tree_level){.dir = dir, .prefix = prefix};
    return true;
}

static void level_close(struct tree *t)
{
    struct tree_level *l = &t->levels[--t->depth];
    piece_drop(t, l);
    closedir(l->dir);
}

bool tree_start(struct tree *t, int top, bool sorted)
{
    *t = (struct tree){.sorted = sorted, .folder = -1, .path_capacity = 1024};
    t->levels = calloc(TREE_DEPTH_MAX, sizeof *t->levels);
    t->path = calloc(1, t->path_capacity);
    if (!t->levels || !t->path) {
        close(top);
        tree_stop(t);
        errno = ENOMEM;
        return false;
    }
    if (!level_open(t, top, 0)) {
        int saved = errno;
        tree_stop(t);
        errno = saved;
        return false;
    }
    return true;
}

static bool path_set(struct tree *t, size_t prefix, const char *name)
{
    size_t length = strlen(name);
    if (prefix + length + 2 > t->path_capacity) {
        size_t capacity = t->path_capacity * 2 + length;
        char *bigger = realloc(t->path, capacity);
        if (!bigger) {
            t->error = ENOMEM;
            return false;
        }
        t->path = bigger;
        t->path_capacity = capacity;
    }
    memcpy(t->path + prefix, name, length + 1);
    t->name = t->path + prefix;
    return true;
}

enum tree_step tree_next(struct tree *t)
{
    if (t->depth == 0 || t->error == ENOMEM) return TREE_END;
    struct tree_level *l = &t->levels[t->depth - 1];
    if (l->next == l->count && !l->read_all && !piece_read(t, l)) return TREE_END;
    if (l->next < l->count) {
        char *entry = l->entries[l->next++];
        t->folder = dirfd(l->dir);
        t->kind = (unsigned char)entry[0];
        return path_set(t, l->prefix, entry + 1) ? TREE_ENTRY : TREE_END;
    }
    size_t prefix = l->prefix;
    level_close(t);
    if (t->depth == 0) return TREE_END;
    t->path[prefix - 1] = 0;
    t->name = t->path + t->levels[t->depth - 1].prefix;
    t->folder = dirfd(t->levels[t->depth - 1].dir);
    t->kind = DT_DIR;
    return TREE_LEFT;
}

bool tree_enter(struct tree *t)
{
    if (t->depth == TREE_DEPTH_MAX) {
        errno = EOVERFLOW;
        return false;
    }
    int fd = openat(t->folder, t->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    size_t length = strlen(t->path);
    if (!level_open(t, fd, length + 1)) return false;
    t->path[length] = '/'; /* path_set leaves room for it */
    t->path[length + 1] = 0;
    return true;
}

void tree_stop(struct tree *t)
{
    while (t->depth > 0) level_close(t);
    free(t->levels);
    free(t->path);
    t->levels = NULL;
    t->path = NULL;
}
