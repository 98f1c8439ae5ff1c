/* Converts an EXEC request into a launch for a supervisor: arguments, environment, user, descriptors. */
#ifndef ISOLA_EXECUTION_LAUNCH_H
#define ISOLA_EXECUTION_LAUNCH_H

#include <sys/resource.h>

#include "launch.h"
#include "stream.h"

/* From the boot record; set once. */
struct execution_defaults {
    char **environment;        /* K=V, NULL-terminated */
    struct fields boot;        /* RLIMIT fields applied to every command */
    struct rlimit descriptors; /* the agent's own limit before it raised it */
};

struct prepared {
    struct launch launch;
    int our_input, our_output, our_error; /* the agent's ends; -1 when absent */
    bool terminal;
    uint16_t columns, rows;
    struct user user;
    char **words, **environment;
    char *cwd;
};

/* Fills `p`, or ends the stream with an error and returns false. */
bool launch_prepare(struct prepared *p, struct stream *s, struct fields request,
                    const struct execution_defaults *defaults, uint64_t execution);
/* Sets the limits that apply to every command regardless of its request. */
void launch_limits(struct launch *l, const struct execution_defaults *defaults);
/*
 * Returns the variable that identifies the processes of an execution on kernels where orphans can be found only by it.
 * The caller frees it.
 */
char *launch_mark(uint64_t execution);
/* Closes the command's ends and frees the rest; the agent's ends stay open. */
void launch_close(struct prepared *p);
/* Ends the stream with the error of a failed launch; `description` names the program and the folder. */
void launch_error(struct stream *s, const struct builder *description, enum stage stage, int error_number);

#endif
