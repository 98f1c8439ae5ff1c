/*
 * The guest agent: PID 1 of a sandbox, or a subreaper where the sandbox has no pid namespace. It reads its boot record,
 * listens or dials, and serves one server until its deadline or its shutdown. PROTOCOL.md specifies the protocol.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "boot.h"
#include "boot_listen.h"
#include "bridge.h"
#include "connection.h"
#include "detach.h"
#include "dial.h"
#include "disk_budget.h"
#include "dispatch.h"
#include "egress.h"
#include "events.h"
#include "execution.h"
#include "execution_io.h"
#include "execution_launch.h"
#include "execution_request.h"
#include "freeze.h"
#include "hold.h"
#include "host_relay.h"
#include "init.h"
#include "init_network.h"
#include "init_state.h"
#include "lifetime.h"
#include "listen.h"
#include "loop.h"
#include "operations.h"
#include "path.h"
#include "process_limit.h"
#include "relay.h"
#include "sandbox_limits.h"
#include "privileges.h"
#include "stream_table.h"
#include "sudo.h"
#include "sudo_listen.h"
#include "supervisor.h"
#include "user.h"

enum { BOOT_WAIT_MS = 5000 };

struct options {
    int boot_fd, boot_peer, listen_fd, port_fd, memory_events, process_events;
    bool detach, stdio, report, own_events, own_disk;
    const char *boot_listen, *vsock, *port_name, *dial;
};

static void usage(void)
{
    fprintf(stderr,
            "usage: isola-agent [--boot-fd N | --boot-listen SOCKET] [--detach] [--instance ID] [--sandbox ID]\n"
            "                   [--dial ADDRESS | --listen-fd N | --stdio | --vsock PORT | --port-name NAME]\n"
            "                   [--report] [--memory-events-fd N] [--process-events-fd N] [--own-events] [--own-disk]\n"
            "       isola-agent --probe-namespaces | --bridge SOCKET | --boot-bridge SOCKET | --relay SOCKET | --sudo\n"
            "The guest agent of Isola (%s). Providers start it; see PROTOCOL.md.\n",
            agent_build);
    exit(2);
}

static struct options parse(int count, char **words)
{
    struct options o = {
        .boot_fd = 0, .boot_peer = -1, .listen_fd = -1, .port_fd = -1, .memory_events = -1, .process_events = -1};
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        if (strcmp(word, "--detach") == 0) {
            o.detach = true;
            continue;
        }
        if (strcmp(word, "--stdio") == 0) {
            o.stdio = true;
            continue;
        }
        if (strcmp(word, "--report") == 0) {
            o.report = true;
            continue;
        }
        if (strcmp(word, "--own-events") == 0) {
            o.own_events = true;
            continue;
        }
        if (strcmp(word, "--own-disk") == 0) {
            o.own_disk = true;
            continue;
        }
        if (strcmp(word, "--sudo") == 0) exit(sudo_serve(0));
        if (strcmp(word, "--probe-namespaces") == 0) exit(namespaces_available() ? 0 : 1);
        if (i + 1 == count) usage();
        const char *value = words[++i];
        if (strcmp(word, "--bridge") == 0) exit(bridge(value, 0));
        if (strcmp(word, "--boot-bridge") == 0) exit(bridge(value, BOOT_WAIT_MS));
        if (strcmp(word, "--relay") == 0) exit(host_relay(value));
        if (strcmp(word, "--boot-fd") == 0)
            o.boot_fd = atoi(value);
        else if (strcmp(word, "--boot-listen") == 0)
            o.boot_listen = value;
        else if (strcmp(word, "--listen-fd") == 0)
            o.listen_fd = atoi(value);
        else if (strcmp(word, "--memory-events-fd") == 0)
            o.memory_events = atoi(value);
        else if (strcmp(word, "--process-events-fd") == 0)
            o.process_events = atoi(value);
        else if (strcmp(word, "--vsock") == 0)
            o.vsock = value;
        else if (strcmp(word, "--port-name") == 0)
            o.port_name = value;
        else if (strcmp(word, "--dial") == 0)
            o.dial = value;
        else if (strcmp(word, "--instance") != 0 && strcmp(word, "--sandbox") != 0)
            usage();
    }
    if (o.boot_listen && (o.boot_fd || o.dial || o.detach)) usage();
    if ((o.dial || o.boot_listen) && (o.listen_fd >= 0 || o.stdio || o.vsock || o.port_name)) usage();
    return o;
}

/* For PID 1, a sender with a pid in this namespace is a guest process, which must not be able to end the agent. */
static bool is_from_inside(const struct signalfd_siginfo *info)
{
    return getpid() == 1 && info->ssi_code <= 0 && info->ssi_pid != 0;
}

