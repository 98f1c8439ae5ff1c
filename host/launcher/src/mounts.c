#include "mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "users.h"

/* Missing from some C libraries. */
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 0x00000004
#endif
#ifndef MOVE_MOUNT_T_EMPTY_PATH
#define MOVE_MOUNT_T_EMPTY_PATH 0x00000040
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
enum { ATTR_RDONLY = 0x1, ATTR_NOSUID = 0x2, ATTR_NODEV = 0x4, ATTR_NOEXEC = 0x8, ATTR_IDMAP = 0x00100000 };
struct attributes {
    uint64_t set, clear, propagation, userns;
};
struct how {
    uint64_t flags, mode, resolve;
};
enum { IN_ROOT = 0x10, NO_MAGICLINKS = 0x02, NO_SYMLINKS = 0x04, NO_XDEV = 0x01 };

enum { COPY_MAX = 1 << 20 }; /* size of a copied file */

static int root_fd = -1;
static int empty_file = -1;
static int empty_folder = -1;
static int layers;    /* number of mount points for overlay layers, next to the root */
static bool reserved; /* the mounts of the spec are done; the launcher's own follow */

static int set_attributes(int fd, struct attributes *attributes, bool recursive)
{
    unsigned flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0);
    return (int)syscall(SYS_mount_setattr, fd, "", flags, attributes, sizeof *attributes);
}

/* Opens a path of the sandbox. Symbolic links resolve inside the stage and never leave it. */
static int open_inside(const char *path, uint64_t flags)
{
    struct how how = {.flags = flags | O_CLOEXEC, .resolve = IN_ROOT | NO_MAGICLINKS};
    return (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
}

/* Writes a random UUID, the boot id of the sandbox, which differs at every boot. */
static bool write_boot_id(void)
{
    uint8_t r[16];
    char text[40];
    if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r) return false;
    r[6] = (uint8_t)((r[6] & 0x0f) | 0x40); /* version 4 */
    r[8] = (uint8_t)((r[8] & 0x3f) | 0x80);
    int length =
        snprintf(text, sizeof text, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x\n", r[0],
                 r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]);
    int fd = open(STAGE "/boot_id", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    if (fd < 0) return false;
    bool ok = fchmod(fd, 0444) == 0 && write(fd, text, (size_t)length) == length;
    close(fd);
    return ok;
}

