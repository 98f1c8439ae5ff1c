/* Which names and link targets an archive may have. Pure functions of text. */
#ifndef ISOLA_TAR_NAME_H
#define ISOLA_TAR_NAME_H

#include <stdbool.h>

/* Writes `name` without `.` and empty components to `out` (as long as name at least), or says why it is bad. */
const char *tar_name_clean(const char *name, char *out);

/* Whether a link's text, read from the folder of the clean `name`, stays within the tree. */
bool tar_link_stays(const char *name, const char *target);

#endif
