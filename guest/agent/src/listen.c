#include "listen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

enum { BACKLOG = 1024 };

static int bound(int fd, const struct sockaddr *address, socklen_t size)
{
    if (fd < 0) return -1;
    if (bind(fd, address, size) == 0 && listen(fd, BACKLOG) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int listen_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    unlink(path); /* left by a killed agent; a running one holds the lock */
    mode_t before = umask(0177);
    int fd = bound(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), (struct sockaddr *)&address,
                   sizeof address);
    umask(before);
    return fd;
}

int listen_vsock(unsigned port)
{
    struct sockaddr_vm address = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_ANY, .svm_port = port};
    return bound(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), (struct sockaddr *)&address,
                 sizeof address);
}

static int port_has_name(const char *entry, const char *name)
{
    char path[320], found[128];
    snprintf(path, sizeof path, "/sys/class/virtio-ports/%s/name", entry);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, found, sizeof found - 1);
    close(fd);
    if (n <= 0) return 0;
    found[n] = 0;
    found[strcspn(found, "\n")] = 0;
    return strcmp(found, name) == 0;
}

int open_virtio_port(const char *name)
{
    DIR *folder = opendir("/sys/class/virtio-ports");
    if (!folder) return -1;
    int fd = -1;
    errno = ENOENT;
    for (struct dirent *entry; fd < 0 && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.' || !port_has_name(entry->d_name, name)) continue;
        char path[300];
        snprintf(path, sizeof path, "/dev/%s", entry->d_name);
        fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    }
    int error = errno;
    closedir(folder);
    errno = error;
    return fd;
}

int lock_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}
