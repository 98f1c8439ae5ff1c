/* The seccomp filter of a sandbox, as a program: the agent installs it, the launcher hands it to who isolates. */
#ifndef ISOLA_FILTER_H
#define ISOLA_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

struct filter_options {
    bool setuid_files; /* setuid and setgid files may be made */
    bool picky_statx;  /* a kernel whose statx refuses what the C library asks of it */
};

/* Lets through what a sandbox may call. Length 0: it did not fit. The program is good until the next call. */
struct sock_fprog filter_sandbox(struct filter_options options);
/* Hides from programs what came after Linux 4.8, where something in between cannot cope with it. */
struct sock_fprog filter_hide_new(void);

#endif
