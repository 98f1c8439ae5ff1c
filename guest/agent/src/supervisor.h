/*
 * One supervisor process per command. It is a child subreaper, so everything the command starts, however it
 * detaches, stays beneath it and can be found and killed. It starts the command, tells the agent how it ended,
 * reaps, and when nothing is left waits for another command, which then need not wait for a fork. When the agent is
 * gone it kills its tree and exits.
 */
#ifndef ISOLA_SUPERVISOR_H
#define ISOLA_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "user.h"

enum { LAUNCH_LIMITS_MAX = 16 };

/* Everything the child needs, prepared by the agent: between fork and exec nothing may be allocated. */
struct launch {
    char **arguments;
    char **environment;
    const char *search_path; /* PATH of the command's environment */
    const char *cwd;
    int input, output, error; /* descriptors for 0, 1, 2 */
    bool terminal;            /* descriptor 0 becomes the controlling terminal */
    const struct user *user;  /* NULL to stay who we are */
    struct {
        int resource;
        struct rlimit limit;
    } limits[LAUNCH_LIMITS_MAX];
    int limit_count;
    const char *mark; /* in `environment`, where orphans can only be found by it; NULL elsewhere */
    int processors;   /* how many to run on; 0 for all the agent may */
    bool expendable;  /* killed for memory before anything else of the sandbox */
};

enum stage { STAGE_SETUP, STAGE_LIMIT, STAGE_USER, STAGE_CWD, STAGE_EXEC };

enum report_kind { REPORT_STARTED, REPORT_FAILED, REPORT_ENDED, REPORT_FREE };

struct report {
    enum report_kind kind;
    pid_t pid;            /* STARTED, and ENDED: nothing may have been told before */
    enum stage stage;     /* FAILED */
    int error_number;     /* FAILED */
    int status;           /* ENDED: as from waitpid */
    bool is_free;         /* ENDED: and nothing of it is left */
    uint64_t cpu_ns;      /* ENDED */
    uint64_t memory_peak; /* ENDED */
};

/* Signals go through the supervisor, because it alone knows whether a pid is still the one it started. */
enum order_kind { ORDER_KILL_TREE, ORDER_SIGNAL_TREE, ORDER_SIGNAL_GROUP, ORDER_SIGNAL_LEADER };
struct order {
    enum order_kind kind;
    int signal_number;
};

/* Gives the calling process the limits of a command, by system calls only; false with errno. */
bool command_confine(const struct launch *launch);
/* Closes all descriptors from this one on; likewise. */
void close_from(int first);

/* Has a supervisor start it. Returns its pid and the agent's end of the control socket, or -1 with errno. */
pid_t supervisor_start(const struct launch *launch, int *control_fd);
/* It has told that it is free; takes the control socket. */
void supervisor_free(pid_t pid, int control_fd);
/* Lets those go who wait for a command, so that there is room for other processes. */
void supervisors_dismiss(void);
/* A child has ended; it may have been one that waited. */
void supervisor_reaped(pid_t pid);

#endif
