// Fills a disk at the n-th call of a process that may need space on it: a write, a new file or folder, another name, more
// room. Loaded by LD_PRELOAD into a test, which shares the countdown with it in a file. FILL_FOLDER is the folder of the
// disk, FILL_FILE the file that takes all of its space, FILL_COUNTDOWN the file with the countdown, of eight bytes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_llong *countdown;
static char folder[PATH_MAX], file[PATH_MAX];

__attribute__((constructor)) static void begin(void)
{
    const char *count = getenv("FILL_COUNTDOWN"), *in = getenv("FILL_FOLDER"), *with = getenv("FILL_FILE");
    if (!count || !in || !with) return;
    int fd = open(count, O_RDWR | O_CLOEXEC);
    void *page = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *countdown, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    if (page == MAP_FAILED) abort();
    snprintf(folder, sizeof folder, "%s/", in);
    snprintf(file, sizeof file, "%s", with);
    countdown = page;
    unsetenv("LD_PRELOAD"); // programs that the process starts are not part of the test
}

static void fill(void)
{
    static char zeros[1 << 16];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    for (size_t size = sizeof zeros; fd >= 0 && size > 0; size /= 16) {
        while (syscall(SYS_write, fd, zeros, size) > 0) continue;
    }
    if (fd >= 0) syscall(SYS_close, fd);
}

static void count(const char *path)
{
    if (strncmp(path, folder, strlen(folder)) != 0) return;
    int before = errno;
    if (atomic_fetch_sub(countdown, 1) == 1) fill();
    errno = before;
}

static void count_fd(int fd)
{
    char link[64], path[PATH_MAX];
    struct stat st;
    if (!countdown || fstat(fd, &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 2);
    if (length < 0) return;
    strcpy(path + length, S_ISDIR(st.st_mode) ? "/" : "");
    count(path);
}

static void count_at(int fd, const char *path)
{
    if (!countdown) return;
    if (path[0] == '/') {
        count(path);
    } else if (fd != AT_FDCWD) {
        count_fd(fd);
    }
}

#define NEXT(type, name) type *next = (type *)dlsym(RTLD_NEXT, name)

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        typedef int call(const char *, int, ...);                                                                      \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;                                      \
        va_end(more);                                                                                                  \
        NEXT(call, #name);                                                                                             \
        if (flags & (O_CREAT | __O_TMPFILE)) count_at(AT_FDCWD, path);                                                 \
        return next(path, flags, mode);                                                                                \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                   \
    int name(int fd, const char *path, int flags, ...)                                                                 \
    {                                                                                                                  \
        typedef int call(int, const char *, int, ...);                                                                 \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;                                      \
        va_end(more);                                                                                                  \
        NEXT(call, #name);                                                                                             \
        if (flags & (O_CREAT | __O_TMPFILE)) count_at(fd, path);                                                       \
        return next(fd, path, flags, mode);                                                                            \
    }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void *data, size_t length)
{
    typedef ssize_t call(int, const void *, size_t);
    NEXT(call, "write");
    count_fd(fd);
    return next(fd, data, length);
}

ssize_t writev(int fd, const struct iovec *data, int parts)
{
    typedef ssize_t call(int, const struct iovec *, int);
    NEXT(call, "writev");
    count_fd(fd);
    return next(fd, data, parts);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at)
{
    typedef ssize_t call(int, const void *, size_t, off64_t);
    NEXT(call, "pwrite64");
    count_fd(fd);
    return next(fd, data, length, at);
}

int ftruncate64(int fd, off64_t length)
{
    typedef int call(int, off64_t);
    NEXT(call, "ftruncate64");
    count_fd(fd);
    return next(fd, length);
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    typedef int call(int, int, off_t, off_t);
    NEXT(call, "fallocate");
    count_fd(fd);
    return next(fd, mode, offset, length);
}

int mkdir(const char *path, mode_t mode)
{
    typedef int call(const char *, mode_t);
    NEXT(call, "mkdir");
    count_at(AT_FDCWD, path);
    return next(path, mode);
}

int rename(const char *from, const char *to)
{
    typedef int call(const char *, const char *);
    NEXT(call, "rename");
    count_at(AT_FDCWD, to);
    return next(from, to);
}

int link(const char *from, const char *to)
{
    typedef int call(const char *, const char *);
    NEXT(call, "link");
    count_at(AT_FDCWD, to);
    return next(from, to);
}

int symlink(const char *target, const char *path)
{
    typedef int call(const char *, const char *);
    NEXT(call, "symlink");
    count_at(AT_FDCWD, path);
    return next(target, path);
}