static void signal_ready(struct watch *w, uint32_t what)
{
    (void)what;
    struct signalfd_siginfo info;
    while (read(w->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGIO) dial_folder_changed();
        if ((info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) && !is_from_inside(&info)) lifetime_end("signal");
    }
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) executions_reaped(pid, status);
}

/* All signals arrive here, in the main thread; commands get the default dispositions before they start. */
static void catch_signals(void)
{
    static struct watch watch = {.ready = signal_ready};
    /* Every command would inherit the signals that the parent process ignores. */
    for (int i = 1; i < 32; i++) signal(i, i == SIGPIPE ? SIG_IGN : SIG_DFL);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGIO);
    watch.fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    loop_watch(&watch, EPOLLIN);
}

static void setup_file_view(const struct boot *b)
{
    file_view.user = b->user;
    file_view.cwd = b->cwd ? b->cwd : b->root ? b->root : "/";
    if (!b->root) return;
    file_view.root = b->root;
    file_view.mount = b->mount;
    file_view.root_fd = open(b->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    path_start_at(b->cwd);
    if (file_view.root_fd < 0) detach_failed("cannot open the workspace %s: %s", b->root, strerror(errno));
}

/* Gives a folder created for the sandbox to its user, which could not use it otherwise. */
static void chown_workspace(const struct boot *b)
{
    char *folder = b->user ? fields_text(b->fields, T_WORKSPACE) : NULL;
    struct user u;
    struct stat st;
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd >= 0 && geteuid() == 0 && fstat(fd, &st) == 0 && st.st_uid == 0 && user_find(b->user, &u)
        && fchown(fd, u.uid, u.gid) < 0)
        detach_failed("cannot change the owner of %s to %s: %s", folder, b->user, strerror(errno));
    if (fd >= 0) close(fd);
    free(folder);
}

