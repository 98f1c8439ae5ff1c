#include "init.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "boot_wait.h"
#include "etc_files.h"
#include "freeze.h"
#include "identity.h"
#include "init_network.h"
#include "init_parse.h"
#include "init_root.h"
#include "init_state.h"
#include "listen.h"
#include "loop.h"
#include "process_tree.h"
#include "sudo_listen.h"
#include "supervisor.h"
#include "user.h"

enum { AGENT_PRIORITY = -20 };

#define MODULES "/modules"

enum { MODULES_MAX = 256, PORT_MS = 30000, SYNC_SECONDS = 5, WARM_UP_MS = 5000 };
enum { PROGRAM_MAX = 64 << 10, PROGRAMS_MAX = 8 << 20, PROGRAMS_COUNT = 4096 };

static struct init_channel channel;

bool init_is_requested(int count, char **words)
{
    return getpid() == 1 && count > 0 && strcmp(words[0], "/init") == 0;
}

static void *write_cache(void *unused)
{
    (void)unused;
    sync();
    return NULL;
}

void init_reset(void)
{
    pthread_t thread;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SYNC_SECONDS;
    if (pthread_create(&thread, NULL, write_cache, NULL) == 0) pthread_timedjoin_np(thread, NULL, &until);
    reboot(RB_AUTOBOOT);
    _exit(1); /* the kernel panics */
}

static _Noreturn void failed(const char *step, const char *reason)
{
    dprintf(init_console(), "isola-agent: cannot %s: %s\n", step, reason);
    init_reset();
}

static void require(const char *problem)
{
    if (problem) failed(problem, strerror(errno));
}

static void open_console(void)
{
    int fd = open("/dev/console", O_RDWR | O_NOCTTY | O_CLOEXEC);
    for (int i = 0; i < 3 && fd >= 0; i++) dup2(fd, i);
    if (fd > 2) close(fd);
}

/* Commands must not get the console. It stays open: to close a terminal is much work for the kernel. */
static void release_console(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), kept = fcntl(2, F_DUPFD_CLOEXEC, 3);
    if (null < 0 || kept < 0) failed("leave the console", strerror(errno));
    init_set_console(kept);
    for (int i = 0; i < 3; i++) dup2(null, i);
    close(null);
}

/* Loads a driver and frees the memory of its file. One that the machine does not need may fail. */
static void load_module(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) != 0 && errno != EEXIST))
        fprintf(stderr, "isola-agent: cannot load %s: %s\n", name, strerror(errno));
    if (fd >= 0) close(fd);
    unlinkat(folder, name, 0);
}

static void load_modules(void)
{
    char *names[MODULES_MAX];
    size_t count = 0;
    DIR *folder = opendir(MODULES);
    if (!folder) return;
    for (struct dirent *entry; count < MODULES_MAX && (entry = readdir(folder));)
        if (init_is_module(entry->d_name) && (names[count] = strdup(entry->d_name))) count++;
    qsort(names, count, sizeof *names, init_compare_names);
    for (size_t i = 0; i < count; i++) {
        load_module(dirfd(folder), names[i]);
        free(names[i]);
    }
    closedir(folder);
    rmdir(MODULES);
}

/* Finds the channel. Returns true if the root is to be mounted before the boot record arrives, and `folder` made. */
static bool read_command_line(char *folder, size_t capacity)
{
    char line[4096];
    int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (length < 0) failed("read the kernel's command line", strerror(errno));
    close(fd);
    line[length] = 0;
    if (!init_parse_channel(line, &channel))
        failed("find the channel",
               "the kernel's command line needs isola.channel=port:NAME or isola.channel=vsock:PORT");
    return init_parse_early_root(line, folder, capacity);
}

/* The port appears some time after its driver is loaded. */
static int open_port(void)
{
    static const struct timespec pause = {0, 5000000};
    int fd;
    for (int waited = 0; (fd = open_virtio_port(channel.name)) < 0; waited += 5) {
        if (waited >= PORT_MS) failed("open the virtio port", strerror(errno));
        nanosleep(&pause, NULL);
    }
    return fd;
}

static struct init_result await_record(struct boot *boot)
{
    struct init_result result = {.port = -1, .memory_events = open("/proc/vmstat", O_RDONLY | O_CLOEXEC)};
    const char *problem;
    bool ok;
    if (channel.kind == CHANNEL_PORT) {
        result.port = open_port();
        ok = boot_wait_port(result.port, boot, &problem);
    } else {
        struct dial_address address;
        result.dial = channel.name;
        problem = dial_address_parse(channel.name, &address);
        ok = !problem && boot_wait_dial(&address, boot, &problem);
    }
    if (!ok) failed("read the boot record", problem);
    return result;
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return ok;
}

/* A kernel that has failed must end the machine: its locks stay locked, so that commands would hang. */
static void end_on_kernel_failure(void)
{
    if (!write_text("/proc/sys/kernel/panic", "-1") || !write_text("/proc/sys/kernel/panic_on_oops", "1"))
        failed("set the reaction to a kernel failure", strerror(errno));
}

