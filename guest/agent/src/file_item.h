/* ITEM frames of LIST and GLOB: entries of a tree beneath the path of the request. */
#ifndef ISOLA_FILE_ITEM_H
#define ISOLA_FILE_ITEM_H

#include <sys/stat.h>

#include "stream.h"
#include "tree.h"

/* Initialize `s` and `base`; everything else is zero. */
struct items {
    struct stream *s;
    const char *base;
    bool over;  /* cancelled or dropped */
    int number; /* errno of the first failure */
    char *culprit;
    struct builder fields;
};

bool items_active(const struct items *i);
void items_send(struct items *i, const struct tree *t, const struct stat *st);
/* Enters the current entry. Skips a folder that is unreadable or has been removed. */
void items_enter(struct items *i, struct tree *t);
/* Sends the terminal frame. */
void items_finish(struct items *i, const struct tree *t);

#endif