/* A container engine mounts a file there that only the agent can change. In a virtual machine init has done it. */
static bool write_resolv_conf(const struct boot *b)
{
    struct field content;
    if (init_is_active() || !fields_find(b->fields, T_RESOLV_CONF, &content)) return true;
    int fd = open("/etc/resolv.conf", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool ok = fd >= 0 && write(fd, content.value, content.length) == (ssize_t)content.length;
    if (fd >= 0) close(fd);
    return ok;
}

/* Commands must not be able to change the network: the capabilities that the setup needs are dropped before any runs. */
static void setup_network(const struct boot *b)
{
    bool isolate = fields_u64(b->fields, T_ISOLATE, 0), egress = fields_u64(b->fields, T_EGRESS, 0);
    if (!isolate && !egress) return;
    if (isolate && !init_network_isolate()) detach_failed("cannot remove the network interfaces: %s", strerror(errno));
    if (egress && !egress_setup()) detach_failed("cannot redirect connections to other hosts: %s", strerror(errno));
    if (!write_resolv_conf(b)) detach_failed("cannot write /etc/resolv.conf: %s", strerror(errno));
    if (!capability_drop(CAP_NET_ADMIN) || !capability_drop(CAP_NET_RAW))
        detach_failed("cannot drop capabilities over the network: %s", strerror(errno));
    supervisors_end_idle(); /* one that init started has the capabilities, and so would its command */
}

static void loop_iteration(void)
{
    hold_poll();
    connection_poll();
    executions_evict();
}

static void resume(void)
{
    listings_resume();
    executions_resume();
    relays_resume();
}

static void disconnected(void)
{
    streams_notify_dropped();
    if (!hold_is_active()) lifetime_disconnected();
}

static const struct events handlers = {
    .connected = lifetime_connected,
    .frame = dispatch_frame,
    .lost = streams_drop_all,
    .disconnected = disconnected,
    .flushed = streams_wake_senders,
    .room = resume,
    .command_started = process_limit_started,
    .command_starved = process_limit_starved,
};

/* Returns the descriptor to serve; -1 for a channel without one. */
static int open_channel(const struct options *o, const struct boot *b)
{
    if (o->dial) return -1;
    if (o->port_fd >= 0) return o->port_fd;
    int fd = o->listen_fd;
    if (fd >= 0) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    } else if (o->vsock) {
        fd = listen_vsock((unsigned)strtoul(o->vsock, NULL, 10));
        if (fd < 0) detach_failed("cannot listen on vsock port %s: %s", o->vsock, strerror(errno));
    } else if (o->port_name) {
        fd = open_virtio_port(o->port_name);
        if (fd < 0) detach_failed("cannot open virtio port %s: %s", o->port_name, strerror(errno));
    } else if (!o->stdio) {
        if (!b->socket) detach_failed("the boot record has no SOCKET and the command line selects no other channel");
        fd = listen_unix(b->socket);
        if (fd < 0) detach_failed("cannot listen on %s: %s", b->socket, strerror(errno));
    }
    return fd;
}

/* Moves the channel's descriptors away from 0 and 1, so that no command inherits them. */
static bool serve_stdio(void)
{
    int in = fcntl(0, F_DUPFD_CLOEXEC, 3), out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
        close(null);
    } else {
        close(0);
        close(1);
    }
    return in >= 0 && out >= 0 && connection_fixed(in, out, false);
}

static bool serve(const struct options *o, int fd)
{
    if (o->stdio) return serve_stdio();
    if (o->port_name || o->port_fd >= 0) return connection_fixed(fd, fd, true);
    if (!o->dial) return connection_listen(fd);
    dial_start();
    return true;
}

/* Opens a file of the sandbox's control group, of either cgroup version; -1 where the group is not visible. */
static int open_events(const char *first, const char *second)
{
    int fd = open(first, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? fd : open(second, O_RDONLY | O_CLOEXEC);
}

static void find_events(struct options *o)
{
    if (!o->own_events) return;
    o->memory_events = open_events("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events");
    o->process_events = open_events("/sys/fs/cgroup/pids/pids.events", "/sys/fs/cgroup/pids.events");
}

/* Reports readiness to the process that booted the sandbox, then closes the inherited descriptors. */
static void report_ready(void)
{
    ssize_t ignored = write(1, "ready\n", 6);
    (void)ignored; /* the reader is gone; the agent continues without it */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++)
        if (null < 0 || dup2(null, fd) < 0) close(fd);
    if (null > 2) close(null);
}

/* The kernel passes words of its command line to init, which are not meant for the agent. */
static struct options options_of_init(struct boot *boot)
{
    struct init_result channel = init_run(boot);
    return (struct options){.boot_fd = -1,
                            .boot_peer = -1,
                            .listen_fd = -1,
                            .port_fd = channel.port,
                            .dial = channel.dial,
                            .memory_events = channel.memory_events,
                            .process_events = -1,
                            .own_disk = true};
}

static struct rlimit descriptors = {1024, 1024};

