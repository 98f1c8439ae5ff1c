/* System call filter: refuses calls that have been used to escape sandboxes, and allows what programs need. */
#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "filter.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#define FOREIGN AUDIT_ARCH_I386
#else
#define NATIVE AUDIT_ARCH_AARCH64
#define FOREIGN AUDIT_ARCH_ARM
#endif

enum { LET_THROUGH = 0, FAILED = 255 };

static bool kernel_filters; /* false under an emulator of programs, which has no seccomp */

/* Returns the errno with which a filter refuses the call, or LET_THROUGH; as the kernel runs its program. */
static int decide_for(uint32_t architecture, struct sock_fprog program, long call, const long *arguments)
{
    struct seccomp_data data = {.nr = (int)call, .arch = architecture};
    for (int i = 0; i < 3; i++) data.args[i] = (uint64_t)arguments[i];
    uint32_t word = 0;
    for (const struct sock_filter *at = program.filter, *end = at + program.len; at < end; at++) {
        switch (at->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&word, (const char *)&data + at->k, sizeof word);
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += word == at->k ? at->jt : at->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            at += word >= at->k ? at->jt : at->jf;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            at += word > at->k ? at->jt : at->jf;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            at += word & at->k ? at->jt : at->jf;
            break;
        case BPF_RET | BPF_K:
            return at->k == SECCOMP_RET_ALLOW ? LET_THROUGH : (int)(at->k & SECCOMP_RET_DATA);
        default:
            return FAILED;
        }
    }
    return FAILED;
}

static int decide(struct sock_fprog program, long call, const long *arguments)
{
    return decide_for(NATIVE, program, call, arguments);
}

static bool install(struct sock_fprog *program)
{
    return program->len && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
           && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) == 0;
}

/*
 * Returns the errno of a call behind the filter. The kernel must agree with the decision; where it takes no filter, the
 * decision stands for it.
 */
static int errno_behind(struct sock_fprog program, int decision, long call, const long *arguments)
{
    if (kernel_filters && !install(&program)) return FAILED;
    if (!kernel_filters && decision != LET_THROUGH) return decision;
    int was = syscall(call, arguments[0], arguments[1], arguments[2], 0, 0, 0) < 0 ? errno : LET_THROUGH;
    return decision == LET_THROUGH || decision == was ? was : FAILED;
}

static int status_of(pid_t child)
{
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

/* Returns the errno of a call with invalid arguments, behind the filter. */
static int asked(struct filter_options options, long call, long first, long second, long third)
{
    pid_t child = fork();
    if (child == 0) {
        struct sock_fprog program = filter_sandbox(options);
        long arguments[] = {first, second, third};
        syscall(SYS_exit_group, errno_behind(program, decide(program, call, arguments), call, arguments));
    }
    return status_of(child);
}

/* Returns whether a process with the agent's filter, then a command's in addition, can open a vsock socket. */
static int vsock_of(bool agent, bool command)
{
    static const long local[] = {AF_UNIX, SOCK_STREAM, 0}, vsock[] = {AF_VSOCK, SOCK_STREAM, 0};
    pid_t child = fork();
    if (child == 0) {
        struct sock_fprog program = filter_sandbox((struct filter_options){.vsock = agent});
        int decision = decide(program, SYS_socket, vsock);
        if (command && decision == LET_THROUGH) {
            if (kernel_filters && !install(&program)) _exit(FAILED);
            program = filter_refuse_vsock(); /* as the agent does, after its own is installed */
            decision = decide(program, SYS_socket, vsock);
        }
        if (decide(program, SYS_socket, local) != LET_THROUGH) _exit(FAILED);
        syscall(SYS_exit_group, errno_behind(program, decision, SYS_socket, vsock));
    }
    return status_of(child);
}

static int answer(long call)
{
    return asked((struct filter_options){.setuid_files = true}, call, -1, -1, -1);
}

static void dangerous_calls_are_refused(void)
{
    static const int refused[] = {
        __NR_mount,
        __NR_umount2,
        __NR_pivot_root,
        __NR_chroot,
        428,
        429,
        430,
        431,
        432,
        433,
        442,
        __NR_swapon,
        __NR_swapoff,
        __NR_quotactl,
        443,
        __NR_open_by_handle_at,
        __NR_fanotify_init,
        __NR_acct,
        __NR_setns,
        __NR_init_module,
        __NR_finit_module,
        __NR_delete_module,
        __NR_kexec_load,
        __NR_reboot,
        __NR_syslog,
        __NR_bpf,
        __NR_perf_event_open,
        __NR_userfaultfd,
        __NR_kcmp,
        __NR_add_key,
        __NR_request_key,
        __NR_keyctl,
        __NR_settimeofday,
        __NR_clock_settime,
        __NR_sethostname,
        __NR_setdomainname,
        __NR_vhangup,
        __NR_migrate_pages,
        __NR_move_pages,
        __NR_mbind,
        __NR_set_mempolicy,
        438 /* pidfd_getfd */,
        440 /* process_madvise */,
#if defined(__x86_64__)
        __NR_iopl,
        __NR_ioperm,
        __NR_modify_ldt,
        __NR_uselib,
        __NR_ustat,
        __NR_sysfs,
        __NR_kexec_file_load,
        __NR_create_module,
        __NR_get_kernel_syms,
        __NR_query_module,
        __NR__sysctl,
#endif
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        int was = answer(refused[i]);
        if (was != EPERM) printf("call %d: %d\n", refused[i], was);
        CHECK_INT(EPERM, was);
    }
}

static void unknown_calls_fail_with_enosys(void)
{
    static const int absent[] = {__NR_io_setup, __NR_io_submit, 425, 426, 427, 435, 470, 500, 1000, 0x40000000 | 39};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) CHECK_INT(ENOSYS, answer(absent[i]));
}

