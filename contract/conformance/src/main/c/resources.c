/* More than a fair share of the machine. Raised limits are those of the attempt and end with it. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"

static void priority(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    gate("a higher priority", setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) - 1), NO_ERRORS);
}

static void real_time(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    struct sched_param parameter = {.sched_priority = 1};
    gate("real-time scheduling", sched_setscheduler(0, SCHED_FIFO, &parameter), NO_ERRORS);
}

static void io_priority(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    gate("real-time io", syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, 0, 1 << 13 | 4), NO_ERRORS);
}

/* Raises any of the hard limits by one. */
static void limits(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    static const int kinds[] = {RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_CORE, RLIMIT_MEMLOCK};
    int error = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)kinds[i], &limit) != 0 || limit.rlim_max == RLIM_INFINITY) continue;
        limit.rlim_max++;
        if (setrlimit((__rlimit_resource_t)kinds[i], &limit) == 0) got("a hard limit can be raised");
        error = errno;
    }
    if (!error) absent("no hard limit is set");
    refused(error, "setrlimit");
}

/* Lowers the OOM score below that of other processes. */
static void out_of_memory(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) failed(errno, "oom_score_adj");
    if (write(fd, "-1000", 5) == 5) got("lowered the OOM score to -1000");
    failed(errno, "oom_score_adj");
}

const struct probe resource_probes[] = {{"priority", 0, priority},           {"real-time", 0, real_time},
                                        {"io-priority", 0, io_priority},     {"limits", 0, limits},
                                        {"out-of-memory", 0, out_of_memory}, {0}};