/* Many commands and deep trees need many descriptors. Commands get the original limit. */
static void raise_descriptor_limit(void)
{
    getrlimit(RLIMIT_NOFILE, &descriptors);
    struct rlimit most = {descriptors.rlim_max, descriptors.rlim_max};
    setrlimit(RLIMIT_NOFILE, &most);
}

/* What every process of the agent needs. */
static void begin(void)
{
    if (getpid() != 1) prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_DUMPABLE, 0);
    umask(022); /* as for commands */
    if (!loop_open()) detach_failed("epoll: %s", strerror(errno));
    catch_signals();
    raise_descriptor_limit();
}

static bool read_boot_record(struct options *o, struct boot *boot, const char **problem)
{
    if (!o->boot_listen) return boot_read(o->boot_fd, boot, problem);
    o->boot_peer = boot_listen(o->boot_listen, boot, &o->listen_fd, problem);
    o->report = true;
    return o->boot_peer >= 0;
}

int main(int count, char **words)
{
    const char *called = count ? strrchr(words[0], '/') : NULL;
    if (count && !strcmp(called ? called + 1 : words[0], "sudo")) return sudo_main(count, words);
    events = &handlers;
    static struct boot boot;
    bool is_init = init_is_requested(count, words);
    if (is_init) begin(); /* before the machine is saved */
    struct options options = is_init ? options_of_init(&boot) : parse(count, words);
    const char *problem;
    if (!is_init && !read_boot_record(&options, &boot, &problem)) {
        printf("error %s\n", problem);
        fprintf(stderr, "isola-agent: %s\n", problem);
        return 1;
    }
    if (options.boot_fd > 2) close(options.boot_fd);
    if (options.dial) {
        problem = dial_setup(options.dial);
        if (problem) {
            printf("error cannot dial %s: %s\n", options.dial, problem);
            fprintf(stderr, "isola-agent: cannot dial %s: %s\n", options.dial, problem);
            return 1;
        }
        free(boot.socket);
        boot.socket = NULL; /* the agent binds none, so it removes none when it ends */
    }
    if (boot.lock && lock_file(boot.lock) < 0) {
        printf("error cannot lock %s: %s\n", boot.lock, strerror(errno));
        return 1;
    }
    setup_file_view(&boot);
    int fd = open_channel(&options, &boot);
    if (options.detach) detach(&boot);

    agent_started_ns = now_ns();
    if (!is_init) begin();
    static struct execution_defaults defaults;
    defaults = (struct execution_defaults){boot.environment, boot.fields, descriptors};
    executions_setup(&defaults);
    hold_setup(&boot, &defaults);
    chown_workspace(&boot);
    freeze_prepare();
    setup_network(&boot);
    uint64_t mode = fields_u64(boot.fields, T_SECCOMP, 0);
    bool dropped = mode == 3 ? seccomp_hide_new_syscalls()
                             : !mode || (capabilities_lock() && seccomp_install(mode == 1, dial_uses_vsock()));
    if (!dropped) detach_failed("cannot drop privileges: %s", strerror(errno));
    find_events(&options);
    if (options.own_disk) disk_set_kernel_limited();
    limits_setup(options.memory_events, options.process_events, fields_u64(boot.fields, T_DISK_LIMIT, 0),
                 fields_u64(boot.fields, T_DISK_SINCE_NS, 0));
    process_limit_setup(fields_u64(boot.fields, T_PROCESS_LIMIT, 0), fields_u64(boot.fields, T_THREAD_LIMIT, 0));
    sudo_setup(&defaults); /* last, because it needs all limits */
    lifetime_begin(&boot);
    connection_setup(boot.secret, boot.sandbox ? boot.sandbox : "");
    if (!serve(&options, fd)) detach_failed("cannot serve the channel: %s", strerror(errno));
    if (options.report) report_ready();
    if (options.boot_peer >= 0) connection_accepted(options.boot_peer);
    detach_ready();
    loop_run(loop_iteration);
    lifetime_end("signal"); /* the loop returns only when it cannot continue */
}