bool stage_open(void)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
        || mount("isola", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=16m,nr_inodes=16k") != 0
        || mkdir(STAGE_ROOT, 0755) != 0 || mkdir(STAGE "/nothing", 0755) != 0)
        return false;
    root_fd = open(STAGE_ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC);
    empty_file = open(STAGE "/empty", O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    empty_folder = open(STAGE "/nothing", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return root_fd >= 0 && empty_file >= 0 && empty_folder >= 0 && write_boot_id();
}

/* Opens the folder that holds `path`, creating it if missing, and returns the last name. */
static int open_parent(const char *path, char *name, size_t room)
{
    char folders[PATH_MAX];
    if (snprintf(folders, sizeof folders, "%s", path) >= (int)sizeof folders) {
        errno = ENAMETOOLONG;
        return -1;
    }
    size_t length = strlen(folders);
    while (length > 1 && folders[length - 1] == '/') folders[--length] = 0;
    char *slash = strrchr(folders, '/');
    if (!slash || !slash[1] || strlen(slash + 1) >= room) {
        errno = EINVAL;
        return -1;
    }
    strcpy(name, slash + 1);
    *slash = 0;
    if (slash == folders) return open_inside("/", O_PATH | O_DIRECTORY);
    int fd = open_inside(folders, O_PATH | O_DIRECTORY);
    if (fd >= 0 || errno != ENOENT) return fd;
    return stage_folder(folders, 0755, (uid_t)-1, (gid_t)-1) ? open_inside(folders, O_PATH | O_DIRECTORY) : -1;
}

static bool close_after(int fd, bool ok)
{
    int error = errno;
    close(fd);
    errno = error;
    return ok;
}

bool stage_folder(const char *path, mode_t mode, uid_t uid, gid_t gid)
{
    char name[NAME_MAX + 1];
    if (strcmp(path, "/") == 0) return true;
    int parent = open_parent(path, name, sizeof name);
    if (parent < 0) return false;
    bool made = mkdirat(parent, name, mode) == 0;
    if (!made && errno != EEXIST) return close_after(parent, false);
    /* A folder that the image already has keeps its mode and owner. */
    bool ok =
        !made || (fchownat(parent, name, uid, gid, AT_SYMLINK_NOFOLLOW) == 0 && fchmodat(parent, name, mode, 0) == 0);
    return close_after(parent, ok);
}

bool stage_link(const char *target, const char *path)
{
    char name[NAME_MAX + 1];
    int parent = open_parent(path, name, sizeof name);
    return parent >= 0 && close_after(parent, symlinkat(target, parent, name) == 0);
}

static bool copy_all(int from, int to)
{
    for (;;) {
        ssize_t copied = sendfile(to, from, NULL, COPY_MAX);
        if (copied <= 0) return copied == 0;
    }
}

bool stage_copy(const char *file, const char *path)
{
    char name[NAME_MAX + 1];
    struct stat s;
    int from = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (from < 0) return errno == ENOENT || errno == ELOOP || errno == EACCES;
    if (fstat(from, &s) != 0 || !S_ISREG(s.st_mode) || !(s.st_mode & S_IROTH) || s.st_size > COPY_MAX)
        return close_after(from, true);
    int parent = open_parent(path, name, sizeof name);
    if (parent < 0) return close_after(from, false);
    int to = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    close_after(parent, true);
    if (to < 0) return close_after(from, false);
    bool ok = fchmod(to, 0644 | (s.st_mode & 0111)) == 0 && copy_all(from, to);
    close_after(to, ok);
    return close_after(from, ok);
}

/* Opens a mount point: what exists, or a new folder for a folder and an empty file for anything else. */
static int open_point(const char *path, bool folder)
{
    int fd = open_inside(path, O_PATH);
    if (fd >= 0 || errno != ENOENT) return fd;
    char name[NAME_MAX + 1];
    int parent = open_parent(path, name, sizeof name);
    if (parent < 0) return -1;
    bool ok;
    if (folder) {
        ok = mkdirat(parent, name, 0755) == 0;
    } else {
        int file = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        ok = file >= 0 && close(file) == 0;
    }
    if (!close_after(parent, ok)) return -1;
    return open_inside(path, O_PATH);
}

/*
 * A mount lands wherever symbolic links of an image or a volume lead, whatever its path says. Mounts of the spec must
 * not land on the agent, on file systems of the kernel or on the root itself.
 */
static bool is_reserved(int point)
{
    static const char *const ours[] = {"/.isola", "/proc", "/dev", "/sys"};
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", point);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0 || length == (ssize_t)sizeof path - 1) return true;
    path[length] = 0;
    if (strncmp(path, STAGE_ROOT, sizeof STAGE_ROOT - 1) != 0) return true;
    const char *inside = path + sizeof STAGE_ROOT - 1;
    if (!*inside) return true;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        size_t name = strlen(ours[i]);
        if (strncmp(inside, ours[i], name) == 0 && (!inside[name] || inside[name] == '/')) return true;
    }
    return false;
}

/* Opens a mount point that a spec may use. */
static int open_allowed(const char *path, bool folder)
{
    int point = open_point(path, folder);
    if (point < 0 || reserved || !is_reserved(point)) return point;
    close(point);
    errno = EPERM;
    return -1;
}

