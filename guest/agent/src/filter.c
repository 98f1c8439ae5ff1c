/*
 * Allow-list filter. A system call that is not listed fails with EPERM. Numbers unknown to this build fail with ENOSYS,
 * so that programs fall back to older calls; so do the other calling conventions of the machine (32 bit), whose numbers
 * mean different calls.
 */
#include "filter.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "syscalls.h"

#if defined(__x86_64__)
enum { NATIVE = (int)AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { NATIVE = (int)AUDIT_ARCH_AARCH64 };
#else
#error "the filter supports x86_64 and aarch64"
#endif

/* Same number on every architecture. LAST_KNOWN is the last number refused with EPERM rather than ENOSYS. */
enum {
    IO_URING_SETUP = 425,
    IO_URING_ENTER,
    IO_URING_REGISTER,
    CLONE3 = 435,
    OPENAT2 = 437,
    FACCESSAT2 = 439,
    LAST_KNOWN = 450,
    FCHMODAT2 = 452,
    NUMBERS = 512
};

static const uint16_t allowed[] = {
#define CALL(name) __NR_##name,
    ALLOWED_CALLS(CALL)
#if defined(__x86_64__)
        ALLOWED_X86_64_CALLS(CALL)
#endif
#undef CALL
#define CALL(name, number) number,
            ALLOWED_NEW_CALLS(CALL)
#undef CALL
};

/* What a relay process does: bytes between sockets and pipes, timers, and memory. */
static const uint16_t relay_calls[] = {
#if defined(__x86_64__)
    __NR_epoll_wait,
#endif
    __NR_accept4,      __NR_brk,        __NR_clock_gettime, __NR_close,      __NR_connect,  __NR_epoll_ctl,
    __NR_epoll_pwait,  __NR_exit,       __NR_exit_group,    __NR_fcntl,      __NR_futex,    __NR_getpeername,
    __NR_getrandom,    __NR_getsockopt, __NR_madvise,       __NR_mmap,       __NR_mprotect, __NR_mremap,
    __NR_munmap,       __NR_pipe2,      __NR_read,          __NR_recvfrom,   __NR_recvmsg,  __NR_restart_syscall,
    __NR_rt_sigreturn, __NR_sendto,     __NR_setitimer,     __NR_setsockopt, __NR_shutdown, __NR_splice,
    __NR_write,        __NR_writev};

/* Programs work without these calls when they fail with ENOSYS. */
static const uint16_t absent[] = {__NR_io_setup,  __NR_io_submit, __NR_io_getevents, __NR_io_destroy,    __NR_io_cancel,
                                  IO_URING_SETUP, IO_URING_ENTER, IO_URING_REGISTER, __NR_io_pgetevents, CLONE3};

enum { FILTER_MAX = 1024 };
static struct sock_filter filter[FILTER_MAX];
static unsigned short length;

static void add(uint16_t code, uint8_t yes, uint8_t no, uint32_t value)
{
    if (length < FILTER_MAX) filter[length++] = (struct sock_filter){code, yes, no, value};
}

static void load(size_t offset)
{
    add(BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void answer(uint32_t what)
{
    add(BPF_RET | BPF_K, 0, 0, what);
}

static void answer_errno(int number)
{
    answer(SECCOMP_RET_ERRNO | (uint32_t)number);
}

static void refuse_call(uint32_t call, int number)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call);
    answer_errno(number);
}

static size_t low_word(int argument)
{
    return offsetof(struct seccomp_data, args) + (size_t)argument * 8; /* both architectures are little-endian */
}

/* Decides the call by its argument; other calls continue after this block. */
static void refuse_by_argument(uint32_t call, int argument, uint16_t test, const uint32_t *values, int count,
                               int number)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)(2 + 2 * count), call);
    load(low_word(argument));
    for (int i = 0; i < count; i++) {
        add((uint16_t)(BPF_JMP | test | BPF_K), 0, 1, values[i]);
        answer_errno(number);
    }
    answer(SECCOMP_RET_ALLOW);
}

/* Allows the call only with one of these argument values. */
static void allow_only(uint32_t call, int argument, const uint32_t *values, int count)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)(2 + 2 * count), call);
    load(low_word(argument));
    for (int i = 0; i < count; i++) {
        add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, values[i]);
        answer(SECCOMP_RET_ALLOW);
    }
    answer_errno(EPERM);
}

