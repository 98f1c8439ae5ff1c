/*
 * Privileged system calls. A call that would have an effect is made with an argument that the kernel rejects only
 * after it has checked the permission: EPERM means refused, the other error means that the permission was granted.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#include "probe.h"

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif

/* init_module and finit_module without a module fail with ENOEXEC and EBADF after the check for CAP_SYS_MODULE. */
static void modules(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    long result = syscall(SYS_init_module, NULL, 0UL, "");
    if (result < 0 && errno != ENOEXEC && errno != EFAULT) result = syscall(SYS_finit_module, -1, "", 0);
    gate("loading a kernel module", result, OPEN_ERRORS(ENOEXEC, EFAULT, EBADF, EINVAL));
}

/* Unknown flags and too many segments fail with EINVAL after the check for CAP_SYS_BOOT. */
static void kexec(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    gate("loading another kernel", syscall(SYS_kexec_load, 0UL, 1UL << 20, NULL, 0x7000UL),
         OPEN_ERRORS(EINVAL, EADDRNOTAVAIL));
}

/* Creates a map of one element, which is freed when the probe ends. */
static void bpf(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = BPF_MAP_TYPE_ARRAY;
    attributes.key_size = 4;
    attributes.value_size = 4;
    attributes.max_entries = 1;
    gate("making a bpf map", syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes), OPEN_ERRORS(EINVAL));
}

static void perf(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof event,
                                    .config = PERF_COUNT_SW_CPU_CLOCK,
                                    .disabled = 1,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
    gate("perf_event_open", syscall(SYS_perf_event_open, &event, 0, -1, -1, 0UL), OPEN_ERRORS(EINVAL));
}

static void userfaultfd(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    gate("userfaultfd", syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */), OPEN_ERRORS(EINVAL));
}

static void io_uring(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    struct io_uring_params parameters;
    memset(&parameters, 0, sizeof parameters);
    gate("io_uring_setup", syscall(SYS_io_uring_setup, 1, &parameters), OPEN_ERRORS(EINVAL));
}

static bool key_holds(int32_t key, const char *mark)
{
    char bytes[128] = "";
    long n = syscall(SYS_keyctl, KEYCTL_READ, key, bytes, sizeof bytes);
    return n > 0 && holds(bytes, (size_t)n < sizeof bytes ? (size_t)n : sizeof bytes, mark);
}

/* keys SERIAL ID: a world-readable key, and one in the session keyring that the sandbox may have inherited */
static void keys(int count, char **arguments)
{
    (void)count;
    const char *mark = mark_of(arguments[1]);
    static const int32_t rings[] = {KEY_SPEC_SESSION_KEYRING, KEY_SPEC_USER_SESSION_KEYRING, KEY_SPEC_USER_KEYRING};
    if (key_holds(atoi(arguments[0]), mark)) got("read a key of the host by its number");
    int error = errno;
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        long key = syscall(SYS_keyctl, KEYCTL_SEARCH, rings[i], "user", mark, 0);
        if (key > 0 && key_holds((int32_t)key, mark)) got("found a key of the host in a keyring");
    }
    failed(error == ENOKEY ? ENOENT : error, "keyctl");
}

/* Invalid magic numbers fail with EINVAL after the check for CAP_SYS_BOOT. */
static void reboot(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    gate("reboot", syscall(SYS_reboot, 0, 0, 0, NULL), OPEN_ERRORS(EINVAL));
}

/*
 * Setting neither time nor zone has no effect, and a tick of zero is invalid; both after the check for CAP_SYS_TIME.
 */
static void clock_time(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    long result = syscall(SYS_settimeofday, NULL, NULL);
    struct timex t;
    memset(&t, 0, sizeof t);
    t.modes = ADJ_TICK;
    if (result < 0) result = syscall(SYS_adjtimex, &t);
    gate("setting the clock", result, OPEN_ERRORS(EINVAL));
}

/* A negative length fails with EINVAL after the check for CAP_SYS_ADMIN. */
static void host_name(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    long result = syscall(SYS_sethostname, "", -1);
    if (result < 0 && errno != EINVAL) result = syscall(SYS_setdomainname, "", -1);
    gate("setting the host name", result, OPEN_ERRORS(EINVAL));
}

/* A missing file fails with ENOENT after the check for CAP_SYS_ADMIN. */
static void swap(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    long result = syscall(SYS_swapon, "/nonexistent/swap", 0);
    if (result < 0 && errno == EPERM) result = syscall(SYS_swapoff, "/nonexistent/swap");
    if (result < 0 && errno == ENOENT) got("swapon: allowed, only the file is missing");
    failed(errno, "swapon");
}

/* A missing file fails with ENOENT after the check for CAP_SYS_PACCT. */
static void accounting(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    if (syscall(SYS_acct, "/nonexistent/acct") < 0 && errno == ENOENT) got("acct: allowed, only the file is missing");
    failed(errno, "acct");
}

