/* Inherited state: descriptors, environment, session, privileges, and whether the kernel is the host's. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "probe.h"

extern char **environ;

enum { DESCRIPTORS_MAX = 65536, STATUS_MAX = 8192 };

/* descriptors [own]: any beyond the three standard ones; with `own`, opens one first */
static void descriptors(int count, char **arguments)
{
    (void)arguments;
    if (count > 0) dup(STDIN_FILENO);
    for (int fd = 3; fd < DESCRIPTORS_MAX; fd++) {
        if (fcntl(fd, F_GETFD) < 0) continue;
        char path[64], target[256] = "?";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n > 0) target[n] = 0;
        got("descriptor %d is open: %s", fd, target);
    }
    refused(0, "only standard input, output and error are open");
}

/* environment DIGEST...: digests of NAME=VALUE in the environment of the server */
static void environment(int count, char **arguments)
{
    for (char **variable = environ; *variable; variable++)
        for (int i = 0; i < count; i++)
            if (digest_of(*variable, strlen(*variable)) == strtoull(arguments[i], NULL, 16))
                got("the server's variable %.*s is set", (int)strcspn(*variable, "="), *variable);
    refused(0, "no variable of the server is set");
}

/* Reads the boot id of the kernel. Returns false if there is none, or if the sandbox has another file in its place. */
static bool boot_id(char *here, size_t size)
{
    static const char path[] = "/proc/sys/kernel/random/boot_id";
    struct statfs file_system;
    return statfs(path, &file_system) == 0 && file_system.f_type == PROC_SUPER_MAGIC && read_text(path, here, size);
}

/* Returns whether this may be the kernel with that boot id; only a different id proves otherwise. */
static bool same_kernel(const char *boot)
{
    char here[64];
    return !boot_id(here, sizeof here) || strcmp(here, boot) == 0;
}

/* kernel BOOT: whether the sandbox runs on the kernel of the host */
static void kernel(int count, char **arguments)
{
    (void)count;
    char here[64];
    if (!boot_id(here, sizeof here)) absent("this kernel has no boot id");
    if (strcmp(here, arguments[0]) == 0) got("the kernel is the host's");
    refused(0, "the kernel is another one");
}

static bool namespace_is(const char *kind, const char *number)
{
    char path[64], name[64] = "", wanted[64];
    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    snprintf(wanted, sizeof wanted, "%s:[%s]", kind, number);
    ssize_t n = readlink(path, name, sizeof name - 1);
    if (n < 0) absent("%s: %s", path, error_name(errno));
    return strcmp(name, wanted) == 0;
}

/* namespace KIND NUMBER BOOT: whether a namespace is the host's; numbers are comparable only on the same kernel */
static void namespace(int count, char **arguments)
{
    (void)count;
    if (!namespace_is(arguments[0], arguments[1])) refused(0, "the %s namespace is another one", arguments[0]);
    if (!same_kernel(arguments[2])) refused(0, "the kernel is another one");
    got("the %s namespace is the host's", arguments[0]);
}

/* session SID NUMBER BOOT: whether the session, and with it the terminal and process group, is the server's */
static void session(int count, char **arguments)
{
    (void)count;
    pid_t session = getsid(0), group = getpgrp();
    if (session == 0 || group == 0) got("the leader of the session or the group is outside");
    if (session == atoi(arguments[0]) && namespace_is("pid", arguments[1]) && same_kernel(arguments[2]))
        got("the session is the server's");
    refused(0, "the session is its own");
}

static char status[STATUS_MAX];

static unsigned long long status_of(const char *field, int base)
{
    if (!status[0]) {
        ssize_t n = read_file("/proc/self/status", status, sizeof status - 1);
        if (n <= 0) absent("/proc/self/status: %s", error_name(errno));
    }
    char *line = strstr(status, field);
    if (!line) absent("this kernel does not tell %s", field);
    return strtoull(line + strlen(field) + 1, NULL, base);
}