/* Rejects other calling conventions, then loads the system call number. */
static void begin(void)
{
    length = 0;
    load(offsetof(struct seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (uint32_t)NATIVE);
    answer_errno(ENOSYS);
    load(offsetof(struct seccomp_data, nr));
}

/* Where root of the sandbox is root in a folder of the host, files it creates there must not grant root to others. */
static void refuse_setuid(uint32_t call, int mode, int flags)
{
    static const uint32_t bits = 06000, makes = 0100 /* O_CREAT */ | 020000000 /* O_TMPFILE */;
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, flags < 0 ? 4 : 6, call);
    if (flags >= 0) {
        load(low_word(flags));
        add(BPF_JMP | BPF_JSET | BPF_K, 0, 3, makes);
    }
    load(low_word(mode));
    add(BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
    answer_errno(EPERM);
    answer(SECCOMP_RET_ALLOW);
}

static void refuse_setuid_files(void)
{
#if defined(__x86_64__)
    refuse_setuid(__NR_chmod, 1, -1);
    refuse_setuid(__NR_creat, 1, -1);
    refuse_setuid(__NR_mknod, 1, -1);
    refuse_setuid(__NR_open, 2, 1);
#endif
    refuse_setuid(__NR_fchmod, 1, -1);
    refuse_setuid(__NR_fchmodat, 2, -1);
    refuse_setuid(FCHMODAT2, 2, -1);
    refuse_setuid(__NR_mknodat, 2, -1);
    refuse_setuid(__NR_openat, 3, 2);
    refuse_call(OPENAT2, ENOSYS); /* its mode is behind a pointer */
}

/* Tests ranges of consecutive numbers, which are fewer than the calls. */
static void allow_ranges(const uint16_t *calls, size_t count)
{
    bool listed[NUMBERS] = {false};
    for (size_t i = 0; i < count; i++) listed[calls[i]] = true;
    for (int first = 0; first < NUMBERS; first++) {
        if (!listed[first]) continue;
        int last = first;
        while (last + 1 < NUMBERS && listed[last + 1]) last++;
        add(BPF_JMP | BPF_JGE | BPF_K, 0, 2, (uint32_t)first);
        add(BPF_JMP | BPF_JGT | BPF_K, 1, 0, (uint32_t)last);
        answer(SECCOMP_RET_ALLOW);
        first = last;
    }
}

static struct sock_fprog done(void)
{
    return (struct sock_fprog){length == FILTER_MAX ? 0 : length, filter};
}

struct sock_fprog filter_sandbox(struct filter_options options)
{
    static const uint32_t automount[] = {AT_NO_AUTOMOUNT};
    static const uint32_t spaces[] = {CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC
                                      | CLONE_NEWUTS | CLONE_NEWCGROUP};
    static const uint32_t terminals[] = {TIOCSTI, 0x541c /* TIOCLINUX */};
    static const uint32_t families[] = {38 /* AF_ALG */, 40 /* AF_VSOCK */};
    static const uint32_t personalities[] = {0, 0x8, 0x20000, 0x20008, 0xffffffff};
    begin();
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) refuse_call(absent[i], ENOSYS);
    if (!options.setuid_files) refuse_setuid_files();
    refuse_by_argument(__NR_clone, 0, BPF_JSET, spaces, 1, EPERM);
    refuse_by_argument(__NR_unshare, 0, BPF_JSET, spaces, 1, EPERM);
    refuse_by_argument(__NR_ioctl, 1, BPF_JEQ, terminals, 2, EPERM);
    refuse_by_argument(__NR_socket, 0, BPF_JEQ, families, options.vsock ? 1 : 2, EAFNOSUPPORT);
    allow_only(__NR_personality, 0, personalities, 5);
    if (options.picky_statx) refuse_by_argument(__NR_statx, 2, BPF_JSET, automount, 1, ENOSYS);
    allow_ranges(allowed, sizeof allowed / sizeof *allowed);
    add(BPF_JMP | BPF_JGT | BPF_K, 0, 1, LAST_KNOWN);
    answer_errno(ENOSYS);
    answer_errno(EPERM);
    return done();
}

struct sock_fprog filter_refuse_vsock(void)
{
    static const uint32_t vsock[] = {40 /* AF_VSOCK */};
    begin();
    refuse_by_argument(__NR_socket, 0, BPF_JEQ, vsock, 1, EAFNOSUPPORT);
    answer(SECCOMP_RET_ALLOW);
    return done();
}

struct sock_fprog filter_relay(void)
{
    begin();
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 7, __NR_socket);
    load(low_word(1));
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
    load(low_word(0));
    add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AF_INET);
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, AF_INET6);
    answer(SECCOMP_RET_ALLOW);
    answer_errno(EPERM);
    allow_ranges(relay_calls, sizeof relay_calls / sizeof *relay_calls);
    answer_errno(EPERM);
    return done();
}

struct sock_fprog filter_hide_new(void)
{
    static const uint16_t new[] = {__NR_statx, __NR_execveat, OPENAT2, FACCESSAT2, CLONE3};
    begin();
    add(BPF_JMP | BPF_JGT | BPF_K, 0, 1, LAST_KNOWN);
    answer_errno(ENOSYS);
    for (size_t i = 0; i < sizeof new / sizeof *new; i++) refuse_call(new[i], ENOSYS);
    answer(SECCOMP_RET_ALLOW);
    return done();
}