static void common_calls_are_allowed(void)
{
    CHECK_INT(LET_THROUGH, answer(__NR_getpid));
    CHECK_INT(LET_THROUGH, answer(__NR_sched_yield));
    CHECK_INT(EBADF, asked((struct filter_options){.setuid_files = true}, __NR_read, -1, 0, 0));
    CHECK_INT(EBADF, answer(__NR_close));
    CHECK_INT(EBADF, answer(__NR_fstat));
    CHECK_INT(EINVAL, answer(__NR_epoll_create1));
}

static void debuggers_are_allowed(void)
{
    CHECK_INT(ESRCH, answer(__NR_ptrace));
}

static void arguments_are_filtered(void)
{
    struct filter_options all = {.setuid_files = true};
    CHECK_INT(EPERM, asked(all, __NR_unshare, CLONE_NEWUSER, 0, 0));
    CHECK_INT(LET_THROUGH, asked(all, __NR_unshare, CLONE_FS, 0, 0));
    CHECK_INT(EPERM, asked(all, __NR_clone, CLONE_NEWNS | SIGCHLD, 0, 0));
    CHECK_INT(EAFNOSUPPORT, asked(all, __NR_socket, 40 /* AF_VSOCK */, 1, 0));
    CHECK_INT(LET_THROUGH, asked(all, __NR_socket, 1 /* AF_UNIX */, 1, 0));
    CHECK_INT(LET_THROUGH, asked(all, __NR_personality, 0xffffffff, 0, 0));
    CHECK_INT(EPERM, asked(all, __NR_personality, 0x0400000 /* READ_IMPLIES_EXEC */, 0, 0));
    CHECK_INT(EPERM, asked(all, __NR_ioctl, 0, 0x5412 /* TIOCSTI */, 0));
}

static void setuid_files_are_refused_on_host_files(void)
{
    struct filter_options all = {.setuid_files = true}, none = {0};
    CHECK_INT(EBADF, asked(all, __NR_fchmod, -1, 04755, 0));
    CHECK_INT(EPERM, asked(none, __NR_fchmod, -1, 04755, 0));
    CHECK_INT(EBADF, asked(none, __NR_fchmod, -1, 0755, 0));
    CHECK_INT(EPERM, asked(none, __NR_fchmodat, -1, (long)"x", 02755));
    CHECK_INT(EPERM, asked(none, 452 /* fchmodat2 */, -1, (long)"x", 04755));
    CHECK_INT(ENOSYS, asked(none, 437 /* openat2 */, -1, 0, 0));
}