static const char *const capability_names[] = {"CHOWN",
                                               "DAC_OVERRIDE",
                                               "DAC_READ_SEARCH",
                                               "FOWNER",
                                               "FSETID",
                                               "KILL",
                                               "SETGID",
                                               "SETUID",
                                               "SETPCAP",
                                               "LINUX_IMMUTABLE",
                                               "NET_BIND_SERVICE",
                                               "NET_BROADCAST",
                                               "NET_ADMIN",
                                               "NET_RAW",
                                               "IPC_LOCK",
                                               "IPC_OWNER",
                                               "SYS_MODULE",
                                               "SYS_RAWIO",
                                               "SYS_CHROOT",
                                               "SYS_PTRACE",
                                               "SYS_PACCT",
                                               "SYS_ADMIN",
                                               "SYS_BOOT",
                                               "SYS_NICE",
                                               "SYS_RESOURCE",
                                               "SYS_TIME",
                                               "SYS_TTY_CONFIG",
                                               "MKNOD",
                                               "LEASE",
                                               "AUDIT_WRITE",
                                               "AUDIT_CONTROL",
                                               "SETFCAP",
                                               "MAC_OVERRIDE",
                                               "MAC_ADMIN",
                                               "SYSLOG",
                                               "WAKE_ALARM",
                                               "BLOCK_SUSPEND",
                                               "AUDIT_READ",
                                               "PERFMON",
                                               "BPF",
                                               "CHECKPOINT_RESTORE"};

/* What container engines grant root by default: files, users and low ports, but nothing that affects the machine. */
static bool is_ordinary(int capability)
{
    static const int ordinary[] = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31};
    for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++)
        if (ordinary[i] == capability) return true;
    return false;
}

/* capabilities: any that a container does not need, in any of the sets */
static void capabilities(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    static const char *const sets[] = {"CapEff:", "CapPrm:", "CapInh:", "CapAmb:", "CapBnd:"};
    char found[400] = "";
    for (size_t i = 0; i < sizeof sets / sizeof *sets && !found[0]; i++) {
        unsigned long long set = status_of(sets[i], 16);
        for (int c = 0; c < (int)(sizeof capability_names / sizeof *capability_names); c++) {
            size_t used = strlen(found);
            if ((set >> c & 1) && !is_ordinary(c))
                snprintf(found + used, sizeof found - used, "%s%s", used ? " " : sets[i], capability_names[c]);
        }
    }
    if (found[0]) got("%s", found);
    refused(0, "CapEff %llx, CapBnd %llx", status_of("CapEff:", 16), status_of("CapBnd:", 16));
}

/* seccomp: whether every system call is allowed */
static void seccomp(int count, char **arguments)
{
    (void)count;
    (void)arguments;
    if (status_of("Seccomp:", 10) == 0) got("no filter is in place");
    refused(0, "a filter is in place");
}

static bool root_is_the_hosts(void)
{
    char map[256];
    unsigned inside = 1, outside = 1;
    return read_text("/proc/self/uid_map", map, sizeof map) && sscanf(map, "%u %u", &inside, &outside) == 2
           && inside == 0 && outside == 0;
}

/* setuid BOOT: whether a program of the host would make its caller root of the host */
static void setuid_program(int count, char **arguments)
{
    (void)count;
    static const char *const programs[] = {"/usr/bin/su",     "/usr/bin/sudo",    "/usr/bin/passwd", "/usr/bin/mount",
                                           "/usr/bin/newgrp", "/usr/bin/chsh",    "/usr/bin/chfn",   "/usr/bin/pkexec",
                                           "/usr/bin/umount", "/usr/bin/gpasswd", "/bin/su",         "/bin/mount"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof programs / sizeof *programs && !found; i++) {
        struct stat s;
        struct statvfs v;
        if (stat(programs[i], &s) == 0 && (s.st_mode & S_ISUID) && s.st_uid == 0 && statvfs(programs[i], &v) == 0
            && !(v.f_flag & ST_NOSUID))
            found = programs[i];
    }
    if (!found) absent("no program sets its user to root");
    if (status_of("NoNewPrivs:", 10) != 0) refused(0, "no new privileges are to be had");
    if (!root_is_the_hosts()) refused(0, "root here is another user of the host");
    if (!same_kernel(arguments[0])) refused(0, "the kernel is another one");
    got("%s gives the host's root", found);
}

const struct probe state_probes[] = {
    {"descriptors", 0, descriptors}, {"environment", 1, environment}, {"kernel", 1, kernel},
    {"namespace", 3, namespace},     {"session", 3, session},         {"capabilities", 0, capabilities},
    {"seccomp", 0, seccomp},         {"setuid", 1, setuid_program},   {0}};
