/* Common start of every file operation: resolves its path and its user. */
#ifndef ISOLA_FILE_REQUEST_H
#define ISOLA_FILE_REQUEST_H

#include <sys/stat.h>

#include "stream.h"

/*
 * Does the work and ends the stream exactly once. `path` is PATH as received; it is valid until the function returns.
 */
typedef void file_work(struct stream *s, struct fields f, const char *path);

/*
 * Reads PATH and USER, runs `work` with that user's file access rights on this thread, and restores the agent's rights.
 */
void file_operation(const struct request *r, file_work *work);
/* Like file_operation, but without USER it runs with the agent's own rights. Used to capture and restore snapshots. */
void file_operation_privileged(const struct request *r, file_work *work);

/*
 * Reads MODE, or returns `otherwise`. Ends the stream and returns false for bits that are not allowed: where the files
 * belong to the host, a setuid or setgid program would take effect on the host.
 */
bool mode_field(struct stream *s, struct fields f, mode_t otherwise, mode_t *out);

#endif
