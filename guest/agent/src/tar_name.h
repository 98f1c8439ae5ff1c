/* Names and link targets that an archive may contain. Pure functions. */
#ifndef ISOLA_TAR_NAME_H
#define ISOLA_TAR_NAME_H

#include <stdbool.h>

/*
 * Writes `name` without `.` and empty components to `out` (at least as long as name). Returns the reason if it is
 * invalid.
 */
const char *tar_name_normalize(const char *name, char *out);

/* Returns whether a link target, resolved from the folder of the normalized `name`, stays within the tree. */
bool tar_link_is_inside(const char *name, const char *target);

#endif
