#include "watch_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CLIMB_MAX = 4096 };

/* Returns the position of `number`. The kernel assigns ascending numbers, so appending keeps the list sorted. */
static size_t position_of(const struct watch_table *t, int number)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->list[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct inotify_watch *watch_find(struct watch_table *t, int number)
{
    size_t i = position_of(t, number);
    return i < t->count && t->list[i].number == number && !t->list[i].dead ? &t->list[i] : NULL;
}

/* Removes dead entries once they are half of the list, so that removing many does not move it each time. */
static void compact(struct watch_table *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->list[i].dead)
            free(t->list[i].name);
        else
            t->list[kept++] = t->list[i];
    }
    t->count = kept;
    t->dead = 0;
}

bool watch_add(struct watch_table *t, int number, int parent, const char *name)
{
    char *copy = strdup(name);
    if (!copy) {
        errno = ENOMEM;
        return false;
    }
    if (t->dead * 2 > t->count) compact(t);
    size_t i = position_of(t, number);
    if (i < t->count && t->list[i].number == number) {
        free(t->list[i].name);
        t->dead -= t->list[i].dead;
        t->list[i] = (struct inotify_watch){.number = number, .parent = parent, .name = copy};
        return true;
    }
    if (t->count - t->dead >= WATCHES_MAX) {
        free(copy);
        errno = EOVERFLOW;
        return false;
    }
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? t->capacity * 2 : 64;
        struct inotify_watch *bigger = realloc(t->list, capacity * sizeof *bigger);
        if (!bigger) {
            free(copy);
            errno = ENOMEM;
            return false;
        }
        t->list = bigger;
        t->capacity = capacity;
    }
    memmove(&t->list[i + 1], &t->list[i], (t->count - i) * sizeof *t->list);
    t->list[i] = (struct inotify_watch){.number = number, .parent = parent, .name = copy};
    t->count++;
    return true;
}

struct inotify_watch *watch_child(struct watch_table *t, int parent, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (!t->list[i].dead && t->list[i].parent == parent && !strcmp(t->list[i].name, name)) return &t->list[i];
    return NULL;
}

void watch_forget(struct watch_table *t, struct inotify_watch *w)
{
    w->dead = true;
    t->dead++;
}

bool watch_beneath(struct watch_table *t, int number, int ancestor)
{
    for (int climbed = 0; number >= 0 && climbed < CLIMB_MAX; climbed++) {
        if (number == ancestor) return true;
        struct inotify_watch *w = watch_find(t, number);
        if (!w) return false;
        number = w->parent;
    }
    return false;
}

char *watch_path(struct watch_table *t, int number, const char *name)
{
    size_t length = strlen(name);
    char *path = strdup(name);
    for (int climbed = 0; path; climbed++) {
        struct inotify_watch *w = watch_find(t, number);
        if (!w || climbed == CLIMB_MAX) {
            free(path);
            return NULL;
        }
        if (w->parent < 0) return path;
        size_t more = strlen(w->name);
        char *longer = malloc(more + length + 2);
        if (longer) {
            memcpy(longer, w->name, more);
            longer[more] = '/';
            memcpy(longer + more + (length > 0), path, length + 1);
            if (length == 0) longer[more] = 0;
            length += more + (length > 0);
        }
        free(path);
        path = longer;
        number = w->parent;
    }
    return NULL;
}

void watch_table_free(struct watch_table *t)
{
    for (size_t i = 0; i < t->count; i++) free(t->list[i].name);
    free(t->list);
    *t = (struct watch_table){0};
}
