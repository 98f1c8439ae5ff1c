/*
 * A filter that names what is refused; what is not named is left to namespaces and capabilities. Numbers that this
 * build does not know are answered with ENOSYS, so that a new system call is not let in unseen, and so are the other
 * calling conventions of the machine (32 bit), whose numbers mean something else.
 */
#include "seal.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { NATIVE = (int)AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { NATIVE = (int)AUDIT_ARCH_AARCH64 };
#else
#error "the filter knows x86_64 and aarch64"
#endif

/* The same number on every architecture. */
enum { OPEN_TREE = 428, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, FSPICK, CLONE3 = 435, OPENAT2 = 437,
       FACCESSAT2 = 439, MOUNT_SETATTR = 442, QUOTACTL_FD = 443, IO_URING_SETUP = 425, IO_URING_ENTER,
       IO_URING_REGISTER, LAST_KNOWN = 450 };

static const uint16_t refused[] = {
    /* file systems */
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, FSPICK,
    MOUNT_SETATTR, __NR_swapon, __NR_swapoff, __NR_quotactl, QUOTACTL_FD, __NR_open_by_handle_at, __NR_fanotify_init,
    __NR_acct, __NR_nfsservctl, __NR_lookup_dcookie,
    /* namespaces; clone and unshare are looked at below */
    __NR_setns,
    /* the kernel itself */
    __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_kexec_load,
#ifdef __NR_kexec_file_load
    __NR_kexec_file_load,
#endif
    __NR_reboot, __NR_syslog, __NR_bpf, __NR_perf_event_open, __NR_userfaultfd, __NR_kcmp,
    /* keys are not in any namespace */
    __NR_add_key, __NR_request_key, __NR_keyctl,
    /* the machine's clock, name and processors */
    __NR_settimeofday, __NR_clock_settime, __NR_sethostname, __NR_setdomainname, __NR_vhangup, __NR_migrate_pages,
    __NR_move_pages, __NR_mbind, __NR_set_mempolicy,
#if defined(__x86_64__)
    __NR_iopl, __NR_ioperm, __NR_modify_ldt, __NR__sysctl, __NR_uselib, __NR_ustat, __NR_sysfs, __NR_create_module,
    __NR_get_kernel_syms, __NR_query_module,
#endif
};

static const uint16_t absent[] = {IO_URING_SETUP, IO_URING_ENTER, IO_URING_REGISTER, CLONE3};

enum { FILTER_MAX = 256 };
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

/* The call is answered here, by what its argument is; the others go on behind it. */
static void look_at(uint32_t call, int argument, uint16_t test, const uint32_t *values, int count, int number)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)(2 + 2 * count), call);
    load(low_word(argument));
    for (int i = 0; i < count; i++) {
        add((uint16_t)(BPF_JMP | test | BPF_K), 0, 1, values[i]);
        answer_errno(number);
    }
    answer(SECCOMP_RET_ALLOW);
}

/* Other calling conventions and numbers are answered; the number of the call is at hand behind it. */
static void begin(void)
{
    load(offsetof(struct seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (uint32_t)NATIVE);
    answer_errno(ENOSYS);
    load(offsetof(struct seccomp_data, nr));
    add(BPF_JMP | BPF_JGT | BPF_K, 0, 1, LAST_KNOWN);
    answer_errno(ENOSYS);
}

/*
 * A kernel (old gVisor) that refuses a flag which ls sets on everything it looks at. Refused by us as if there were no
 * such call, the C library asks in another way.
 */
static bool statx_is_picky(void)
{
    struct statx s;
    return statx(AT_FDCWD, "/", AT_NO_AUTOMOUNT, STATX_TYPE, &s) != 0 && errno == EINVAL;
}

/* Where root of the sandbox is root in a folder of the host, what it makes there must not make others root. */
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
    refuse_setuid(__NR_mknodat, 2, -1);
    refuse_setuid(__NR_openat, 3, 2);
    refuse_call(OPENAT2, ENOSYS); /* the mode is behind a pointer */
}

static void build(bool setuid_files)
{
    static const uint32_t automount[] = {AT_NO_AUTOMOUNT};
    static const uint32_t spaces[] = {CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC
                                      | CLONE_NEWUTS | CLONE_NEWCGROUP};
    static const uint32_t terminals[] = {TIOCSTI, 0x541c /* TIOCLINUX */};
    static const uint32_t families[] = {38 /* AF_ALG */, 40 /* AF_VSOCK */};
    begin();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) refuse_call(refused[i], EPERM);
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) refuse_call(absent[i], ENOSYS);
    if (!setuid_files) refuse_setuid_files();
    look_at(__NR_clone, 0, BPF_JSET, spaces, 1, EPERM);
    look_at(__NR_unshare, 0, BPF_JSET, spaces, 1, EPERM);
    look_at(__NR_ioctl, 1, BPF_JEQ, terminals, 2, EPERM);
    look_at(__NR_socket, 0, BPF_JEQ, families, 2, EAFNOSUPPORT);
    if (statx_is_picky()) look_at(__NR_statx, 2, BPF_JSET, automount, 1, ENOSYS);
    answer(SECCOMP_RET_ALLOW);
}

bool capabilities_seal(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2];
    if (syscall(SYS_capget, &header, sets) != 0) return false;
    uint64_t kept = sets[0].permitted | (uint64_t)sets[1].permitted << 32;
    if (!(kept >> CAP_SETPCAP & 1)) return true; /* not ours to give up */
    kept &= ~(1ull << CAP_SETPCAP);
    for (int i = 0; i < 64 && prctl(PR_CAPBSET_READ, i) >= 0; i++)
        if (!(kept >> i & 1) && prctl(PR_CAPBSET_DROP, i) != 0) return false;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int i = 0; i < 2; i++) {
        sets[i].permitted = sets[i].effective = (uint32_t)(kept >> 32 * i);
        sets[i].inheritable = 0;
    }
    return syscall(SYS_capset, &header, sets) == 0;
}

static bool install(void)
{
    struct sock_fprog program = {length, filter};
    if (length == FILTER_MAX) {
        errno = E2BIG;
        return false;
    }
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool seccomp_refuse(bool setuid_files)
{
    build(setuid_files);
    return install();
}

bool seccomp_hide_new(void)
{
    static const uint16_t new[] = {__NR_statx, __NR_execveat, OPENAT2, FACCESSAT2, CLONE3};
    begin();
    for (size_t i = 0; i < sizeof new / sizeof *new; i++) refuse_call(new[i], ENOSYS);
    answer(SECCOMP_RET_ALLOW);
    return install();
}
