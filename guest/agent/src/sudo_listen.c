#include "sudo_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "events.h"
#include "execution_launch.h"
#include "freeze.h"
#include "init_state.h"
#include "loop.h"
#include "privileges.h"
#include "process_tree.h"
#include "sudo.h"
#include "supervisor.h"

#define MS 1000000ull

enum { HELPERS_MAX = 64, BACKLOG = 64, RETRY_MS = 20 };

static bool enabled;
static char self[PATH_MAX];
static struct launch limits;        /* the limits of every command */
static struct timespec groups_seen; /* mtime of /etc/group when it was last read */
static pid_t helpers[HELPERS_MAX];
static int helper_count;

static void connection_ready(struct watch *w, uint32_t what);
static void try_again(struct timer *t);
static struct watch listener = {.fd = -1, .ready = connection_ready};
static struct timer retry = {.fire = try_again};

/* Connections beyond the maximum wait in the socket's backlog. */
static void listen_on(void)
{
    loop_watch(&listener, helper_count < HELPERS_MAX ? EPOLLIN : 0);
}

static void try_again(struct timer *t)
{
    (void)t;
    listen_on();
}

static void wait_a_moment(void)
{
    loop_watch(&listener, 0);
    timer_set(&retry, now_ns() + RETRY_MS * MS);
}

/* Uses system calls only, since this is a fork of a threaded program. The exec discards the agent's memory. */
static _Noreturn void become_helper(int connection)
{
    char *words[] = {self, (char *)(uintptr_t) "--sudo", NULL}, *environment[] = {NULL};
    setsid(); /* so that a freeze stops it together with commands */
    if (dup2(connection, 0) == 0 && seccomp_confine_command() && command_confine(&limits)) {
        close_from(3);
        execve(self, words, environment);
    }
    _exit(127);
}

static void connection_ready(struct watch *w, uint32_t what)
{
    (void)what;
    if (freeze_is_active()) { /* nothing starts while commands are frozen */
        wait_a_moment();
        return;
    }
    int connection = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) wait_a_moment();
        return;
    }
    pid_t pid = fork();
    if (pid == 0) become_helper(connection);
    close(connection); /* the client sees end of file when no helper was started */
    if (pid < 0) return;
    helpers[helper_count++] = pid;
    events->command_started();
    listen_on();
}

/* Other users of the sandbox, or another sandbox with the same volume, must not be able to replace the socket. */
static bool folder_is_ours(void)
{
    struct stat root, folder;
    struct statfs about;
    if (mkdir(SUDO_FOLDER, 0755) < 0 && errno != EEXIST) return false;
    if (stat("/", &root) != 0 || lstat(SUDO_FOLDER, &folder) != 0 || statfs(SUDO_FOLDER, &about) != 0) return false;
    return S_ISDIR(folder.st_mode) && folder.st_uid == 0 && !(folder.st_mode & 022)
           && (folder.st_dev == root.st_dev || about.f_type == TMPFS_MAGIC);
}

static int listen_here(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SUDO_SOCKET};
    if (!folder_is_ours()) return -1;
    unlink(SUDO_SOCKET); /* left by a previous agent */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && chmod(SUDO_SOCKET, 0666) == 0
        && listen(fd, BACKLOG) == 0)
        return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* Never writes to a folder mounted there, and keeps a program of that name from the image. */
static void install(void)
{
    struct stat root, folder;
    mkdir("/usr/local", 0755);
    mkdir("/usr/local/bin", 0755);
    if (stat("/", &root) != 0 || stat("/usr/local/bin", &folder) != 0 || root.st_dev != folder.st_dev) return;
    int ignored = symlink(self, SUDO_PROGRAM);
    (void)ignored; /* it exists, or the root is read-only: no sudo then */
}

static bool find_self(void)
{
    if (init_is_active()) {
        strcpy(self, INIT_AGENT); /* the path in the initramfs is no longer there */
        return true;
    }
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) self[length] = 0;
    return length > 0;
}

/* Returns true if a user may use sudo, or false if none may or /etc/group is as it was at the last call. */
static bool found_users(void)
{
    struct stat st;
    if (stat("/etc/group", &st) != 0) return false;
    if (st.st_ctim.tv_sec == groups_seen.tv_sec && st.st_ctim.tv_nsec == groups_seen.tv_nsec) return false;
    groups_seen = st.st_ctim;
    return sudo_has_users();
}

void sudo_prepare(void)
{
    if (found_users()) groups_seen = (struct timespec){0};
}

void sudo_setup(const struct execution_defaults *defaults)
{
    enabled = fields_u64(defaults->boot, T_SUDO, 0) && find_self()
              && (init_is_active() || (geteuid() == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1));
    if (!enabled) return;
    launch_limits(&limits, defaults);
    sudo_update();
}

void sudo_update(void)
{
    if (!enabled || listener.fd >= 0 || !found_users()) return;
    listener.fd = listen_here();
    if (listener.fd < 0) return;
    install();
    listen_on();
}

bool sudo_reaped(pid_t pid)
{
    for (int i = 0; i < helper_count; i++)
        if (helpers[i] == pid) {
            helpers[i] = helpers[--helper_count];
            listen_on();
            return true;
        }
    return false;
}

bool sudo_is_helper(pid_t pid)
{
    for (int i = 0; i < helper_count; i++)
        if (helpers[i] == pid) return true;
    return false;
}

int sudo_helpers(const pid_t **list)
{
    *list = helpers;
    return helper_count;
}

void sudo_kill(pid_t helper)
{
    tree_signal(helper, SIGKILL);
    kill(helper, SIGKILL); /* a child that is not reaped yet; the rest of its tree is killed as strays */
}

void sudo_kill_all(void)
{
    for (int i = 0; i < helper_count; i++) sudo_kill(helpers[i]);
}