static void limit_threads(int file, struct fields record)
{
    char digits[20], *end = digits + sizeof digits, *first = end;
    for (uint64_t rest = fields_u64(record, T_THREAD_LIMIT, 0); rest; rest /= 10) *--first = (char)('0' + rest % 10);
    if (first < end && write(file, first, (size_t)(end - first)) < 0) failed("limit the threads", strerror(errno));
    close(file);
}

static void start_network(struct fields record)
{
    struct init_network network;
    char *text = fields_text(record, T_NETWORK);
    if (!text) return;
    if (!init_parse_network(text, &network)) failed("set up the network", "NETWORK is not ADDRESS/PREFIX GATEWAY");
    if (!init_network_up(&network)) failed("set up the network", strerror(errno));
    free(text);
}

/* Commands get the default priority: the agent must be able to end a fork bomb that uses all processors. */
static void protect_agent(void)
{
    if (!write_text("/proc/self/oom_score_adj", INIT_OOM_SCORE) || setpriority(PRIO_PROCESS, 0, AGENT_PRIORITY) != 0)
        failed("protect the agent", strerror(errno));
}

static void switch_root(void)
{
    require(init_root_switch());
    require(etc_files_mount());
    require(init_root_devices());
}

static void read_program(int folder, const char *name, off_t *left)
{
    char piece[4096];
    struct stat st;
    int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= PROGRAM_MAX && st.st_size <= *left) {
        *left -= st.st_size;
        for (off_t at = 0; at < st.st_size && read(fd, piece, sizeof piece) > 0; at += (off_t)sizeof piece)
            ;
    }
    close(fd);
}

/* Reads the small programs of a folder, so that the first command does not wait for the disk. */
static void read_programs(const char *path)
{
    off_t left = PROGRAMS_MAX;
    DIR *folder = opendir(path);
    if (!folder) return;
    struct dirent *entry;
    for (int i = 0; i < PROGRAMS_COUNT && (entry = readdir(folder)); i++)
        read_program(dirfd(folder), entry->d_name, &left);
    closedir(folder);
}

/* Waits for the end of the command of a supervisor. Returns true if no process of it is left. */
static bool await_end(int control)
{
    struct report report;
    for (;;) {
        struct pollfd ready = {.fd = control, .events = POLLIN};
        if (poll(&ready, 1, WARM_UP_MS) != 1 || recv(control, &report, sizeof report, 0) != (ssize_t)sizeof report)
            return false;
        if (report.kind == REPORT_ENDED) return report.is_free;
        if (report.kind == REPORT_FAILED) return false;
    }
}

/*
 * Loads what the first command needs into memory, which copies of the machine share: small programs, the users, a
 * supervisor, and a program of the image that does nothing, with its libraries. Ends everything if the program leaves
 * others behind.
 */
static void warm_up(void)
{
    static char *words[] = {"/bin/sh", "-c", ":", NULL}, *variables[] = {"PATH=/usr/bin:/bin", NULL};
    struct user root;
    read_programs("/bin");
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), control;
    struct launch launch = {.arguments = words,
                            .environment = variables,
                            .search_path = "/bin",
                            .cwd = "/",
                            .input = null,
                            .output = null,
                            .error = null};
    pid_t supervisor = supervisor_start(&launch, &control);
    if (supervisor > 0 && await_end(control)) {
        supervisor_free(supervisor, control);
    } else {
        if (supervisor > 0) close(control);
        kill(-1, SIGKILL);
        while (waitpid(-1, NULL, 0) > 0)
            ;
    }
    if (null >= 0) close(null);
    user_by_uid(0, &root);
    sudo_prepare();
    tree_keeps_orphans();
    now_ns();
}

static bool has_workspace(struct fields record, const char *folder)
{
    char *path = fields_text(record, T_WORKSPACE);
    bool same = path && strcmp(path, folder) == 0;
    free(path);
    return same;
}

struct init_result init_run(struct boot *boot)
{
    init_set_active();
    setsid();
    umask(022);
    const char *problem = init_root_begin();
    open_console(); /* which the kernel may not have been able to do without /dev */
    require(problem);
    end_on_kernel_failure();
    load_modules();
    if (!init_network_loopback()) failed("set up lo", strerror(errno));
    protect_agent();
    freeze_prepare();
    char folder[64];
    bool early = read_command_line(folder, sizeof folder), made = false, present = false;
    if (early) {
        switch_root();
        warm_up();
        made = mkdir(folder, 0755) == 0;
        present = made || errno == EEXIST;
    }
    int threads = open("/proc/sys/kernel/threads-max", O_WRONLY | O_CLOEXEC);
    if (threads < 0) failed("open the limit of threads", strerror(errno));
    identity_prepare();
    release_console();
    struct init_result result = await_record(boot);
    if (!identity_apply(boot->fields)) failed("apply the identity", strerror(errno));
    if (!early) switch_root();
    if (made && !has_workspace(boot->fields, folder)) rmdir(folder);
    require(init_root_complete(boot->fields, present ? folder : NULL));
    if (!etc_files_write(boot->fields)) failed("write the files in /etc", strerror(errno));
    limit_threads(threads, boot->fields);
    start_network(boot->fields);
    tree_expect_kernel_threads();
    return result;
}
