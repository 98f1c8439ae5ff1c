/* Executions: start, output, attach, signals, end. Main thread only. */
#ifndef ISOLA_EXECUTION_H
#define ISOLA_EXECUTION_H

#include <sys/types.h>

#include "stream.h"

struct execution_defaults;
/* Keeps the pointer. */
void executions_setup(const struct execution_defaults *defaults);

void execution_start(struct stream *s, struct fields request);
void execution_attach(struct stream *s, struct fields request);
void execution_list(struct stream *s, struct fields request);
void execution_signal(struct stream *s, struct fields request);
void execution_resize(struct stream *s, struct fields request);

/* A hold begins, or ends: the readers that it disconnects are expected to return. */
void executions_held(bool now);
/*
 * Ends a hold. The readers that it disconnected may return within a few seconds, in which the output that they have not
 * received is kept; or they are those of another sandbox and do not return.
 */
void executions_released(bool readers_return);
/* The send queue has room again. */
void executions_resume(void);
void listings_resume(void);
/* Called once per iteration of the event loop: evicts old executions. */
void executions_evict(void);
/* A child of the agent ended. */
void executions_reaped(pid_t pid, int status);

#endif
