/* Tests of the whole agent, one file for each topic, and their fixtures. */
#ifndef ISOLA_AGENT_TEST_H
#define ISOLA_AGENT_TEST_H

#include "check.h"
#include "client.h"

extern uint64_t namespaces; /* NAMESPACES of the current pass */

/* Starts an agent with additional boot record fields and connects to it; `c` and `more` may be NULL. */
bool start(struct agent *a, struct client *c, struct builder *more);
/* Starts an agent that dials, after agent_prepare. */
bool start_dialling(struct agent *a, const struct builder *more, const char *address);
void finish(struct agent *a, struct client *c);
struct builder shell(const char *script);
/* Runs a command to its end; frees `b`. */
struct outcome run(struct client *c, struct builder b, int milliseconds);
/* Runs a command that prints the word. */
void check_command(struct client *c, const char *word);
bool wait_for(bool (*condition)(void *), void *context, int milliseconds);

void handshake_tests(void);
void commands_tests(void);
void streams_tests(void);
void files_tests(void);
void supervisors_tests(void);
void lifetime_tests(void);
void limit_tests(void);
void container_tests(void);
void boot_tests(void);
void dial_tests(void);
void dial_address_tests(void);
void hold_tests(void);
void egress_tests(void);

#endif
