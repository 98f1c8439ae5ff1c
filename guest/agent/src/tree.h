/*
 * Walks a folder tree by descriptors without following links. The caller decides for each entry whether to enter it:
 *
 *     while ((step = tree_next(&t)) != TREE_END)
 *         if (step == TREE_ENTRY && wanted) tree_enter(&t);
 *
 * Memory and descriptors are bounded: one descriptor per level, TREE_DEPTH_MAX levels, and a budget for names.
 */
#ifndef ISOLA_TREE_H
#define ISOLA_TREE_H

#include <stdbool.h>
#include <stddef.h>

enum { TREE_DEPTH_MAX = 256, TREE_SORTED_MAX = 10000 };

/* TREE_LEFT: all entries of the folder `name` were visited (not returned for the top folder). */
enum tree_step { TREE_ENTRY, TREE_LEFT, TREE_END };

struct tree_level;

struct tree {
    struct tree_level *levels;
    int depth; /* of the current entry: 1 in the top folder */
    bool sorted;
    size_t names_held; /* bytes of names in memory, over all levels */
    char *path;        /* of the current entry, relative to the top */
    size_t path_capacity;
    int folder;         /* the folder of the current entry; owned by the tree */
    const char *name;   /* part of path */
    unsigned char kind; /* DT_* as listed in the folder; may be DT_UNKNOWN */
    int error;          /* at TREE_END: errno of a folder that could not be read completely */
};

/* Takes ownership of `top`, opened for reading, even on failure. Sorts by name in folders of up to 10,000 entries. */
bool tree_start(struct tree *t, int top, bool sorted);
enum tree_step tree_next(struct tree *t);
/* Enters the current entry. Returns false with errno: EOVERFLOW when too deep, ENOTDIR for a link. */
bool tree_enter(struct tree *t);
void tree_stop(struct tree *t);

#endif
