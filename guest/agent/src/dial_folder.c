#include "dial_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

static char socket_path[sizeof((struct sockaddr_un *)0)->sun_path];
static int folder = -1;
static bool watched;

static const char *socket_name(void)
{
    return strrchr(socket_path, '/') + 1;
}

/* Only reading it would need more rights than connecting does; without them the folder cannot be watched. */
static void open_folder(void)
{
    char path[sizeof socket_path];
    memcpy(path, socket_path, sizeof path);
    path[socket_name() - socket_path] = 0;
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    watched = false;
}

void dial_folder_open(const char *path)
{
    snprintf(socket_path, sizeof socket_path, "%s", path);
    open_folder();
}

/* Other file systems, for example gVisor's view of the host, do not report what another machine or kernel changes. */
static bool reports_every_change(void)
{
    struct statfs about;
    if (fstatfs(folder, &about) != 0) return false;
    switch ((uint32_t)about.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
        return true;
    default:
        return false;
    }
}

/*
 * Uses the older notification by signal: inotify instances are limited to 128 for each user of the machine, and the
 * programs in sandboxes need them.
 */
bool dial_folder_watch(void)
{
    struct stat st;
    if (folder >= 0 && fstat(folder, &st) == 0 && st.st_nlink == 0) { /* removed */
        close(folder);
        folder = -1;
    }
    if (folder < 0) open_folder();
    if (folder >= 0 && !watched)
        watched = fcntl(folder, F_NOTIFY, DN_CREATE | DN_MULTISHOT) == 0 && reports_every_change();
    return folder >= 0 && watched;
}

static void address_of(const char *name, struct sockaddr_un *out)
{
    char link[32];
    struct stat ours, linked;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    bool opened = folder >= 0 && fstat(folder, &ours) == 0 && stat(link, &linked) == 0 && ours.st_dev == linked.st_dev
                  && ours.st_ino == linked.st_ino;
    if (opened)
        snprintf(out->sun_path, sizeof out->sun_path, "%s/%s", link, name);
    else
        snprintf(out->sun_path, sizeof out->sun_path, "%.*s%s", (int)(socket_name() - socket_path), socket_path, name);
}

void dial_folder_address(struct sockaddr_un *out)
{
    address_of(socket_name(), out);
}

bool dial_folder_is_used(void)
{
    return *socket_path;
}

int dial_folder_connect(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (!dial_folder_is_used()) {
        errno = EOPNOTSUPP;
        return -1;
    }
    address_of(name, &at);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

struct socket_file dial_folder_socket(void)
{
    struct stat st;
    int result = folder >= 0 ? fstatat(folder, socket_name(), &st, 0) : stat(socket_path, &st);
    if (result != 0 || !S_ISSOCK(st.st_mode)) return (struct socket_file){0};
    return (struct socket_file){st.st_dev, st.st_ino, st.st_ctim};
}

bool dial_folder_names_sandbox(const char *id)
{
    char text[256];
    int fd = folder >= 0 ? openat(folder, "sandbox", O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0 || !id) return false;
    ssize_t length = read(fd, text, sizeof text);
    close(fd);
    return length > 0 && (size_t)length == strlen(id) && memcmp(text, id, (size_t)length) == 0;
}

bool socket_file_equals(struct socket_file a, struct socket_file b)
{
    return a.device == b.device && a.inode == b.inode;
}

bool socket_file_unchanged(struct socket_file a, struct socket_file b)
{
    return socket_file_equals(a, b) && a.changed.tv_sec == b.changed.tv_sec && a.changed.tv_nsec == b.changed.tv_nsec;
}
