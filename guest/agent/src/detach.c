#include "detach.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init_state.h"
#include "operations.h"
#include "path.h"
#include "process_stat.h"

/* Messages from the forked processes to the launching process. */
enum message_kind { MESSAGE_PID = 'P', MESSAGE_READY = 'R', MESSAGE_NO_NAMESPACES = 'N', MESSAGE_FAILED = 'F' };
struct message {
    enum message_kind kind;
    pid_t pid;
    char text[400];
};

enum { KEEP_MAX = 16 };

static int report_fd = -1;

static void send_message(enum message_kind kind, pid_t pid, const char *text)
{
    struct message m = {.kind = kind, .pid = pid};
    snprintf(m.text, sizeof m.text, "%s", text);
    ssize_t ignored = write(report_fd, &m, sizeof m);
    (void)ignored; /* the launching process is gone; the agent continues without it */
}

void detach_ready(void)
{
    if (report_fd < 0) return;
    send_message(MESSAGE_READY, 0, "");
    close(report_fd);
    report_fd = -1;
}

void detach_failed(const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (report_fd >= 0)
        send_message(MESSAGE_FAILED, 0, text);
    else
        dprintf(init_console(), "isola-agent: %s\n", text);
    _exit(1);
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return ok;
}

/* An unprivileged user needs a user namespace first, in which it keeps its own uid and gid. */
static bool unshare_namespaces(void)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    int wanted = CLONE_NEWPID | CLONE_NEWNS;
    if (uid == 0 && unshare(wanted) == 0) return true;
    if (unshare(wanted | CLONE_NEWUSER) != 0) return false;
    char line[64];
    write_file("/proc/self/setgroups", "deny"); /* absent on old kernels */
    snprintf(line, sizeof line, "%u %u 1", (unsigned)uid, (unsigned)uid);
    if (!write_file("/proc/self/uid_map", line)) return false;
    snprintf(line, sizeof line, "%u %u 1", (unsigned)gid, (unsigned)gid);
    return write_file("/proc/self/gid_map", line);
}

/*
 * Mounts /proc of the new pid namespace. Mounts of the host still propagate in, mounts made here do not propagate out.
 */
static bool mount_proc(void)
{
    return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0
           && mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

/* Creates a mount point: a folder for a folder, an empty file for anything else. */
static bool make_mount_point(const char *source, const char *destination)
{
    struct stat s;
    if (stat(source, &s) != 0 || !path_make_parents(destination, 0755)) return false;
    struct path_parent parent;
    if (!path_resolve_parent(destination, &parent)) return false;
    bool ok = true;
    if (S_ISDIR(s.st_mode)) {
        ok = mkdirat(parent.folder, parent.leaf, 0755) == 0 || errno == EEXIST;
    } else {
        int fd = openat(parent.folder, parent.leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd >= 0)
            close(fd);
        else
            ok = errno == EEXIST;
    }
    int error = errno;
    path_parent_close(&parent);
    errno = error;
    return ok;
}

static bool bind_one(const char *source, const char *destination, bool read_only)
{
    char path[64];
    if (!make_mount_point(source, destination)) return false;
    int fd = path_open(destination, O_PATH);
    if (fd < 0) return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = mount(source, path, NULL, MS_BIND | MS_REC, NULL) == 0;
    close(fd);
    if (!ok || !read_only) return ok;

    fd = path_open(destination, O_PATH); /* the mount that is there now */
    if (fd < 0) return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct statvfs v;
    unsigned long kept = 0; /* locked flags, which an unprivileged user may not clear */
    if (statvfs(path, &v) == 0)
        kept = (v.f_flag & ST_NOSUID ? MS_NOSUID : 0) | (v.f_flag & ST_NODEV ? MS_NODEV : 0)
               | (v.f_flag & ST_NOEXEC ? MS_NOEXEC : 0);
    ok = mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | kept, NULL) == 0;
    close(fd);
    return ok;
}

static void bind_all(struct fields boot)
{
    size_t position = 0;
    struct field f;
    while (fields_next(boot, &position, &f)) {
        if (f.tag != T_BIND) continue;
        size_t source_length = f.length >= 5 ? get_u32(f.value + 1) : 0;
        if (f.length < 5 || source_length > f.length - 5) detach_failed("a bind in the boot record is damaged");
        char *source = strndup((const char *)f.value + 5, source_length);
        char *destination = strndup((const char *)f.value + 5 + source_length, f.length - 5 - source_length);
        if (!source || !destination || !bind_one(source, destination, f.value[0] != 0))
            detach_failed("cannot mount %s on %s: %s", source, destination, strerror(errno));
        free(source);
        free(destination);
    }
}

static bool make_folders(char *path)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            bool ok = mkdir(path, 0755) == 0 || errno == EEXIST;
            *p = '/';
            if (!ok) return false;
        }
    return mkdir(path, 0755) == 0 || errno == EEXIST;
}

