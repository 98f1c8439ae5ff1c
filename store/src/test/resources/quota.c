// Limits the bytes of a folder as a quota of the kernel does: a write that needs more blocks fails with EDQUOT. Loaded by
// LD_PRELOAD into a test, because few test machines have a file system with quotas. QUOTA_FOLDER is the folder,
// QUOTA_BYTES the limit.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ssize_t write_call(int, const void *, size_t);
typedef ssize_t pwrite_call(int, const void *, size_t, off64_t);

static long long used(const char *folder)
{
    long long sum = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        char path[PATH_MAX];
        struct stat st;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path) continue;
        if (lstat(path, &st) < 0) continue;
        sum += S_ISDIR(st.st_mode) ? used(path) : (long long)st.st_blocks * 512;
    }
    if (entries) closedir(entries);
    return sum;
}

// Returns whether a write up to this end needs blocks that the quota does not grant.
static int exceeds(int fd, off64_t end)
{
    char link[64], path[PATH_MAX];
    struct stat st;
    const char *folder = getenv("QUOTA_FOLDER"), *bytes = getenv("QUOTA_BYTES");
    if (!folder || !bytes || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (strncmp(path, folder, strlen(folder)) != 0) return 0;
    long long more = end - (long long)st.st_blocks * 512;
    return more > 0 && used(folder) + more > atoll(bytes);
}

ssize_t write(int fd, const void *data, size_t length)
{
    write_call *next;
    *(void **)&next = dlsym(RTLD_NEXT, "write");
    struct stat st;
    int appends = fcntl(fd, F_GETFL) & O_APPEND;
    off64_t at = appends && fstat(fd, &st) == 0 ? st.st_size : lseek64(fd, 0, SEEK_CUR);
    if (at >= 0 && exceeds(fd, at + (off64_t)length)) {
        errno = EDQUOT;
        return -1;
    }
    return next(fd, data, length);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at)
{
    pwrite_call *next;
    *(void **)&next = dlsym(RTLD_NEXT, "pwrite64");
    if (exceeds(fd, at + (off64_t)length)) {
        errno = EDQUOT;
        return -1;
    }
    return next(fd, data, length, at);
}
