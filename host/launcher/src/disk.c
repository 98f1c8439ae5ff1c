#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common.h"
#include "mounts.h"

/*
 * The number of the loop device that an image was last attached to: an attribute of the image, independent of its path.
 */
#define LOOP_ATTRIBUTE "user.isola.loop"

enum { DISKS_MAX = 256, ATTACH_TRIES = 64, BLOCK = 4096, COPY = 1 << 16 };

/* Disks that are already mounted: the image and the root of its file system. */
static struct {
    dev_t device;
    ino_t inode;
    int root;
} disks[DISKS_MAX];
static int mounted;
static bool own_mounts;

static bool close_after(int fd, bool ok)
{
    int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
    return ok;
}

bool disk_unshare_mounts(void)
{
    if (own_mounts) return true;
    own_mounts = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    return own_mounts;
}

/* ---- images -------------------------------------------------------------------------------------------- */

static bool copy_block(int to, const char *block, size_t length, off_t at)
{
    static const char zeros[BLOCK];
    if (memcmp(block, zeros, length) == 0) return true;
    return pwrite(to, block, length, at) == (ssize_t)length;
}

/* Preserves holes and turns blocks of zeros into holes. */
static bool copy_sparse(int from, int to)
{
    static char piece[COPY];
    struct stat s;
    if (fstat(from, &s) != 0 || ftruncate(to, s.st_size) != 0) return false;
    for (off_t at = 0; (at = lseek(from, at, SEEK_DATA)) >= 0;) {
        off_t hole = lseek(from, at, SEEK_HOLE);
        while (at < hole) {
            ssize_t n = pread(from, piece, hole - at < COPY ? (size_t)(hole - at) : COPY, at);
            if (n <= 0) return false;
            for (ssize_t done = 0; done < n; done += BLOCK) {
                size_t length = n - done < BLOCK ? (size_t)(n - done) : BLOCK;
                if (!copy_block(to, piece + done, length, at + done)) return false;
            }
            at += n;
        }
    }
    return errno == ENXIO;
}

