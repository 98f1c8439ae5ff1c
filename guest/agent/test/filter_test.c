/* System call filter: refuses calls that have been used to escape sandboxes, and allows what programs need. */
#include <asm/unistd.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "filter.h"

enum { LET_THROUGH = 0, FAILED = 255 };

/* Returns the errno of a call with invalid arguments, behind the filter. */
static int asked(struct filter_options options, long call, long first, long second, long third)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct sock_fprog program = filter_sandbox(options);
        if (!program.len || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            _exit(FAILED);
        long result = syscall(call, first, second, third, 0, 0, 0);
        syscall(SYS_exit_group, result < 0 ? errno : LET_THROUGH);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return FAILED;
    return WEXITSTATUS(status);
}

/* Returns whether a process with the agent's filter, then a command's in addition, can open a vsock socket. */
static int vsock_of(bool agent, bool command)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct sock_fprog ours = filter_sandbox((struct filter_options){.vsock = agent});
        if (!ours.len || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &ours) != 0)
            _exit(FAILED);
        struct sock_fprog further = filter_refuse_vsock(); /* as the agent does, after its own is installed */
        if (command && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &further) != 0) _exit(FAILED);
        if (syscall(SYS_socket, 1 /* AF_UNIX */, 1, 0) < 0) _exit(FAILED);
        long result = syscall(SYS_socket, 40 /* AF_VSOCK */, 1, 0);
        syscall(SYS_exit_group, result < 0 ? errno : LET_THROUGH);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return FAILED;
    return WEXITSTATUS(status);
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
    static const int absent[] = {425, 426, 427, 435, 470, 500, 1000, 0x40000000 | 39};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) CHECK_INT(ENOSYS, answer(absent[i]));
}

static void common_calls_are_allowed(void)
{
    CHECK_INT(LET_THROUGH, answer(__NR_getpid));
    CHECK_INT(LET_THROUGH, answer(__NR_sched_yield));
    CHECK_INT(EBADF, answer(__NR_read));
    CHECK_INT(EBADF, answer(__NR_close));
    CHECK_INT(EBADF, answer(__NR_fstat));
    CHECK_INT(ESRCH, answer(__NR_ptrace));
    CHECK_INT(EINVAL, answer(__NR_epoll_create1));
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

int main(void)
{
    RUN(dangerous_calls_are_refused);
    RUN(unknown_calls_fail_with_enosys);
    RUN(common_calls_are_allowed);
    RUN(arguments_are_filtered);
    RUN(setuid_files_are_refused_on_host_files);
    RUN(vsock_is_for_the_agent_only);
    return check_result();
}