static bool lies_beneath(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static bool reopen_root(const char *root)
{
    int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return false;
    close(file_view.root_fd);
    file_view.root_fd = fd;
    return true;
}

/* Mounts a folder again that was opened before its parent was covered. */
static bool remount(int fd, char *path)
{
    char from[64];
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    return make_folders(path) && mount(from, path, NULL, MS_BIND | MS_REC, NULL) == 0;
}

/* Covers a folder with an empty one, then mounts the kept folders beneath it again. */
static bool hide(const char *folder, char **kept, int count)
{
    int fds[KEEP_MAX];
    for (int i = 0; i < count; i++)
        fds[i] = lies_beneath(kept[i], folder) ? open(kept[i], O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    bool ok = mount("none", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64k") == 0;
    for (int i = 0; i < count; i++) {
        if (fds[i] < 0) continue;
        ok = ok && remount(fds[i], kept[i]);
        int error = errno;
        close(fds[i]);
        errno = error;
    }
    return ok;
}

static void hide_all(const struct boot *b)
{
    char *kept[KEEP_MAX];
    int count = 0;
    size_t position = 0;
    struct field f;
    if (b->root) kept[count++] = b->root;
    while (fields_next(b->fields, &position, &f))
        if (f.tag == T_KEEP && count < KEEP_MAX) kept[count++] = strndup((const char *)f.value, f.length);
    position = 0;
    while (fields_next(b->fields, &position, &f)) {
        if (f.tag != T_HIDE) continue;
        char *folder = strndup((const char *)f.value, f.length);
        if (!folder || !hide(folder, kept, count)) detach_failed("cannot hide %s: %s", folder, strerror(errno));
        free(folder);
    }
    if (b->root && !reopen_root(b->root)) detach_failed("cannot open %s: %s", b->root, strerror(errno));
}

static void redirect_to_null(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3 && null >= 0; i++) dup2(null, i);
    if (null > 2) close(null);
}

static unsigned long long start_time(pid_t pid)
{
    char name[20];
    struct process_stat seen;
    snprintf(name, sizeof name, "/proc/%d", (int)pid);
    return process_stat_read(AT_FDCWD, name, &seen) ? seen.start : 0;
}

/* Waits for one attempt to start the agent. Exits, unless the attempt failed because namespaces are unavailable. */
static void await_agent(int fd, pid_t child, bool namespaces)
{
    struct message m;
    pid_t pid = 0;
    bool ready = false;
    char reason[400] = "the agent ended before it was ready";
    while (!(ready && pid) && read(fd, &m, sizeof m) == (ssize_t)sizeof m) {
        if (m.kind == MESSAGE_PID) pid = m.pid;
        if (m.kind == MESSAGE_READY) ready = true;
        if (m.kind == MESSAGE_FAILED) {
            printf("error %s\n", m.text);
            exit(1);
        }
        if (m.kind == MESSAGE_NO_NAMESPACES) {
            waitpid(child, NULL, 0);
            return;
        }
    }
    waitpid(child, NULL, 0);
    if (!ready || !pid) {
        printf("error %s\n", reason);
        exit(1);
    }
    printf("ready pid=%d start=%llu namespaces=%s\n", (int)pid, start_time(pid), namespaces ? "pid,mount" : "none");
    exit(0);
}

/* Returns true in the agent's process. */
static bool try_detach(const struct boot *b, bool namespaces)
{
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0) detach_failed("pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0) detach_failed("fork: %s", strerror(errno));
    if (child > 0) {
        close(pair[1]);
        await_agent(pair[0], child, namespaces);
        close(pair[0]);
        return false;
    }
    close(pair[0]);
    report_fd = pair[1];
    setsid();
    if (namespaces && !unshare_namespaces()) {
        send_message(MESSAGE_NO_NAMESPACES, 0, "");
        _exit(0);
    }
    pid_t agent = fork();
    if (agent < 0) detach_failed("fork: %s", strerror(errno));
    if (agent > 0) {
        send_message(MESSAGE_PID, agent, "");
        _exit(0);
    }
    if (namespaces && !mount_proc()) {
        send_message(MESSAGE_NO_NAMESPACES, 0, "");
        _exit(0);
    }
    if (namespaces) {
        /* Descriptors opened before belong to the host's mount namespace, where the agent must not mount anything. */
        if (b->root && !reopen_root(b->root)) detach_failed("cannot open %s: %s", b->root, strerror(errno));
        bind_all(b->fields);
        hide_all(b);
    }
    redirect_to_null();
    return true;
}

void detach(const struct boot *b)
{
    if (b->namespaces > 0 && try_detach(b, true)) return;
    if (b->namespaces == 2) detach_failed("a pid namespace is required but cannot be created on this machine");
    if (fields_has(b->fields, T_BIND))
        detach_failed("volumes require a mount namespace, which cannot be created on this machine");
    if (try_detach(b, false)) return;
    detach_failed("the agent could not detach");
}

bool namespaces_available(void)
{
    pid_t child = fork();
    if (child == 0) {
        if (!unshare_namespaces()) _exit(1);
        pid_t inner = fork();
        if (inner == 0) _exit(mount_proc() ? 0 : 1);
        int status = 1;
        waitpid(inner, &status, 0);
        _exit(inner > 0 && status == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return child > 0 && status == 0;
}