/* Links the image to its path once it is complete; another process may have created the same image in the meantime. */
static int make_image(const char *image, const char *model)
{
    char folder[PATH_MAX], self[64];
    snprintf(folder, sizeof folder, "%s", image);
    char *slash = strrchr(folder, '/');
    errno = EINVAL;
    if (!slash || !*model) return -1;
    *slash = 0;
    int from = open(model, O_RDONLY | O_CLOEXEC);
    int to = from < 0 ? -1 : open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    bool ok = to >= 0 && copy_sparse(from, to);
    close_after(from, ok);
    snprintf(self, sizeof self, "/proc/self/fd/%d", to);
    ok = ok && (linkat(AT_FDCWD, self, AT_FDCWD, image, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST);
    close_after(to, ok);
    return ok ? open(image, O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1;
}

/* ---- loop devices -------------------------------------------------------------------------------------- */

static int open_loop(long number, char *path, size_t room)
{
    snprintf(path, room, "/dev/loop%ld", number);
    return open(path, O_RDWR | O_CLOEXEC);
}

static bool is_attached(int loop, const struct stat *image)
{
    struct loop_info64 info;
    if (ioctl(loop, LOOP_GET_STATUS64, &info) != 0) return false;
    uint64_t d = info.lo_device; /* the kernel's 32-bit encoding of a device number */
    return info.lo_inode == image->st_ino && ((d & 0xfff00) >> 8) == major(image->st_dev)
           && ((d & 0xff) | ((d >> 12) & 0xfff00)) == minor(image->st_dev);
}

static int attach_new(int image, char *path, size_t room)
{
    struct loop_config config = {.fd = (uint32_t)image, .block_size = BLOCK, .info = {.lo_flags = LO_FLAGS_AUTOCLEAR}};
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), loop = -1;
    for (int i = 0; control >= 0 && i < ATTACH_TRIES; i++) {
        char text[24];
        long number = ioctl(control, LOOP_CTL_GET_FREE);
        if (number < 0 || (loop = open_loop(number, path, room)) < 0) break;
        int length = snprintf(text, sizeof text, "%ld", number);
        if (ioctl(loop, LOOP_CONFIGURE, &config) == 0) {
            if (fsetxattr(image, LOOP_ATTRIBUTE, text, (size_t)length, 0) == 0) break;
        } else if (errno == EBUSY) { /* another process took it first */
            close(loop);
            loop = -1;
            continue;
        }
        close_after(loop, false);
        loop = -1;
        break;
    }
    close_after(control, true);
    return loop;
}

/* Two loop devices on one image would be two independent file systems on the same blocks. The caller holds the lock. */
static int attach(int image, char *path, size_t room)
{
    char text[24];
    struct stat s;
    if (fstat(image, &s) != 0) return -1;
    ssize_t n = fgetxattr(image, LOOP_ATTRIBUTE, text, sizeof text - 1);
    if (n < 0 && errno != ENODATA) return -1;
    if (n > 0) {
        text[n] = 0;
        int loop = open_loop(strtol(text, NULL, 10), path, room);
        if (loop >= 0 && is_attached(loop, &s)) return loop;
        close_after(loop, false);
    }
    return attach_new(image, path, room);
}

static bool mount_image(int image, const char *path, const char *options)
{
    char device[64];
    if (flock(image, LOCK_EX) != 0) return false;
    int loop = attach(image, device, sizeof device);
    bool ok = loop >= 0 && mount(device, path, "ext4", MS_NOSUID | MS_NODEV, options) == 0;
    close_after(loop, ok);
    int error = errno;
    flock(image, LOCK_UN);
    errno = error;
    return ok;
}

static int find_disk(const struct stat *s)
{
    for (int i = 0; i < mounted; i++)
        if (disks[i].inode == s->st_ino && disks[i].device == s->st_dev) return disks[i].root;
    return -1;
}

static int record_disk(const struct stat *s, const char *path)
{
    errno = E2BIG;
    if (mounted == DISKS_MAX) return -1;
    int root = move_fd_up(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (root < 0) return -1;
    disks[mounted].device = s->st_dev;
    disks[mounted].inode = s->st_ino;
    disks[mounted++].root = root;
    return root;
}

bool disk_mount(const char *image, const char *model, const char *path, const char *options)
{
    struct stat s;
    if (!disk_unshare_mounts()) return false;
    int fd = open(image, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) fd = make_image(image, model);
    if (fd < 0) return false;
    bool ok = fstat(fd, &s) == 0 && mount_image(fd, path, options) && record_disk(&s, path) >= 0;
    return close_after(fd, ok);
}

/* ---- layers in disks ----------------------------------------------------------------------------------- */

/* A layer whose files are in a disk: the root of the mounted disk and the path of the layer in it. */
struct layer {
    int root;
    char within[NAME_MAX + 16];
};

/* Returns true with a root of -1 for a path that is not such a layer. */
static bool find_layer(const char *path, struct layer *layer)
{
    char folder[PATH_MAX], image[PATH_MAX + 8];
    struct stat s;
    layer->root = -1;
    snprintf(folder, sizeof folder, "%s", path);
    char *last = strrchr(folder, '/');
    if (!last || last == folder || strcmp(last, "/tree") != 0) return true;
    *last = 0;
    const char *name = strrchr(folder, '/');
    snprintf(image, sizeof image, "%s/disk", folder);
    int fd = name ? open(image, O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0) return !name || errno == ENOENT;
    snprintf(layer->within, sizeof layer->within, "layers/%.255s", name + 1);
    if (disk_unshare_mounts() && fstat(fd, &s) == 0 && (layer->root = find_disk(&s)) < 0
        && mount_image(fd, path, DISK_OPTIONS))
        layer->root = record_disk(&s, path);
    return close_after(fd, layer->root >= 0);
}

bool disk_stat(const char *path, struct stat *s)
{
    struct layer layer;
    if (!find_layer(path, &layer)) return false;
    return layer.root < 0 ? stat(path, s) == 0 : fstatat(layer.root, layer.within, s, AT_SYMLINK_NOFOLLOW) == 0;
}

bool disk_mount_layer(const char *path)
{
    struct layer layer;
    if (!find_layer(path, &layer)) return false;
    if (layer.root < 0) return true;
    int files = openat(layer.root, layer.within, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int clone = files < 0 ? -1 : tree_of(files, true, -1);
    bool ok = clone >= 0 && syscall(SYS_move_mount, clone, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) == 0;
    close_after(files, ok);
    return close_after(clone, ok);
}
