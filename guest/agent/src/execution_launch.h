/* From an EXEC request to something a supervisor can start: words, environment, user, descriptors. */
#ifndef ISOLA_EXECUTION_LAUNCH_H
#define ISOLA_EXECUTION_LAUNCH_H

#include "execution.h"
#include "supervisor.h"

struct prepared {
    struct launch launch;
    int our_input, our_output, our_error; /* the agent's ends; -1 where there is none */
    bool terminal;
    uint16_t columns, rows;
    struct user user;
    char **words, **environment;
    char *cwd;
};

/* Fills `p`, or answers with an error and returns false. */
bool launch_prepare(struct prepared *p, struct stream *s, struct fields request,
                    const struct execution_defaults *defaults, uint64_t execution);
/* The limits that every command has, whatever its request says. */
void launch_limits(struct launch *l, const struct execution_defaults *defaults);
/* The variable that every process of an execution has where orphans can only be found by it; free it. */
char *launch_mark(uint64_t execution);
/* Closes the command's ends and frees the rest; the agent's ends stay. */
void launch_close(struct prepared *p);
/* Answers for a launch that failed; `description` names the program and folder. */
void launch_error(struct stream *s, const struct builder *description, enum stage stage, int error_number);

#endif
