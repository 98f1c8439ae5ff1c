#include "etc_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGE "/run" /* where the files are until they are mounted in /etc */

enum { HOST_NAME, HOSTS, RESOLVER, COUNT };

static const char *const names[COUNT] = {"hostname", "hosts", "resolv.conf"};

/* Their folder is not kept open: a path through /dev/fd would lead into it. */
static int files[COUNT] = {-1, -1, -1};

/* Makes sure that there is a regular file to mount over: an image may have a link there, which must not be followed. */
static bool make_point(int etc, const char *name)
{
    struct stat s;
    if (fstatat(etc, name, &s, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISREG(s.st_mode)) return true;
        if (unlinkat(etc, name, S_ISDIR(s.st_mode) ? AT_REMOVEDIR : 0) != 0) return false;
    }
    int fd = openat(etc, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static bool mount_file(int etc, int number)
{
    char from[32], to[32];
    snprintf(from, sizeof from, STAGE "/%s", names[number]);
    snprintf(to, sizeof to, "/etc/%s", names[number]);
    files[number] = open(from, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    return files[number] >= 0 && fchmod(files[number], 0644) == 0 && make_point(etc, names[number])
           && mount(from, to, NULL, MS_BIND, NULL) == 0;
}

static bool mount_files(void)
{
    if (mkdir("/etc", 0755) != 0 && errno != EEXIST) return false;
    int etc = open("/etc", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ok = etc >= 0;
    for (int i = 0; ok && i < COUNT; i++) ok = mount_file(etc, i);
    int error = errno;
    if (etc >= 0) close(etc);
    errno = error;
    return ok;
}

static bool write_file(int number, const char *content)
{
    size_t length = strlen(content);
    ssize_t written = pwrite(files[number], content, length, 0);
    if (written >= 0 && written < (ssize_t)length) errno = ENOSPC;
    return written == (ssize_t)length;
}

const char *etc_files_mount(void)
{
    if (mount("isola", STAGE, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700,size=64k,nr_inodes=16") != 0)
        return "mount a file system for the files in /etc";
    if (!mount_files()) return "mount the files in /etc";
    /* A page each, which copies of the machine then have. No name is shorter. */
    if (!write_file(HOST_NAME, "\n") || !write_file(HOSTS, "\n")) return "write the files in /etc";
    return umount2(STAGE, MNT_DETACH) == 0 ? NULL : "detach the files in /etc";
}

/* What guest processes have written is removed from all files first, since they share the space. */
static bool empty_files(void)
{
    for (int i = 0; i < COUNT; i++)
        if (ftruncate(files[i], 0) != 0) return false;
    return true;
}

static bool write_names(const char *name)
{
    char text[512];
    if (strlen(name) > HOST_NAME_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(stpcpy(text, name), "\n");
    if (!write_file(HOST_NAME, text)) return false;
    strcpy(stpcpy(stpcpy(text, "127.0.0.1 localhost "), name), "\n::1 localhost\n");
    return write_file(HOSTS, text);
}

bool etc_files_write(struct fields record)
{
    char *name = fields_text(record, T_HOST_NAME), *resolver = fields_text(record, T_RESOLV_CONF);
    static bool written;
    bool ok = (!written || empty_files()) && write_names(name ? name : "localhost")
              && write_file(RESOLVER, resolver ? resolver : "");
    int error = errno;
    written = true;
    free(name);
    free(resolver);
    errno = error;
    return ok;
}
