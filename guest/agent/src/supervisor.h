/*
 * Each command has one supervisor process. It is a child subreaper, so that everything the command starts stays beneath
 * it and can be found and killed. It starts the command, reports its end to the agent and reaps. When no process is
 * left it waits for another command, which then needs no fork. When the agent is gone it kills its tree and exits.
 */
#ifndef ISOLA_SUPERVISOR_H
#define ISOLA_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "user.h"

enum { LAUNCH_LIMITS_MAX = 16 };

/* Everything the child needs, prepared by the agent: nothing may be allocated between fork and exec. */
struct launch {
    char **arguments;
    char **environment;
    const char *search_path; /* PATH of the command's environment */
    const char *cwd;
    int input, output, error; /* descriptors for 0, 1, 2 */
    bool terminal;            /* descriptor 0 becomes the controlling terminal */
    const struct user *user;  /* NULL to keep the current user */
    struct {
        int resource;
        struct rlimit limit;
    } limits[LAUNCH_LIMITS_MAX];
    int limit_count;
    const char *mark; /* in `environment`, on kernels where orphans can be found only by it; otherwise NULL */
    int processors;   /* how many processors to run on; 0 for all */
    bool expendable;  /* preferred by the OOM killer */
};

enum stage { STAGE_SETUP, STAGE_LIMIT, STAGE_USER, STAGE_CWD, STAGE_EXEC };

enum report_kind { REPORT_STARTED, REPORT_FAILED, REPORT_ENDED, REPORT_FREE };

struct report {
    enum report_kind kind;
    pid_t pid;            /* STARTED, and ENDED when the start was not reported */
    enum stage stage;     /* FAILED */
    int error_number;     /* FAILED */
    int status;           /* ENDED: as from waitpid */
    bool is_free;         /* ENDED: no process of the command is left */
    uint64_t cpu_ns;      /* ENDED */
    uint64_t memory_peak; /* ENDED */
};

/* Signals go through the supervisor, because only the parent knows that a pid has not been reused. */
enum order_kind { ORDER_KILL_TREE, ORDER_SIGNAL_TREE, ORDER_SIGNAL_GROUP, ORDER_SIGNAL_LEADER };
struct order {
    enum order_kind kind;
    int signal_number;
};

/* Applies the limits of a command to the calling process, using system calls only. Returns false with errno. */
bool command_confine(const struct launch *launch);
/* Closes all descriptors from `first` on, using system calls only. */
void close_from(int first);

/* Lets a supervisor start the command. Returns its pid and the agent's end of the control socket, or -1 with errno. */
pid_t supervisor_start(const struct launch *launch, int *control_fd);
/* The supervisor has reported that it is idle. Takes over the control socket. */
void supervisor_free(pid_t pid, int control_fd);
/* Ends idle supervisors, to make room for other processes. */
void supervisors_end_idle(void);
/* A child has ended, possibly an idle supervisor. */
void supervisor_reaped(pid_t pid);

#endif
