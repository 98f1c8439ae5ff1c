/* The plan: an ordered list of steps, each a list of words, which the launcher reads from standard input. */
#ifndef ISOLA_PLAN_H
#define ISOLA_PLAN_H

#include <stddef.h>

enum { STEPS_MAX = 1024, PLAN_MAX = 2 << 20, LAYERS_MAX = 128, SOURCES_MAX = 2 + LAYERS_MAX };

struct step {
    int count;    /* number of words; words[0] is the verb */
    char **words; /* NULL-terminated; lengths[] matters only for words with binary content */
    size_t *lengths;
    int sources[SOURCES_MAX]; /* sources of a mount step, opened before the stage covers anything; -1 for none */
};

struct plan {
    struct step *steps;
    int count;
};

/*
 * Reads a plan of `length` bytes, or up to the end of input for PLAN_MAX. Returns NULL, or a message if the plan is
 * invalid.
 */
const char *plan_read(int fd, size_t length, struct plan *out);

#endif
