/*
 * Merges layers into one that has the same files: what an overlay of them would show. Files are shared by hard links
 * with the layers that have them, unless those belong to other users; then they are copied. The layers stay as they are.
 *
 *   merge OUT SPARE FIRST KEEP [FILE FROM]...
 *                                     into the empty folder OUT, with the folder SPARE for what is on the way; owners
 *                                     are those from FIRST on; the layers from the lowest up, with the first of their
 *                                     owners. KEEP is "keep" when there is something beneath the lowest that they hide
 *                                     parts of, else "all"
 *
 * Prints one line: "done files=N copied=N" or "error WHY". Ends when the process that started it does.
 */
#ifndef ISOLA_MERGE_H
#define ISOLA_MERGE_H

#include <stdbool.h>

#include "plan.h"

enum { FIRST_LAYER = 5 };

/*
 * Takes the step; returns the exit code. `map` makes a user namespace through which users from one number on are seen as
 * those from another on; `own_users` says that the marks of overlays are those of who is not root.
 */
int merge(const struct step *s, int (*map)(const char *from, const char *to), bool own_users);

#endif
