#include "init_root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/fs.h>

#include "init_parse.h"

enum { DEVICE_MS = 5000, PAGE = 4096, FILES_MIN = 1024 };
enum { PLAIN = MS_NOSUID | MS_NODEV };

#define ROOT "/root"
#define IMAGE "/image"
#define SCRATCH "/scratch"

static bool make(const char *path, mode_t mode)
{
    return mkdir(path, mode) == 0 || errno == EEXIST;
}

const char *init_root_begin(void)
{
    if (!make("/dev", 0755) || (mount("dev", "/dev", "devtmpfs", MS_NOSUID, "mode=0755") != 0 && errno != EBUSY))
        return "mount /dev";
    if (!make("/proc", 0555) || mount("proc", "/proc", "proc", PLAIN | MS_NOEXEC, NULL) != 0) return "mount /proc";
    if (!make("/sys", 0555) || mount("sys", "/sys", "sysfs", PLAIN | MS_NOEXEC, NULL) != 0) return "mount /sys";
    return NULL;
}

/* Waits for a disk, and discards what the kernel has cached of it: a copy of the machine may have another one there. */
static bool open_disk(const char *path)
{
    static const struct timespec pause = {0, 5000000};
    int fd;
    for (int waited = 0; (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0; waited += 5) {
        if ((errno != ENOENT && errno != ENXIO) || waited >= DEVICE_MS) return false;
        nanosleep(&pause, NULL);
    }
    bool ok = ioctl(fd, BLKFLSBUF, 0) == 0;
    close(fd);
    return ok;
}

static const char *mount_disks(void)
{
    if (!open_disk("/dev/vda")) return "open /dev/vda";
    if (!open_disk("/dev/vdb")) return "open /dev/vdb";
    if (!make(IMAGE, 0755)
        || (mount("/dev/vda", IMAGE, "erofs", PLAIN | MS_RDONLY, NULL) != 0
            && mount("/dev/vda", IMAGE, "squashfs", PLAIN | MS_RDONLY, NULL) != 0))
        return "mount the image, /dev/vda";
    if (!make(SCRATCH, 0700) || mount("/dev/vdb", SCRATCH, "ext4", PLAIN | MS_NOATIME, NULL) != 0
        || chmod(SCRATCH, 0700) != 0)
        return "mount the scratch disk, /dev/vdb";
    if (!make(SCRATCH "/upper", 0755) || !make(SCRATCH "/work", 0700)) return "create the layer";
    if (!make(ROOT, 0755)
        || mount("isola", ROOT, "overlay", PLAIN | MS_NOATIME,
                 "lowerdir=" IMAGE ",upperdir=" SCRATCH "/upper,workdir=" SCRATCH "/work")
               != 0)
        return "mount the root";
    return NULL;
}

/* Makes sure that a mount point in the root is a folder: an image may have a link there, which must not be followed. */
static bool make_point(int root, const char *name)
{
    struct stat s;
    if (fstatat(root, name, &s, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(s.st_mode)) return true;
        if (unlinkat(root, name, 0) != 0) return false;
    }
    return mkdirat(root, name, 0755) == 0;
}

static bool make_points(void)
{
    static const char *const names[] = {"dev", "proc", "sys", "run", ".isola"};
    int root = open(ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = root >= 0;
    for (size_t i = 0; ok && i < sizeof names / sizeof *names; i++) ok = make_point(root, names[i]);
    int error = errno;
    if (root >= 0) close(root);
    errno = error;
    return ok;
}

static bool bind_readonly(const char *from, const char *to)
{
    return mount(from, to, NULL, MS_BIND, NULL) == 0
           && mount(NULL, to, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | PLAIN, NULL) == 0;
}

/* The same folder that the launcher mounts for other providers. */
static bool mount_own_folder(void)
{
    static const char own[] = ROOT "/.isola";
    if (mount("isola", own, "tmpfs", PLAIN, "mode=0755,size=64k,nr_inodes=1k") != 0) return false;
    int file = open(ROOT "/.isola/agent", O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    if (file < 0) return false;
    close(file);
    return make(ROOT "/.isola/layer", 0755) && make(ROOT "/.isola/image", 0755) && chmod("/init", 0755) == 0
           && bind_readonly("/init", ROOT "/.isola/agent") && bind_readonly(SCRATCH, ROOT "/.isola/layer")
           && bind_readonly(IMAGE, ROOT "/.isola/image")
           && mount(NULL, own, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | PLAIN, NULL) == 0;
}

static bool move(const char *name)
{
    char to[32];
    snprintf(to, sizeof to, ROOT "%s", name);
    return mount(name, to, NULL, MS_MOVE, NULL) == 0;
}

static bool make_all(const char *path)
{
    char copy[PATH_MAX];
    if (strlen(path) >= sizeof copy) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(copy, path);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (!make(copy, 0755)) return false;
        *slash = '/';
    }
    return make(copy, 0755);
}

static bool mount_tmpfs(const char *path, uint64_t size, const char *mode)
{
    char options[96];
    uint64_t files = size / PAGE > FILES_MIN ? size / PAGE : FILES_MIN; /* an empty file takes no page */
    snprintf(options, sizeof options, "mode=%s,size=%llu,nr_inodes=%llu", mode, (unsigned long long)size,
             (unsigned long long)files);
    return make_all(path) && mount("isola", path, "tmpfs", PLAIN, options) == 0;
}

static bool make_devices(void)
{
    static const char *const links[][2] = {{"/proc/self/fd", "/dev/fd"},
                                           {"/proc/self/fd/0", "/dev/stdin"},
                                           {"/proc/self/fd/1", "/dev/stdout"},
                                           {"/proc/self/fd/2", "/dev/stderr"}};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (symlink(links[i][0], links[i][1]) != 0 && errno != EEXIST) return false;
    return make("/dev/pts", 0755)
           && mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "ptmxmode=0666,mode=0620,gid=5,max=128") == 0
           && mount_tmpfs("/dev/shm", 64 << 20, "1777");
}

const char *init_root_switch(void)
{
    const char *problem = mount_disks();
    if (problem) return problem;
    if (!make_points()) return "create the mount points";
    if (!mount_own_folder()) return "mount /.isola";
    if (!move("/dev") || !move("/sys") || !move("/proc")) return "move /dev, /sys and /proc";
    if (chdir(ROOT) != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0 || chdir("/") != 0)
        return "switch to the root";
    return NULL;
}

const char *init_root_devices(void)
{
    if (!make_devices()) return "complete /dev";
    return mount_tmpfs("/run", 16 << 20, "0755") ? NULL : "mount /run";
}

const char *init_root_complete(struct fields record, const char *made)
{
    size_t position = 0;
    struct field f;
    while (fields_next(record, &position, &f)) {
        uint64_t size;
        if (f.tag != T_TMPFS && f.tag != T_WORKSPACE) continue;
        char *path = strndup((const char *)f.value, f.length);
        errno = EINVAL;
        bool ok = path
                  && (f.tag == T_WORKSPACE ? (made && !strcmp(path, made)) || make_all(path)
                                           : init_parse_tmpfs(path, &size) && mount_tmpfs(path, size, "0755"));
        free(path);
        if (!ok) return f.tag == T_WORKSPACE ? "create the workspace" : "mount a tmpfs";
    }
    return NULL;
}
