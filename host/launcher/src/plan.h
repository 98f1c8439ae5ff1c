/* The plan: what the launcher is told on its standard input, an ordered list of steps, each a list of words. */
#ifndef ISOLA_PLAN_H
#define ISOLA_PLAN_H

#include <stddef.h>

enum { STEPS_MAX = 1024, PLAN_MAX = 2 << 20, LAYERS_MAX = 128, SOURCES_MAX = 2 + LAYERS_MAX };

struct step {
    int count;    /* of words; words[0] is the verb */
    char **words; /* NULL-terminated; a word may hold any byte but is only measured where it is bytes */
    size_t *lengths;
    int sources[SOURCES_MAX]; /* what a mount step takes, opened before anything is covered; -1 for none */
};

struct plan {
    struct step *steps;
    int count;
};

/* Reads a plan of `length` bytes, or with PLAN_MAX all there is; a sentence when it is no good, NULL when it is. */
const char *plan_read(int fd, size_t length, struct plan *out);

#endif
