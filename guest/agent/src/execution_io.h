/* Moves output from the pipes of an execution through its journal to attached streams, and input the other way. */
#ifndef ISOLA_EXECUTION_IO_H
#define ISOLA_EXECUTION_IO_H

#include "execution_table.h"

/* Moves output from the pipes to the journal and on to the attached streams, as far as possible without blocking. */
void pump(struct execution *e);
/* Ends the execution when its leader has ended and its output is drained. */
void finish_if_drained(struct execution *e);
void output_ready(struct watch *w, uint32_t what);
void terminal_ready(struct watch *w, uint32_t what);
void input_ready(struct watch *w, uint32_t what);
void write_input(struct execution *e);
void close_input(struct execution *e);
/* Attaches a stream, for output and input. Returns NULL when out of memory. */
struct attachment *attach(struct execution *e, struct stream *s, uint64_t offset, bool lossy);
void detach_reader(struct attachment *a);

/* The send queue has room again. */
void executions_resume(void);
/* A hold begins, or ends: the readers that it disconnects are expected to return. */
void executions_held(bool now);
/*
 * Ends a hold. The readers that it disconnected may return within a few seconds, in which the output that they have not
 * received is kept; or they are those of another sandbox and do not return.
 */
void executions_released(bool readers_return);

#endif
