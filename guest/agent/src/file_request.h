/* What every file operation starts with: its path, and the rights it acts with. */
#ifndef ISOLA_FILE_REQUEST_H
#define ISOLA_FILE_REQUEST_H

#include <sys/stat.h>

#include "stream.h"

/* Does the work and ends the stream, once. `path` is PATH as the caller wrote it; it lives until the return. */
typedef void file_work(struct stream *s, struct fields f, const char *path);

/* Reads PATH and USER, runs `work` with that user's rights on this thread, and takes them back. */
void file_operation(const struct request *r, file_work *work);
/* The same with the agent's own rights where no USER is named: for who keeps a sandbox's files and brings them back. */
void file_administration(const struct request *r, file_work *work);

/*
 * MODE or `otherwise`. Ends the stream and returns false for bits that are not allowed: where the files are
 * the host's, a setuid or setgid program would be one for the host.
 */
bool mode_field(struct stream *s, struct fields f, mode_t otherwise, mode_t *out);

#endif
