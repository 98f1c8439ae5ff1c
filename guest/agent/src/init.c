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
#include "listen.h"
#include "process_tree.h"
#include "supervisor.h"

enum { AGENT_PRIORITY = -20 };

#define MODULES "/modules"

enum { MODULES_MAX = 256, PORT_MS = 30000, SYNC_SECONDS = 5, WARM_UP_MS = 5000, FILE_PIECES = 64 };

static bool active;
static struct init_channel channel;

bool init_is_requested(int count, char **words)
{
    return getpid() == 1 && count > 0 && strcmp(words[0], "/init") == 0;
}

bool init_is_active(void)
{
    return active;
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
    fprintf(stderr, "isola-agent: cannot %s: %s\n", step, reason);
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
    struct init_result result = {.port = -1};
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

static void limit_threads(struct fields record)
{
    char number[24];
    uint64_t limit = fields_u64(record, T_THREAD_LIMIT, 0);
    snprintf(number, sizeof number, "%llu", (unsigned long long)limit);
    if (limit && !write_text("/proc/sys/kernel/threads-max", number)) failed("limit the threads", strerror(errno));
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
    if (!write_text("/proc/self/oom_score_adj", "-1000") || setpriority(PRIO_PROCESS, 0, AGENT_PRIORITY) != 0)
        failed("protect the agent", strerror(errno));
}

static void switch_root(void)
{
    require(init_root_switch());
    require(etc_files_mount());
    require(init_root_devices());
}

static void read_file(const char *path)
{
    char piece[4096];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < FILE_PIECES && read(fd, piece, sizeof piece) > 0; i++)
        ;
    if (fd >= 0) close(fd);
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
 * Loads what the first command needs into memory, which copies of the machine share: the users, a supervisor, and a
 * program of the image that does nothing, with its libraries. Ends everything if the program leaves others behind.
 */
static void warm_up(void)
{
    static char *words[] = {"/bin/sh", "-c", ":", NULL}, *variables[] = {"PATH=/usr/bin:/bin", NULL};
    read_file("/etc/passwd");
    read_file("/etc/group");
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
    active = true;
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
    bool early = read_command_line(folder, sizeof folder), made = false;
    if (early) {
        switch_root();
        warm_up();
        made = mkdir(folder, 0755) == 0;
    }
    struct init_result result = await_record(boot);
    if (!identity_apply(boot->fields)) failed("apply the identity", strerror(errno));
    if (!early) switch_root();
    if (made && !has_workspace(boot->fields, folder)) rmdir(folder);
    require(init_root_complete(boot->fields));
    if (!etc_files_write(boot->fields)) failed("write the files in /etc", strerror(errno));
    limit_threads(boot->fields);
    start_network(boot->fields);
    tree_expect_kernel_threads();
    return result;
}
