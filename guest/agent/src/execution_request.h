/* Requests about existing executions. */
#ifndef ISOLA_EXECUTION_REQUEST_H
#define ISOLA_EXECUTION_REQUEST_H

#include "stream.h"

void execution_attach(struct stream *s, struct fields request);
void execution_list(struct stream *s, struct fields request);
void execution_signal(struct stream *s, struct fields request);
void execution_resize(struct stream *s, struct fields request);
/* The send queue has room again. */
void listings_resume(void);

#endif
