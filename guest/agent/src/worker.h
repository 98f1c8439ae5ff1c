/* Worker threads for blocking operations. Started on demand; they exit after a few idle seconds. */
#ifndef ISOLA_WORKER_H
#define ISOLA_WORKER_H

#include "stream.h"

/* Runs `work` on a worker with a copy of the request's fields; releases the stream afterwards. */
void worker_run(void (*work)(const struct request *), struct stream *stream, enum operation operation,
                struct fields fields);

#endif
