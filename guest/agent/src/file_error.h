/* Maps errno to the protocol's error codes and messages. */
#ifndef ISOLA_FILE_ERROR_H
#define ISOLA_FILE_ERROR_H

#include "stream.h"

/*
 * The path functions report a path outside the workspace as EXDEV, as openat2 does, and a tree deeper than
 * TREE_DEPTH_MAX as EOVERFLOW. Callers that can get EXDEV from a rename handle it before calling this.
 */
enum error_code error_code_of(int number);

/* Ends the stream with the error code and message for `number`; `path` is the path in the request. */
void answer_error(struct stream *s, int number, const char *path);

void answer_cancelled(struct stream *s);
void answer_no_memory(struct stream *s);

#endif