static void vsock_is_for_the_agent_only(void)
{
    int fd = socket(40 /* AF_VSOCK */, 1, 0);
    if (fd < 0) {
        NOT_RUN(vsock_is_for_the_agent_only, "this kernel has no vsock");
        return;
    }
    close(fd);
    CHECK_INT(EAFNOSUPPORT, vsock_of(false, false));
    CHECK_INT(LET_THROUGH, vsock_of(true, false));
    CHECK_INT(EAFNOSUPPORT, vsock_of(true, true));
}

static void other_calling_conventions_fail_with_enosys(void)
{
    static const long arguments[3] = {0};
    struct sock_fprog program = filter_sandbox((struct filter_options){.setuid_files = true});
    CHECK_INT(LET_THROUGH, decide(program, __NR_getpid, arguments));
    CHECK_INT(ENOSYS, decide_for(FOREIGN, program, __NR_getpid, arguments));
}

static int relay_asked(long call, long first, long second)
{
    const long arguments[] = {first, second, 0};
    return decide(filter_relay(), call, arguments);
}

static void relay_calls_what_it_needs_and_nothing_else(void)
{
    static const int needed[] = {__NR_accept4, __NR_connect,   __NR_recvfrom,
                                 __NR_splice,  __NR_setitimer, __NR_exit_group};
    static const int refused[] = {__NR_openat,
                                  __NR_execve,
                                  __NR_clone,
                                  __NR_kill,
                                  __NR_ptrace,
                                  __NR_mount,
                                  __NR_setuid,
                                  __NR_prctl,
                                  __NR_unshare,
                                  __NR_bind,
                                  __NR_listen,
                                  __NR_ioctl,
                                  __NR_sendmsg,
                                  __NR_socketpair,
                                  __NR_io_setup,
                                  __NR_bpf,
                                  435 /* clone3 */,
                                  437 /* openat2 */,
                                  425 /* io_uring_setup */,
                                  1000};
    enum { PLAIN = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK };
    static const long arguments[3] = {0};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) CHECK_INT(LET_THROUGH, relay_asked(needed[i], 0, 0));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) CHECK_INT(EPERM, relay_asked(refused[i], 0, 0));
    CHECK_INT(LET_THROUGH, relay_asked(__NR_socket, AF_INET, PLAIN));
    CHECK_INT(LET_THROUGH, relay_asked(__NR_socket, AF_INET6, PLAIN));
    CHECK_INT(EPERM, relay_asked(__NR_socket, AF_UNIX, PLAIN));
    CHECK_INT(EPERM, relay_asked(__NR_socket, AF_NETLINK, PLAIN));
    CHECK_INT(EPERM, relay_asked(__NR_socket, AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK));
    CHECK_INT(EPERM, relay_asked(__NR_socket, AF_INET, SOCK_DGRAM));
    CHECK_INT(ENOSYS, decide_for(FOREIGN, filter_relay(), __NR_read, arguments));
}

static void kernel_installs_the_filter(void)
{
    if (!kernel_filters) {
        NOT_RUN(kernel_installs_the_filter, "there is no seccomp here");
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        struct sock_fprog program = filter_sandbox((struct filter_options){0});
        _exit(install(&program) ? LET_THROUGH : FAILED);
    }
    CHECK_INT(LET_THROUGH, status_of(child));
}

int main(void)
{
    kernel_filters = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != 0 && errno == EFAULT;
    RUN(dangerous_calls_are_refused);
    RUN(unknown_calls_fail_with_enosys);
    RUN(common_calls_are_allowed);
    RUN(debuggers_are_allowed);
    RUN(arguments_are_filtered);
    RUN(setuid_files_are_refused_on_host_files);
    RUN(vsock_is_for_the_agent_only);
    RUN(other_calling_conventions_fail_with_enosys);
    RUN(relay_calls_what_it_needs_and_nothing_else);
    RUN(kernel_installs_the_filter);
    return check_result();
}
