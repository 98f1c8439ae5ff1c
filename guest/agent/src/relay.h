/* TCP connections carried over streams: DIAL into the sandbox and RELAY out of it. Main thread only. */
#ifndef ISOLA_RELAY_H
#define ISOLA_RELAY_H

#include "stream_table.h"

void relay_dial(struct stream *s, struct fields request);
void relay_listen(struct stream *s, struct fields request);
/* The send queue has room again. */
void relays_resume(void);

#endif
