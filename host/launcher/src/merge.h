/*
 * Merges layers into one with the same files: what an overlay of the layers would show. Files are hard-linked to the
 * layers that contain them, or copied if those belong to other users. The layers themselves do not change.
 *
 *    merge OUT SPARE FIRST KEEP [FILE FROM]...
 *                                      merge into the empty folder OUT, with SPARE for temporary files; owners start at
 *                                      FIRST. The layers follow from the lowest up, each with the first of its owners.
 *                                      KEEP is "keep" if there is a layer below the lowest of which it hides parts,
 *                                      otherwise "all"
 *
 * Prints one line: "done files=N copied=N" or "error WHY". Exits when the process that started it exits.
 *
 *    fill OUT SPARE FIRST FILE FROM    copy the files of the folder FILE, whose owners start at FROM, into the empty
 *                                      folder OUT, where they start at FIRST; what an overlay stores in them is kept.
 *                                      SPARE is created for temporary files and removed. Prints nothing
 */
#ifndef ISOLA_MERGE_H
#define ISOLA_MERGE_H

#include <stdbool.h>

#include "plan.h"

enum { FIRST_LAYER = 5 };

/*
 * Takes the step; returns the exit code. `map` creates a user namespace that shifts ids from one start to another;
 * `own_users` selects the overlay attributes that users other than root can set.
 */
int merge(const struct step *s, int (*map)(const char *from, const char *to), bool own_users);
/* Takes the step `fill`; returns NULL, or why it failed. */
const char *merge_fill(const struct step *s, int (*map)(const char *from, const char *to));

#endif
