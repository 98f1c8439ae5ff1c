/*
 * Patterns: `*`, `?`, `[abc]`, `[a-z]`, `[!x]`, `\` for the next character as it is, and `**` as a whole
 * component for any number of folders. As in a shell, `*`, `?`, `[]` and `**` do not match a dot at the start
 * of a name: `.*` does. `?` and `[]` take one UTF-8 character (a byte where the name is not UTF-8).
 *
 * A pattern is matched one component at a time, as a set of positions in it (a bit each), so that a walk can
 * leave folders out that cannot lead to a match, and no pattern costs more than its length times the name's.
 */
#ifndef ISOLA_GLOB_H
#define ISOLA_GLOB_H

#include <stdbool.h>
#include <stdint.h>

enum { GLOB_COMPONENTS_MAX = 60 };

struct glob {
    char *text;
    const char *components[GLOB_COMPONENTS_MAX];
    int count;
};

/* False: EINVAL for an empty or absolute pattern, or one with `..`; E2BIG for too many components; ENOMEM. */
bool glob_compile(struct glob *g, const char *pattern);
void glob_free(struct glob *g);

uint64_t glob_begin(const struct glob *g);
/* The positions after `name`, from `positions`. `dots`: wildcards match leading dots too. */
uint64_t glob_step(const struct glob *g, uint64_t positions, const char *name, bool dots);
/* The names so far are a match. */
bool glob_matched(const struct glob *g, uint64_t positions);
/* More names could make a match. */
bool glob_open(const struct glob *g, uint64_t positions);

/* One component against one name. */
bool glob_name(const char *pattern, const char *name, bool dots);
/* All of a relative path. */
bool glob_path(const struct glob *g, const char *path, bool dots);

#endif
