/* The folders watched by an inotify descriptor, by watch number, as a tree of names. */
#ifndef ISOLA_WATCH_TABLE_H
#define ISOLA_WATCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { WATCHES_MAX = 65536 };

/* Stores parents instead of paths, so that moving a folder changes one entry. */
struct inotify_watch {
    int number;
    int parent;
    char *name;
    bool dead;
};

struct watch_table {
    struct inotify_watch *list;
    size_t count, capacity, dead;
};

struct inotify_watch *watch_find(struct watch_table *t, int number);
/* Adds or replaces. Returns false when out of memory or at WATCHES_MAX (errno ENOMEM, EOVERFLOW). */
bool watch_add(struct watch_table *t, int number, int parent, const char *name);
/* Returns the child of `parent` named `name`, or NULL. */
struct inotify_watch *watch_child(struct watch_table *t, int parent, const char *name);
void watch_forget(struct watch_table *t, struct inotify_watch *w);
bool watch_beneath(struct watch_table *t, int number, int ancestor);
/*
 * Returns the relative path of `name` in the folder `number`; NULL when unknown or out of memory. The caller frees it.
 */
char *watch_path(struct watch_table *t, int number, const char *name);
void watch_table_free(struct watch_table *t);

#endif
