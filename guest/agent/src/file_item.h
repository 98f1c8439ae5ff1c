/* The ITEM frames of LIST and GLOB: entries of a tree under the path the caller gave. */
#ifndef ISOLA_FILE_ITEM_H
#define ISOLA_FILE_ITEM_H

#include <sys/stat.h>

#include "stream.h"
#include "tree.h"

/* Start with s and base set, the rest zero. */
struct items {
    struct stream *s;
    const char *base;
    bool over;  /* cancelled or dropped */
    int number; /* errno of the first failure */
    char *culprit;
    struct builder fields;
};

bool items_going(const struct items *i);
void items_send(struct items *i, const struct tree *t, const struct stat *st);
/* Enters the current entry. One that may not be read or is gone meanwhile is passed over. */
void items_enter(struct items *i, struct tree *t);
/* The terminal frame. */
void items_finish(struct items *i, const struct tree *t);

#endif
