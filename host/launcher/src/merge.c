#include "merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "mounts.h"

enum { VALUE_MAX = 1 << 16, NAMES_MAX = 1 << 16, RENAMED_MAX = 4096, CHUNK = 1 << 20 };

/* A folder that an upper layer renamed, with its name in the layers below. */
struct renamed {
    dev_t device;
    ino_t inode;
    char *from;
    bool there;
};

static const char *prefix; /* prefix of overlay attributes */
static bool redirects;     /* whether the kernel follows redirects of renamed folders */
static bool has_lower;     /* whether there is a layer below the lowest */
static bool lowest;        /* whether the current layer is the lowest */
static bool linked;        /* whether its files can be hard-linked */
static int out = -1, spare = -1;
static pid_t parent;
static struct renamed renamed[RENAMED_MAX];
static int renames;
static unsigned long long files, copied;
static char why[512];

static bool fail(const char *format, ...)
{
    int error = errno;
    va_list arguments;
    if (why[0]) return false;
    va_start(arguments, format);
    int length = vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    if (error && length > 0 && (size_t)length < sizeof why)
        snprintf(why + length, sizeof why - (size_t)length, ": %s", strerror(error));
    return false;
}

static bool reject(const char *what)
{
    errno = 0;
    return fail("%s", what);
}

/* ---- names and attributes ------------------------------------------------------------------------------ */

static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_whiteout(const struct stat *s)
{
    return S_ISCHR(s->st_mode) && s->st_rdev == makedev(0, 0);
}

/* Returns the length of an overlay attribute, or -1 if it is absent. */
static ssize_t overlay_attribute(int fd, const char *name, char *value, size_t room)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    ssize_t n = fgetxattr(fd, full, value, room - 1);
    if (n >= 0) value[n] = 0;
    return n;
}

static bool is_opaque(int folder)
{
    char value[8];
    return overlay_attribute(folder, "opaque", value, sizeof value) == 1 && value[0] == 'y';
}

static bool set_overlay_attribute(int fd, const char *name, const char *value)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return fsetxattr(fd, full, value, strlen(value), 0) == 0 || fail("cannot set an overlay attribute");
}

/* Reports whether an attribute belongs to the overlay. */
static bool is_overlay_attribute(const char *name)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_copied(const char *name)
{
    const char *rest = name + strlen(prefix);
    return !is_overlay_attribute(name) || strcmp(rest, "origin") == 0 || strcmp(rest, "impure") == 0;
}

static bool copy_attributes(int from, int to)
{
    static char names[NAMES_MAX], value[VALUE_MAX];
    ssize_t all = flistxattr(to, names, sizeof names);
    for (ssize_t i = 0; i < all; i += (ssize_t)strlen(names + i) + 1)
        if (!is_overlay_attribute(names + i)) fremovexattr(to, names + i);
    all = flistxattr(from, names, sizeof names);
    if (all < 0) return errno == ENOTSUP || fail("cannot read attributes");
    for (ssize_t i = 0; i < all; i += (ssize_t)strlen(names + i) + 1) {
        if (!is_copied(names + i)) continue;
        ssize_t n = fgetxattr(from, names + i, value, sizeof value);
        if (n < 0 && errno == ENODATA) continue;
        if (n < 0 || fsetxattr(to, names + i, value, (size_t)n, 0) != 0) {
            bool label = strncmp(names + i, "security.", 9) == 0 && strcmp(names + i, "security.capability") != 0;
            if (!label) return fail("cannot copy the attribute %s", names + i);
        }
    }
    return true;
}

/* Copies all metadata of a file or folder. */
static bool make_like(int from, int to)
{
    struct stat s;
    if (fstat(from, &s) != 0 || fchown(to, s.st_uid, s.st_gid) != 0 || fchmod(to, s.st_mode & 07777) != 0)
        return fail("cannot copy owner and mode of a file");
    struct timespec times[2] = {s.st_atim, s.st_mtim};
    return copy_attributes(from, to) && (futimens(to, times) == 0 || fail("cannot set times"));
}

/* ---- removing ------------------------------------------------------------------------------------------ */

static bool remove_all(int at, const char *name);

static bool empty_folder(int folder)
{
    DIR *entries = fdopendir(folder);
    if (!entries) return fail("cannot read a folder");
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(entries));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) ok = remove_all(folder, e->d_name);
    closedir(entries);
    return ok;
}

static bool remove_all(int at, const char *name)
{
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT) return true;
    if (errno != EISDIR) return fail("cannot remove %s", name);
    int folder = open_folder(at, name);
    if (folder < 0) return fail("cannot open %s", name);
    return empty_folder(folder) && (unlinkat(at, name, AT_REMOVEDIR) == 0 || fail("cannot remove %s", name));
}

