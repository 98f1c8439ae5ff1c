/* Threads for the operations that may block. Started on demand, gone after some idle seconds. */
#ifndef ISOLA_WORKER_H
#define ISOLA_WORKER_H

#include "stream.h"

/* Runs `work` on a worker with a copy of the request's fields; the stream is released afterwards. */
void worker_run(void (*work)(const struct request *), struct stream *stream, enum operation operation,
                struct fields fields);

#endif
