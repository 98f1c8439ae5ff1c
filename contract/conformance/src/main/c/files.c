/* Files of the host: targets, well-known files, and those of the installation. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

enum { CONTENT_MAX = 1 << 20, ENTRIES_MAX = 1000000 };

static char content[CONTENT_MAX];

/* Alternative paths by which a root directory may be reachable. */
static const char *const ways[] = {"",
                                   "/..",
                                   "/proc/self/root",
                                   "/proc/self/cwd/../../../../../../..",
                                   "/proc/1/root",
                                   "/oldroot",
                                   "/.oldroot",
                                   "/newroot",
                                   "/host",
                                   "/run/host",
                                   "/rootfs",
                                   "/tmp/root"};

/* read PATH ID */
static void read_target(int count, char **arguments)
{
    (void)count;
    int error = ENOENT;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s%s", ways[i], arguments[0]);
        ssize_t n = read_file(path, content, sizeof content);
        if (n >= 0 && holds(content, (size_t)n, mark_of(arguments[1]))) got("read %s", path);
        if (n < 0 && errno != ENOENT && errno != ENOTDIR) error = errno;
    }
    failed(error, arguments[0]);
}

/* digest (PATH DIGEST)...: tells by its content whether a file is the host's */
static void compare(int count, char **arguments)
{
    int error = ENOENT;
    for (int i = 0; i + 1 < count; i += 2) {
        ssize_t n = read_file(arguments[i], content, sizeof content);
        if (n < 0 && errno != ENOENT) error = errno;
        if (n >= 0 && digest_of(content, (size_t)n) == strtoull(arguments[i + 1], NULL, 16))
            got("read %s, which is the host's", arguments[i]);
    }
    failed(error, arguments[0]);
}

/* write PATH ID: the host checks afterwards whether the file has changed */
static void write_target(int count, char **arguments)
{
    (void)count;
    const char *mark = mark_of(arguments[1]);
    int fd = open(arguments[0], O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) fd = open(arguments[0], O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) failed(errno, arguments[0]);
    if (write(fd, mark, strlen(mark)) != (ssize_t)strlen(mark)) refused(errno, "writing %s", arguments[0]);
    got("wrote %s", arguments[0]);
}

static int make(const char *path, int way)
{
    enum { PROGRAM = 04755 };
    uint64_t how[3] = {O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, PROGRAM, 0};
    umask(0);
    switch (way) {
    case 0:
        return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, PROGRAM);
    case 1:
        return (int)syscall(SYS_openat2, AT_FDCWD, path, how, sizeof how);
    case 2:
        return mknod(path, S_IFREG | PROGRAM, 0);
    default:
        break;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (fd < 0) return -1;
    if (way == 3) return fchmod(fd, PROGRAM);
    if (way == 4) return chmod(path, PROGRAM);
    return (int)syscall(SYS_fchmodat2, AT_FDCWD, path, PROGRAM, 0);
}

/* setuid-file PATH: tries every system call that can create one; the host checks the owner afterwards */
static void setuid_file(int count, char **arguments)
{
    (void)count;
    int error = 0, made = 0;
    for (int way = 0; way <= 5; way++) {
        char path[4096];
        struct stat s;
        snprintf(path, sizeof path, "%s-%d", arguments[0], way);
        if (make(path, way) < 0 && !(error && errno == ENOSYS)) error = errno;
        if (stat(path, &s) == 0 && (s.st_mode & S_ISUID)) made |= 1 << way;
    }
    if (made) got("created set-user-id files (methods %x)", (unsigned)made);
    failed(error, "a file that sets its user");
}

static bool beneath(const char *path, const char *folder)
{
    size_t length = folder ? strlen(folder) : 0;
    return length > 1 && strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* open PATH...: any file outside the working directory and the home directory */
static void open_any(int count, char **arguments)
{
    char folder[4096] = "";
    int error = ENOENT;
    if (!getcwd(folder, sizeof folder)) folder[0] = 0;
    for (int i = 0; i < count; i++) {
        if (beneath(arguments[i], folder) || beneath(arguments[i], getenv("HOME"))) continue;
        int fd = open(arguments[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0) got("opened %s", arguments[i]);
        if (errno != ENOENT) error = errno;
    }
    failed(error, "none of them");
}

static const char *sought;
static long seen;

static int look(const char *path, const struct stat *s, int type, struct FTW *where)
{
    (void)s;
    if (strncmp(path + where->base, sought, strlen(sought)) == 0) got("found %s", path);
    if (type == FTW_D && (strcmp(path, "/proc") == 0 || strcmp(path, "/sys") == 0)) return FTW_SKIP_SUBTREE;
    return ++seen < ENTRIES_MAX ? FTW_CONTINUE : FTW_STOP;
}

/* find ID FOLDER...: searches for a name with this prefix anywhere beneath, independent of mount points */
static void find(int count, char **arguments)
{
    sought = mark_of(arguments[0]);
    for (int i = 1; i < count; i++) nftw(arguments[i], look, 32, FTW_PHYS | FTW_ACTIONRETVAL);
    absent("no such name among %ld files", seen);
}

const struct probe file_probes[] = {{"read", 2, read_target},
                                    {"digest", 2, compare},
                                    {"write", 2, write_target},
                                    {"open", 1, open_any},
                                    {"find", 2, find},
                                    {"setuid-file", 1, setuid_file},
                                    {0}};