/* ---- copying ------------------------------------------------------------------------------------------- */

static bool copy_piece(int from, int to, off_t offset, off_t end)
{
    static char block[CHUNK];
    while (offset < end) {
        size_t wanted = end - offset < CHUNK ? (size_t)(end - offset) : CHUNK;
        ssize_t n = pread(from, block, wanted, offset);
        if (n <= 0) return n == 0 || fail("cannot read a file");
        for (ssize_t done = 0; done < n;) {
            ssize_t written = pwrite(to, block + done, (size_t)(n - done), offset + done);
            if (written <= 0) return fail("cannot write a file");
            done += written;
        }
        offset += n;
    }
    return true;
}

/* Preserves holes. */
static bool copy_content(int from, int to, off_t size)
{
    if (ftruncate(to, size) != 0) return fail("cannot write a file");
    for (off_t at = 0; at < size;) {
        off_t data = lseek(from, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) break;
        off_t hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
        if (data < 0 || hole < 0) return copy_piece(from, to, at, size);
        if (!copy_piece(from, to, data, hole)) return false;
        at = hole;
    }
    return true;
}

static bool copy_file(int layer, int into, const char *name, const struct stat *s)
{
    int from = openat(layer, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int to = from < 0 ? -1 : openat(into, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = to >= 0 ? copy_content(from, to, s->st_size) && make_like(from, to) : fail("cannot copy %s", name);
    if (from >= 0) close(from);
    if (to >= 0) close(to);
    return ok;
}

static bool copy_special(int layer, int into, const char *name, const struct stat *s)
{
    struct timespec times[2] = {s->st_atim, s->st_mtim};
    char target[PATH_MAX];
    if (S_ISLNK(s->st_mode)) {
        ssize_t n = readlinkat(layer, name, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        if (n <= 0 || symlinkat(target, into, name) != 0) return fail("cannot copy the link %s", name);
    } else if (mknodat(into, name, s->st_mode, s->st_rdev) != 0) {
        return fail("cannot copy %s", name);
    }
    return (fchownat(into, name, s->st_uid, s->st_gid, AT_SYMLINK_NOFOLLOW) == 0
            && (S_ISLNK(s->st_mode) || fchmodat(into, name, s->st_mode & 07777, 0) == 0)
            && utimensat(into, name, times, AT_SYMLINK_NOFOLLOW) == 0)
           || fail("cannot copy %s", name);
}

/* Preserves hard links: the first copy of a file is remembered. */
static bool copy(int layer, int into, const char *name, const struct stat *s)
{
    char first[64];
    snprintf(first, sizeof first, "i%llx", (unsigned long long)s->st_ino);
    if (s->st_nlink > 1 && linkat(spare, first, into, name, 0) == 0) return true;
    copied++;
    if (!(S_ISREG(s->st_mode) ? copy_file(layer, into, name, s) : copy_special(layer, into, name, s))) return false;
    if (s->st_nlink > 1 && linkat(into, name, spare, first, 0) != 0) return fail("cannot link %s", name);
    return true;
}

static bool add_file(int layer, int into, const char *name, const struct stat *s)
{
    files++;
    if (linked && linkat(layer, name, into, name, 0) == 0) return true;
    if (linked && errno != EMLINK && errno != EXDEV) return fail("cannot link %s", name);
    return copy(layer, into, name, s);
}

/* ---- folders that were renamed ------------------------------------------------------------------------- */

static struct renamed *find_renamed(const struct stat *s)
{
    for (int i = 0; i < renames; i++)
        if (renamed[i].inode == s->st_ino && renamed[i].device == s->st_dev) return &renamed[i];
    return NULL;
}

static char *join_path(const char *folder, const char *name)
{
    char *path = malloc(strlen(folder) + strlen(name) + 2);
    if (path) sprintf(path, "%s/%s", folder, name);
    return path;
}

static bool add_renamed(int folder, char *from)
{
    struct stat s;
    if (has_lower) return reject("a folder was renamed");
    if (renames == RENAMED_MAX) return reject("too many folders were renamed");
    if (!from || fstat(folder, &s) != 0) return fail("cannot record a renamed folder");
    renamed[renames++] = (struct renamed){s.st_dev, s.st_ino, from, false};
    return true;
}

/* Finds renamed folders in a layer's folder whose lower name is `from`; NULL if nothing below belongs to it. */
static bool find_renames(int folder, const char *from)
{
    DIR *entries = fdopendir(folder);
    if (!entries) return fail("cannot read a folder");
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(entries));) {
        char redirect[PATH_MAX];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0
            || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
            continue;
        int child = open_folder(folder, e->d_name);
        if (child < 0 && errno == ENOTDIR) continue;
        if (child < 0) {
            ok = fail("cannot open %s", e->d_name);
            break;
        }
        char *lower_path = NULL;
        if (overlay_attribute(child, "redirect", redirect, sizeof redirect) > 0) {
            lower_path = redirect[0] == '/' ? strdup(redirect + 1) : from ? join_path(from, redirect) : NULL;
            if (lower_path) ok = add_renamed(child, strdup(lower_path));
        } else if (from && !is_opaque(child)) {
            lower_path = join_path(from, e->d_name);
        }
        ok = ok && find_renames(child, lower_path); /* closes it */
        free(lower_path);
    }
    closedir(entries);
    return ok;
}

static int deeper_first(const void *a, const void *b)
{
    size_t x = strlen(((const struct renamed *)a)->from), y = strlen(((const struct renamed *)b)->from);
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Opens a folder by its path without following symbolic links. */
static int walk_to(const char *path, char *last)
{
    int at = open_folder(out, ".");
    while (at >= 0) {
        while (*path == '/') path++;
        size_t length = strcspn(path, "/");
        if (length > NAME_MAX) length = NAME_MAX;
        memcpy(last, path, length);
        last[length] = 0;
        path += length;
        while (*path == '/') path++;
        if (!*path) break;
        int next = open_folder(at, last);
        close(at);
        at = next;
    }
    return at;
}

/* Moves renamed folders out of the way before anything takes their place, innermost first. */
static bool move_renamed_aside(void)
{
    qsort(renamed, (size_t)renames, sizeof *renamed, deeper_first);
    for (int i = 0; i < renames; i++) {
        char name[NAME_MAX + 1], kept[32];
        struct stat s;
        int at = walk_to(renamed[i].from, name);
        snprintf(kept, sizeof kept, "r%d", i);
        if (at < 0 || fstatat(at, name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(s.st_mode))
            return fail("there is no folder %s", renamed[i].from);
        renamed[i].there = renameat(at, name, spare, kept) == 0;
        close(at);
        if (!renamed[i].there) return fail("cannot move %s", renamed[i].from);
    }
    return true;
}

static void free_renamed(void)
{
    while (renames > 0) free(renamed[--renames].from);
}

/* ---- merging a layer ----------------------------------------------------------------------------------- */

static bool merge_folder(int layer, int into);

/* Creates the target of a layer's folder. `hides` is set if nothing below shows through it. */
static bool make_folder(int layer, int into, const char *name, bool *hides)
{
    struct stat above, now;
    struct renamed *moved = fstat(layer, &above) == 0 ? find_renamed(&above) : NULL;
    bool there = fstatat(into, name, &now, AT_SYMLINK_NOFOLLOW) == 0;
    *hides = is_opaque(layer);
    if (moved) {
        char kept[32];
        snprintf(kept, sizeof kept, "r%d", (int)(moved - renamed));
        return remove_all(into, name) && (renameat(spare, kept, into, name) == 0 || fail("cannot move %s", name));
    }
    if (there && S_ISDIR(now.st_mode) && !*hides) return true;
    *hides = *hides || there; /* over a file or over nothing, nothing below shows through */
    if (there && !remove_all(into, name)) return false;
    return mkdirat(into, name, 0700) == 0 || fail("cannot create %s", name);
}

static bool merge_subfolder(int layer, int into, const char *name)
{
    char redirect[PATH_MAX];
    bool hides;
    int from = open_folder(layer, name);
    if (from < 0) return fail("cannot open %s", name);
    int to = make_folder(from, into, name, &hides) ? open_folder(into, name) : -1;
    bool ok = to >= 0 || fail("cannot open %s", name);
    if (ok && has_lower && hides) ok = set_overlay_attribute(to, "opaque", "y");
    if (ok && has_lower && lowest && redirects && overlay_attribute(from, "redirect", redirect, sizeof redirect) > 0)
        ok = set_overlay_attribute(to, "redirect", redirect);
    ok = ok && merge_folder(from, to);
    close(from);
    if (to >= 0) close(to);
    return ok;
}

/* With metadata-only copy-up, a file may have its content in a lower layer. */
static bool is_complete(int layer, const char *name)
{
    char path[PATH_MAX], full[64], value[256];
    snprintf(full, sizeof full, "%smetacopy", prefix);
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", layer, name);
    return !redirects || lgetxattr(path, full, value, sizeof value) < 0;
}

static bool merge_entry(int layer, int into, const char *name)
{
    struct stat s;
    if (fstatat(layer, name, &s, AT_SYMLINK_NOFOLLOW) != 0) return fail("cannot stat %s", name);
    if (S_ISDIR(s.st_mode)) return merge_subfolder(layer, into, name);
    if (!is_complete(layer, name)) return reject("a file has its content in another layer");
    if (!remove_all(into, name)) return false;
    return (is_whiteout(&s) && !has_lower) || add_file(layer, into, name, &s);
}

/* Merges a layer's folder into the target; leaves both open. */
static bool merge_folder(int layer, int into)
{
    int again = open_folder(layer, ".");
    DIR *entries = again >= 0 ? fdopendir(again) : NULL;
    if (!entries) return fail("cannot read a folder");
    bool ok = getppid() == parent || reject("the client has exited");
    for (struct dirent *e; ok && (e = readdir(entries));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) ok = merge_entry(layer, into, e->d_name);
    closedir(entries);
    return ok && make_like(layer, into);
}

static bool merge_layer(int folder)
{
    bool ok = true;
    if (redirects && !lowest) ok = find_renames(open_folder(folder, "."), "") && move_renamed_aside();
    ok = ok && merge_folder(folder, out);
    int again = ok ? open_folder(spare, ".") : -1;
    ok = ok && again >= 0 && empty_folder(again);
    free_renamed();
    return ok;
}

/* Opens a layer whose owners start at `from` as if they started at `to`. */
static int open_layer(const char *path, const char *from, const char *to, int (*map)(const char *from, const char *to))
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) fail("cannot open %s", path);
    if (folder < 0 || strcmp(from, to) == 0) return folder;
    int users = map(from, to);
    int tree = tree_of(folder, true, users);
    close(users);
    close(folder);
    folder = tree < 0 ? -1 : open_folder(tree, ".");
    if (tree >= 0) close(tree);
    if (folder < 0) fail("cannot map the owners of %s", path);
    return folder;
}

static bool merge_layers(const struct step *s, int (*map)(const char *from, const char *to))
{
    for (int i = FIRST_LAYER; i + 1 < s->count; i += 2) {
        int folder = open_layer(s->words[i], s->words[i + 1], s->words[3], map);
        if (folder < 0) return false;
        linked = strcmp(s->words[i + 1], s->words[3]) == 0;
        lowest = i == FIRST_LAYER;
        bool ok = merge_layer(folder);
        close(folder);
        if (!ok) return false;
    }
    return copied == 0 || syncfs(out) == 0 || fail("cannot flush to the disk");
}

const char *merge_fill(const struct step *s, int (*map)(const char *from, const char *to))
{
    parent = getppid();
    mode_t mask = umask(0);
    prefix = "trusted.overlay.";
    linked = false;
    redirects = has_lower = lowest = true; /* keeps all that the overlay has stored */
    bool ok = mkdir(s->words[2], 0700) == 0 || fail("cannot create %s", s->words[2]);
    out = open(s->words[1], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    spare = open(s->words[2], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ok = ok && ((out >= 0 && spare >= 0) || fail("cannot open %s", s->words[1]));
    int folder = ok ? open_layer(s->words[4], s->words[5], s->words[3], map) : -1;
    ok = folder >= 0 && merge_layer(folder);
    if (folder >= 0) close(folder);
    if (out >= 0) close(out);
    if (spare >= 0) close(spare);
    ok = ok && (rmdir(s->words[2]) == 0 || fail("cannot remove %s", s->words[2]));
    umask(mask);
    return ok ? NULL : why;
}

int merge(const struct step *s, int (*map)(const char *from, const char *to), bool own_users)
{
    struct rlimit most;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    parent = getppid();
    umask(0);
    if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
        most.rlim_cur = most.rlim_max;
        setrlimit(RLIMIT_NOFILE, &most);
    }
    prefix = own_users ? "user.overlay." : "trusted.overlay.";
    redirects = !own_users;
    has_lower = strcmp(s->words[4], "keep") == 0;
    out = open(s->words[1], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    spare = open(s->words[2], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ok = (out >= 0 && spare >= 0) || fail("cannot open %s", s->words[1]);
    ok = ok && merge_layers(s, map);
    ok = ok && (rmdir(s->words[2]) == 0 || fail("cannot remove %s", s->words[2]));
    if (ok)
        printf("done files=%llu copied=%llu\n", files, copied);
    else
        printf("error %s\n", why);
    return !ok;
}
