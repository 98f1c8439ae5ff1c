/*
 * Glob patterns: `*`, `?`, `[abc]`, `[a-z]`, `[!x]`, `\` to escape the next character, and `**` as a whole component
 * for any number of folders. As in a shell, `*`, `?`, `[]` and `**` do not match a leading dot; `.*` does. `?` and `[]`
 * match one UTF-8 character (one byte where the name is not UTF-8).
 *
 * A pattern is matched one component at a time, as a bit set of positions in it. A walk can therefore skip folders that
 * cannot lead to a match, and matching never costs more than pattern length times name length.
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

/*
 * Returns false with EINVAL for an empty or absolute pattern or one with `..`, E2BIG for too many components, or
 * ENOMEM.
 */
bool glob_compile(struct glob *g, const char *pattern);
void glob_free(struct glob *g);

uint64_t glob_begin(const struct glob *g);
/* Returns the positions after matching `name` at `positions`. With `dots`, wildcards match leading dots too. */
uint64_t glob_step(const struct glob *g, uint64_t positions, const char *name, bool dots);
/* Returns whether the names so far match. */
bool glob_matched(const struct glob *g, uint64_t positions);
/* Returns whether further names could complete a match. */
bool glob_open(const struct glob *g, uint64_t positions);

/* Matches one component against one name. */
bool glob_name(const char *pattern, const char *name, bool dots);
/* Matches a whole relative path. */
bool glob_path(const struct glob *g, const char *path, bool dots);

#endif
