/*
 * Seccomp filter of a sandbox, as a BPF program. The agent installs it; the launcher passes it to the program that
 * isolates the sandbox.
 */
#ifndef ISOLA_FILTER_H
#define ISOLA_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

struct filter_options {
    bool setuid_files; /* allow creating setuid and setgid files */
    bool picky_statx;  /* a kernel whose statx rejects flags that the C library sets */
    bool vsock;        /* allow vsock sockets */
};

/* Allows what a sandbox may call. Length 0 means that the program did not fit. Valid until the next call. */
struct sock_fprog filter_sandbox(struct filter_options options);
/* Refuses vsock sockets only. */
struct sock_fprog filter_refuse_vsock(void);
/* Allows what a relay process calls once it is ready, and connections by TCP only. */
struct sock_fprog filter_relay(void);
/* Hides system calls introduced after Linux 4.8, for tracers that do not support them. */
struct sock_fprog filter_hide_new(void);

#endif