bool move_tree(int tree, int point)
{
    return syscall(SYS_move_mount, tree, "", point, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

static bool move_to(int tree, const char *path, bool folder)
{
    int point = open_allowed(path, folder);
    return point >= 0 && close_after(point, move_tree(tree, point));
}

static int clone_tree(int source, struct mount_options options, int userns)
{
    unsigned flags = OPEN_TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH | (options.recursive ? AT_RECURSIVE : 0);
    int tree = (int)syscall(SYS_open_tree, source, "", flags);
    if (tree < 0) return -1;
    struct attributes attributes = {.set = ATTR_NOSUID | (options.devices ? ATTR_NOEXEC : ATTR_NODEV)
                                           | (options.read_only ? ATTR_RDONLY : 0)};
    if (set_attributes(tree, &attributes, options.recursive) != 0) goto failed;
    if (options.mapped && userns >= 0) {
        struct attributes map = {.set = ATTR_IDMAP, .userns = (uint64_t)userns};
        if (set_attributes(tree, &map, options.recursive) != 0) goto failed;
    }
    return tree;
failed:
    close_after(tree, false);
    return -1;
}

bool stage_bind(int source, const char *path, struct mount_options options, int userns)
{
    struct stat s;
    if (fstat(source, &s) != 0) return false;
    int tree = clone_tree(source, options, userns);
    return tree >= 0 && close_after(tree, move_to(tree, path, S_ISDIR(s.st_mode)));
}

bool stage_file(const char *path, const char *content, size_t length)
{
    static int number;
    char name[64];
    snprintf(name, sizeof name, STAGE "/file%d", number++);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return false;
    bool ok = fchmod(fd, 0644) == 0 && write(fd, content, length) == (ssize_t)length
              && stage_bind(fd, path, (struct mount_options){.read_only = true}, -1);
    return close_after(fd, ok);
}

bool stage_tmpfs(const char *path, const char *options)
{
    int point = open_allowed(path, true);
    if (point < 0) return false;
    char at[64];
    snprintf(at, sizeof at, "/proc/self/fd/%d", point);
    return close_after(point, mount("isola", at, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0);
}

/* Opens a folder of the root itself, with no symbolic link and no mount on the way. */
static int open_own(const char *name)
{
    struct how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                      .resolve = IN_ROOT | NO_MAGICLINKS | NO_SYMLINKS | NO_XDEV};
    int fd = (int)syscall(SYS_openat2, root_fd, name, &how, sizeof how);
    if (fd >= 0 || errno != ENOENT || mkdirat(root_fd, name, 0755) != 0) return fd;
    return (int)syscall(SYS_openat2, root_fd, name, &how, sizeof how);
}

bool stage_reserve(void)
{
    char at[64];
    int point = open_own(".isola");
    if (point < 0) return false;
    snprintf(at, sizeof at, "/proc/self/fd/%d", point);
    bool ok = mount("isola", at, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64k,nr_inodes=1k") == 0;
    reserved = ok;
    return close_after(point, ok);
}

bool stage_lock(void)
{
    struct attributes attributes = {.set = ATTR_RDONLY};
    int folder = open_inside("/.isola", O_PATH | O_DIRECTORY);
    return folder >= 0 && close_after(folder, set_attributes(folder, &attributes, false) == 0);
}

static bool bind_device(const char *path)
{
    int device = open(path, O_PATH | O_CLOEXEC);
    return device >= 0 && close_after(device, stage_bind(device, path, (struct mount_options){.devices = true}, -1));
}

static bool mount_terminals(void)
{
    int point = open_point("/dev/pts", true);
    if (point < 0) return false;
    char at[64];
    snprintf(at, sizeof at, "/proc/self/fd/%d", point);
    const char *options = "newinstance,ptmxmode=0666,mode=0620,max=128";
    return close_after(point, mount("devpts", at, "devpts", MS_NOSUID | MS_NOEXEC, options) == 0);
}

bool stage_devices(uid_t owner)
{
    static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                          "/dev/random", "/dev/urandom", "/dev/tty"};
    static const char *const links[][2] = {{"/proc/self/fd", "/dev/fd"},
                                           {"/proc/self/fd/0", "/dev/stdin"},
                                           {"/proc/self/fd/1", "/dev/stdout"},
                                           {"/proc/self/fd/2", "/dev/stderr"},
                                           {"pts/ptmx", "/dev/ptmx"}};
    char options[96];
    snprintf(options, sizeof options, "mode=0755,size=64k,nr_inodes=1k,uid=%u,gid=%u", (unsigned)owner,
             (unsigned)owner);
    bool ok = stage_tmpfs("/dev", options);
    for (size_t i = 0; ok && i < sizeof devices / sizeof *devices; i++) ok = bind_device(devices[i]);
    for (size_t i = 0; ok && i < sizeof links / sizeof *links; i++) ok = stage_link(links[i][0], links[i][1]);
    snprintf(options, sizeof options, "mode=1777,size=64m,nr_inodes=16k,uid=%u,gid=%u", (unsigned)owner,
             (unsigned)owner);
    return ok && mount_terminals() && stage_tmpfs("/dev/shm", options);
}

bool stage_mask(const char *path)
{
    int there = open_inside(path, O_PATH);
    /* A path that the launcher cannot reach is unreachable for the subordinate user and thus for the sandbox. */
    if (there < 0) return errno == ENOENT || errno == ENOTDIR || (errno == EACCES && users_have_subordinate());
    struct stat s;
    bool folder = fstat(there, &s) == 0 && S_ISDIR(s.st_mode);
    close(there);
    return stage_bind(folder ? empty_folder : empty_file, path, (struct mount_options){.read_only = true}, -1);
}

bool stage_seal(void)
{
    struct attributes attributes = {.set = ATTR_RDONLY};
    int tree = (int)syscall(SYS_open_tree, AT_FDCWD, STAGE_ROOT, OPEN_TREE_CLONE | O_CLOEXEC | AT_RECURSIVE);
    if (tree < 0) return false;
    bool ok = set_attributes(tree, &attributes, false) == 0
              && syscall(SYS_move_mount, tree, "", AT_FDCWD, STAGE_ROOT, MOVE_MOUNT_F_EMPTY_PATH) == 0;
    return close_after(tree, ok);
}

bool stage_beside(int source, const char *name, bool writable)
{
    char path[NAME_MAX + sizeof STAGE + 1];
    int tree = clone_tree(source, (struct mount_options){.read_only = !writable}, -1);
    if (tree < 0) return false;
    snprintf(path, sizeof path, STAGE "/%s", name);
    bool ok = (mkdir(path, 0755) == 0 || (writable && errno == EEXIST))
              && syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) == 0;
    return close_after(tree, ok);
}

bool stage_program(int program)
{
    int place = open(STAGE_PROGRAM, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (place < 0) return false;
    int tree = clone_tree(program, (struct mount_options){.read_only = true}, -1);
    bool ok = tree >= 0 && close_after(tree, move_tree(tree, place));
    return close_after(place, ok);
}

bool stage_bundle(uid_t owner, const char *config, size_t length)
{
    if (mkdir(STAGE_BUNDLE, 0700) != 0 || mkdir(STAGE_STATE, 0700) != 0) return false;
    int fd = open(STAGE_BUNDLE "/config.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool ok = write(fd, config, length) == (ssize_t)length && fchown(fd, owner, owner) == 0
              && chown(STAGE_BUNDLE, owner, owner) == 0 && chown(STAGE_STATE, owner, owner) == 0;
    return close_after(fd, ok);
}

bool stage_users(int users)
{
    char from[64];
    if (users < 0) return true; /* the launcher is already in it */
    snprintf(from, sizeof from, "/proc/self/fd/%d", users);
    int fd = open(STAGE_USERS, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
    return fd >= 0 && close_after(fd, mount(from, STAGE_USERS, NULL, MS_BIND, NULL) == 0);
}

bool host_cover(const char *folder)
{
    return mount("isola", folder, "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "mode=0555,size=4k") == 0
           || errno == ENOENT;
}

bool host_protect(const char *folder)
{
    struct attributes attributes = {.set = ATTR_RDONLY};
    return syscall(SYS_mount_setattr, AT_FDCWD, folder, AT_RECURSIVE, &attributes, sizeof attributes) == 0
           || errno == ENOENT || errno == EINVAL; /* nothing is mounted there */
}

/* An overlay cannot use a detached mount as a layer, so each layer gets a mount point. */
static bool place_layer(const struct lower *lower, const char *place)
{
    struct mount_options as = {.read_only = true, .mapped = lower->userns >= 0};
    int tree = clone_tree(lower->folder, as, lower->userns);
    if (tree < 0) return false;
    bool ok =
        mkdir(place, 0700) == 0 && syscall(SYS_move_mount, tree, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH) == 0;
    return close_after(tree, ok);
}

bool stage_overlay(const struct lower *lowers, int count, int upper, int work, const char *path, const char *more)
{
    char options[4096] = "lowerdir=", at[64];
    size_t length = strlen(options);
    for (int i = 0; i < count; i++) {
        char place[64];
        snprintf(place, sizeof place, STAGE "/layer%d", layers++);
        if (!place_layer(&lowers[i], place)) return false;
        length += (size_t)snprintf(options + length, sizeof options - length, "%s%s", i ? ":" : "", place);
    }
    snprintf(options + length, sizeof options - length, ",upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d%s", upper,
             work, more);
    int point = strcmp(path, "/") == 0 ? open_inside(path, O_PATH) : open_allowed(path, true);
    if (point < 0) return false;
    snprintf(at, sizeof at, "/proc/self/fd/%d", point);
    bool ok = mount("isola", at, "overlay", MS_NOSUID | MS_NODEV, options) == 0;
    if (!close_after(point, ok)) return false;
    if (strcmp(path, "/") == 0) { /* later steps use it, not what is below */
        close(root_fd);
        root_fd = open(STAGE_ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    return root_fd >= 0;
}

/* Reports whether a folder that could not be opened is unreachable in the sandbox as well. */
static bool is_out_of_reach(void)
{
    return errno == ENOENT || errno == EACCES || errno == EROFS;
}

/*
 * An overlay opens the files of its lower layer with the ids of the user that mounted it. If that user owns nothing on
 * the host, the overlay exposes only world-readable files, even to the sandbox's root, which is the server's user.
 */
static bool mount_public(const char *folder, const char *path)
{
    char options[PATH_MAX + 64], at[64];
    if (strpbrk(folder, ",:\\")) return true; /* overlay syntax characters; not shown */
    int point = open_allowed(path, true);
    if (point < 0) return is_out_of_reach();
    snprintf(options, sizeof options, "lowerdir=%s:" STAGE "/nothing,userxattr", folder);
    snprintf(at, sizeof at, "/proc/self/fd/%d", point);
    bool ok =
        users_act_as_subordinate(true) && mount("isola", at, "overlay", MS_NOSUID | MS_NODEV | MS_RDONLY, options) == 0;
    int error = errno;
    users_act_as_subordinate(false);
    errno = error;
    return close_after(point, ok);
}

/* Shows a mount below a shown folder: a folder likewise, a file only if it is world-readable. */
static bool mount_public_beneath(const char *place, const char *point, const char *path)
{
    char inside[PATH_MAX];
    struct stat s;
    int there = open(point, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (there < 0) return true;
    snprintf(inside, sizeof inside, "%s%s", path, point + strlen(place));
    bool known = fstat(there, &s) == 0;
    bool file = known && S_ISREG(s.st_mode) && (s.st_mode & S_IROTH);
    bool ok = file ? stage_bind(there, inside, (struct mount_options){.read_only = true}, -1) || is_out_of_reach()
              : known && S_ISDIR(s.st_mode) ? mount_public(point, inside)
                                            : true;
    return close_after(there, ok);
}

bool stage_public(int source, const char *path)
{
    char place[64], line[4352], point[PATH_MAX];
    snprintf(place, sizeof place, STAGE "/layer%d", layers++);
    size_t length = strlen(place);
    int tree = clone_tree(source, (struct mount_options){.read_only = true, .recursive = true}, -1);
    if (tree < 0) return false;
    bool ok = mkdir(place, 0700) == 0
              && syscall(SYS_move_mount, tree, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH) == 0
              && mount_public(place, path);
    FILE *mounts = close_after(tree, ok) ? fopen("/proc/self/mountinfo", "re") : NULL;
    if (!mounts) return false;
    /* A name with a blank is escaped in mountinfo; mounts with such names are not shown. */
    while (ok && fgets(line, sizeof line, mounts))
        if (sscanf(line, "%*d %*d %*s %*s %4095s", point) == 1 && strncmp(point, place, length) == 0
            && point[length] == '/')
            ok = mount_public_beneath(place, point, path);
    fclose(mounts);
    return ok;
}

int tree_of(int folder, bool read_only, int userns)
{
    return clone_tree(folder, (struct mount_options){.read_only = read_only, .mapped = userns >= 0}, userns);
}

int stage_tree(const char *path, bool read_only)
{
    int there = open_inside(path, O_PATH);
    if (there < 0) return -1;
    int tree = tree_of(there, read_only, -1);
    close_after(there, true);
    return tree;
}

bool stage_again(const char *path, const char *other)
{
    int tree = stage_tree(path, true);
    return tree >= 0 && close_after(tree, move_to(tree, other, true));
}

int stage_boot_id(void)
{
    struct attributes attributes = {.set = ATTR_NOEXEC};
    int file = open(STAGE "/boot_id", O_PATH | O_CLOEXEC);
    if (file < 0) return -1;
    int tree = tree_of(file, true, -1);
    close_after(file, true);
    if (tree < 0 || set_attributes(tree, &attributes, false) == 0) return tree;
    close_after(tree, false);
    return -1;
}

int open_proc_file(const char *path)
{
    struct how how = {.flags = O_PATH | O_CLOEXEC, .resolve = NO_SYMLINKS | NO_MAGICLINKS};
    struct statfs about;
    struct stat s;
    int file = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (file < 0) return -1;
    bool known = fstatfs(file, &about) == 0 && fstat(file, &s) == 0;
    if (known && about.f_type == PROC_SUPER_MAGIC && S_ISREG(s.st_mode)) return file;
    if (known) errno = ENOTSUP;
    close_after(file, false);
    return -1;
}
