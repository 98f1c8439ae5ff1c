/* Drops capabilities and installs the system call filter before the agent runs any command. */
#include "privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.h"

/*
 * Detects kernels (old gVisor) whose statx rejects a flag that ls always sets. When the filter fails the call with
 * ENOSYS, the C library falls back to another one.
 */
static bool statx_is_strict(void)
{
    struct statx s;
    return statx(AT_FDCWD, "/", AT_NO_AUTOMOUNT, STATX_TYPE, &s) != 0 && errno == EINVAL;
}

bool capability_drop(int capability)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2];
    if (prctl(PR_CAPBSET_READ, capability) == 1 && prctl(PR_CAPBSET_DROP, capability) != 0) return false;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, capability, 0, 0);
    if (syscall(SYS_capget, &header, sets) != 0) return false;
    struct __user_cap_data_struct *set = &sets[capability / 32];
    uint32_t others = ~(1u << capability % 32);
    set->permitted &= others;
    set->effective &= others;
    set->inheritable &= others;
    return syscall(SYS_capset, &header, sets) == 0;
}

bool capabilities_drop_all(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    return syscall(SYS_capset, &header, none) == 0;
}

bool capabilities_lock(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2];
    if (syscall(SYS_capget, &header, sets) != 0) return false;
    uint64_t kept = sets[0].permitted | (uint64_t)sets[1].permitted << 32;
    if (!(kept >> CAP_SETPCAP & 1)) return true; /* without CAP_SETPCAP the bounding set cannot be changed */
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

static bool install(struct sock_fprog program)
{
    if (!program.len) {
        errno = E2BIG;
        return false;
    }
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static struct sock_fprog of_commands; /* length 0 when commands have the agent's filter only */

bool seccomp_install(bool setuid_files, bool vsock)
{
    struct filter_options options = {setuid_files, statx_is_strict(), vsock};
    if (!install(filter_sandbox(options))) return false;
    if (vsock) of_commands = filter_refuse_vsock();
    return true;
}

bool seccomp_confine_command(void)
{
    return !of_commands.len || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &of_commands) == 0;
}

bool seccomp_confine_relay(void)
{
    return install(filter_relay());
}

bool seccomp_hide_new_syscalls(void)
{
    return install(filter_hide_new());
}
