/* What the agent and the supervisor of a command tell each other: launches and orders one way, reports the other. */
#ifndef ISOLA_LAUNCH_H
#define ISOLA_LAUNCH_H

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

#endif
