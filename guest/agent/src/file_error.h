/* From errno to the protocol's error codes and sentences. */
#ifndef ISOLA_FILE_ERROR_H
#define ISOLA_FILE_ERROR_H

#include "stream.h"

/*
 * The path functions of this program report a path that leads out of the workspace as EXDEV, as openat2
 * does, and a tree deeper than TREE_DEPTH_MAX as EOVERFLOW. Callers that can get EXDEV from a rename deal
 * with it themselves before they come here.
 */
enum error_code error_code_of(int number);

/* Ends the stream with the code and sentence of `number`; `path` is what the caller wrote. */
void answer_error(struct stream *s, int number, const char *path);

void answer_cancelled(struct stream *s);
void answer_no_memory(struct stream *s);

#endif
