/* Lifetime of the agent: its deadline, how long it lingers without a server, and its shutdown. */
#ifndef ISOLA_LIFETIME_H
#define ISOLA_LIFETIME_H

#include "boot.h"
#include "stream.h"

void lifetime_begin(const struct boot *b);
void lifetime_connected(void);
void lifetime_disconnected(void);
void lifetime_renew(struct stream *s, struct fields request);
void lifetime_kill_all(struct stream *s);
void lifetime_shutdown(struct stream *s);
/* Sends BYE, kills every process and exits. */
_Noreturn void lifetime_end(const char *reason);

#endif
