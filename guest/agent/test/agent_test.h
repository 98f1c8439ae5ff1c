/* The tests of the whole agent, a file for each topic, and what they share. */
#ifndef ISOLA_AGENT_TEST_H
#define ISOLA_AGENT_TEST_H

#include "check.h"
#include "client.h"

extern uint64_t namespaces; /* what this pass asks for */

/* Starts an agent, with further fields of its boot record, and connects to it; `c` and `more` may be NULL. */
bool start(struct agent *a, struct client *c, struct builder *more);
void finish(struct agent *a, struct client *c);
struct builder shell(const char *script);
/* Runs a command to its end; frees `b`. */
struct outcome run(struct client *c, struct builder b, int milliseconds);
bool wait_for(bool (*condition)(void *), void *context, int milliseconds);

void greeting_tests(void);
void commands_tests(void);
void streams_tests(void);
void files_tests(void);
void supervisors_tests(void);
void life_tests(void);
void limit_tests(void);
void container_tests(void);

#endif