/* Reads the kernel log of the host and discards it. */
static void kernel_log(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    static char log[4096];
    long n = syscall(SYS_syslog, 3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof log);
    if (n == 0) absent("the kernel log is empty");
    if (n > 0) got("read the kernel log with syslog");
    int error = errno;
    if (opens_for_writing("/dev/kmsg")) got("/dev/kmsg can be written");
    int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) got("/dev/kmsg can be read");
    fd = open("/proc/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) got("/proc/kmsg can be read");
    failed(error, "syslog");
}

static void io_ports(int count, char **arguments)
{
    (void)count;
    (void)arguments;
#ifdef SYS_ioperm
    gate("ioperm", syscall(SYS_ioperm, 0x80UL, 1UL, 1), OPEN_ERRORS(EINVAL));
#else
    absent("this machine has no io ports");
#endif
}

/*
 * other-calls: creates a user namespace by the system calls of 32-bit programs and of the x32 ABI, whose numbers a
 * seccomp filter may not cover. A kernel without them kills the attempt.
 */
static void other_calls(int count, char **arguments)
{
    (void)count;
    (void)arguments;
#if defined(__x86_64__)
    long result = syscall(0x40000000L | SYS_unshare, 0x10000000L /* CLONE_NEWUSER */);
    if (result == 0) got("unshare by the x32 ABI");
    int error = errno;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(310L /* unshare */), "b"(0x10000000L)
                     : "memory", "r8", "r9", "r10", "r11");
    if (result == 0) got("unshare by the 32-bit ABI");
    failed(result == -ENOSYS ? error : (int)-result, "other conventions of calling the kernel");
#else
    absent("this machine has no other system call ABI");
#endif
}

/* Opens the memory of the kernel without reading it. */
static void kernel_memory(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    static const char *const files[] = {"/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port"};
    int error = ENOENT;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int fd = open(files[i], O_RDONLY | O_CLOEXEC);
        if (fd >= 0) got("opened %s", files[i]);
        if (errno != ENOENT) error = errno;
    }
    failed(error, "the memory of the kernel");
}

/* Reads the addresses of kernel symbols, which are shown as zeros to unprivileged processes. */
static void kernel_addresses(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    static char symbols[4096];
    int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    if (fd < 0) failed(errno, "/proc/kallsyms");
    ssize_t n = read(fd, symbols, sizeof symbols - 1);
    if (n <= 0) absent("/proc/kallsyms is empty");
    for (char *line = symbols; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strtoull(line, NULL, 16) != 0) got("/proc/kallsyms shows addresses");
    refused(0, "/proc/kallsyms shows no address");
}

static _Noreturn void opens_any(const char *const *files, size_t count)
{
    int error = ENOENT;
    for (size_t i = 0; i < count; i++) {
        if (opens_for_writing(files[i])) got("%s can be written", files[i]);
        if (errno != ENOENT) error = errno;
    }
    failed(error, files[0]);
}

/* Opens files for writing without writing. */
static void settings(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    static const char *const files[] = {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe",
                                        "/proc/sys/kernel/hotplug",      "/proc/sys/kernel/randomize_va_space",
                                        "/proc/sys/vm/drop_caches",      "/proc/sys/vm/overcommit_memory",
                                        "/proc/sys/fs/file-max",         "/proc/sys/fs/binfmt_misc/register",
                                        "/proc/sys/kernel/panic",        "/proc/sys/kernel/sysrq"};
    opens_any(files, sizeof files / sizeof *files);
}

static void sysrq(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    static const char *const files[] = {"/proc/sysrq-trigger"};
    opens_any(files, 1);
}

/* sysfs: settings that could run a program on the host or halt the machine */
static void sysfs(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    static const char *const files[] = {"/sys/kernel/uevent_helper",
                                        "/sys/power/state",
                                        "/sys/kernel/mm/transparent_hugepage/enabled",
                                        "/sys/kernel/mm/ksm/run",
                                        "/sys/kernel/kexec_crash_size",
                                        "/sys/devices/system/cpu/cpu1/online",
                                        "/sys/bus/pci/rescan",
                                        "/sys/module/printk/parameters/time",
                                        "/sys/kernel/debug/sched/features",
                                        "/sys/kernel/tracing/tracing_on"};
    opens_any(files, sizeof files / sizeof *files);
}

const struct probe kernel_probes[] = {{"modules", 0, modules},
                                      {"kexec", 0, kexec},
                                      {"bpf", 0, bpf},
                                      {"perf", 0, perf},
                                      {"userfaultfd", 0, userfaultfd},
                                      {"io-uring", 0, io_uring},
                                      {"keys", 2, keys},
                                      {"reboot", 0, reboot},
                                      {"clock", 0, clock_time},
                                      {"host-name", 0, host_name},
                                      {"swap", 0, swap},
                                      {"accounting", 0, accounting},
                                      {"kernel-log", 0, kernel_log},
                                      {"io-ports", 0, io_ports},
                                      {"other-calls", 0, other_calls},
                                      {"kernel-memory", 0, kernel_memory},
                                      {"kernel-addresses", 0, kernel_addresses},
                                      {"settings", 0, settings},
                                      {"sysrq", 0, sysrq},
                                      {"sysfs", 0, sysfs},
                                      {0}};
