/* Reads symbolic links. */
#ifndef ISOLA_LINK_TEXT_H
#define ISOLA_LINK_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the target of the link `name` in `folder` ("" when folder is the link itself), cut at capacity. False with
 * errno.
 */
bool link_text(int folder, const char *name, char *out, size_t capacity);

#endif
