#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "file_error.h"
#include "file_request.h"
#include "file_temp.h"
#include "operations.h"
#include "path.h"
#include "tar_folders.h"
#include "tar_name.h"
#include "tar_reader.h"
#include "tar_removal.h"
#include "overlay_diff.h"

enum { KEEP_OWNERS = 1, OWNERS_IF_ALLOWED = 2, LAYER = 4, NO_MODE = 010000, BLOCK = 4096, LEAST_HOLE = 8 * BLOCK };

static const uint64_t default_max_bytes = (uint64_t)64 << 30, default_max_entries = 10000000;

struct tar_in {
    struct stream *s;
    const char *path;
    struct tar_reader reader;
    int top; /* the target folder */
    bool keep_owners;
    bool owners_if_allowed; /* keep a file whose owner cannot be set */
    bool layer;             /* unpack over an image: apply removals, and never write into another mount */
    dev_t device;           /* of the target folder */
    bool other_mount;       /* the parent is in another mount */
    bool owner_missing;     /* the owner of the current entry could not be set */
    uint64_t max_bytes, max_entries, bytes, count;
    char *name;   /* of the current entry, normalized: no `.`, no doubled slashes */
    char *parent; /* parent of the last entry, usually also of the next */
    int parent_fd;
    mode_t kept_mode; /* a mode that new files get in this folder; NO_MODE while unknown */
    struct tar_folders folders;
};

/* ---- failures: each ends the stream and returns false -------------------------------------------------- */

static bool refuse(struct tar_in *in, const char *why, const char *name)
{
    stream_error(in->s, E_BAD_ARCHIVE, 0, "%s: %.1000s", why, name);
    return false;
}

static bool entry_failed(struct tar_in *in, const char *name)
{
    int number = errno;
    if (number == ELOOP) return refuse(in, "an entry's path contains a symbolic link", name);
    if (number == EPERM && in->keep_owners)
        stream_error(in->s, E_DENIED, number, "the agent is not allowed to set this owner: %.1000s", name);
    else
        answer_error(in->s, number, name);
    return false;
}

/* The content ended early: cancelled, truncated, or a write error in errno. */
static bool content_failed(struct tar_in *in, const char *name)
{
    if (in->reader.over) {
        answer_cancelled(in->s);
        return false;
    }
    return refuse(in, in->reader.problem, name);
}

/* ---- names --------------------------------------------------------------------------------------------- */

static const char *leaf_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Returns whether the existing part of in->parent leaves the mount of the target. Creates nothing. */
static bool leads_to_other_mount(struct tar_in *in)
{
    struct stat st;
    for (char *end = in->parent; *end;) {
        end += strcspn(end, "/");
        char kept = *end;
        *end = 0;
        int folder = path_descend(in->top, in->parent, 0);
        *end = kept;
        if (folder < 0) return false;
        bool left = fstat(folder, &st) == 0 && st.st_dev != in->device;
        close(folder);
        if (left) return true;
        end += kept == '/';
    }
    return false;
}

/* Opens the folder of in->name without following links, and creates it if missing. Returns -1 with errno. */
static int parent_of(struct tar_in *in)
{
    size_t length = (size_t)(leaf_of(in->name) - in->name);
    if (length > 0) length--;
    if (in->parent_fd >= 0 && strlen(in->parent) == length && !memcmp(in->parent, in->name, length))
        return in->parent_fd;
    if (in->parent_fd >= 0) close(in->parent_fd);
    memcpy(in->parent, in->name, length);
    in->parent[length] = 0;
    in->kept_mode = NO_MODE;
    in->other_mount = in->layer && leads_to_other_mount(in);
    in->parent_fd = path_descend(in->top, in->parent, in->other_mount ? 0 : 0755);
    if (in->other_mount && in->parent_fd < 0)
        in->parent_fd = path_descend(in->top, "", 0); /* the entry is skipped in any case */
    return in->parent_fd;
}

/* ---- entries ------------------------------------------------------------------------------------------- */

/* Returns the mode bits an archive may set: beyond permissions only when it restores the sandbox's own root. */
static mode_t mode_allowed(const struct tar_in *in, mode_t mode)
{
    return mode & (in->keep_owners && file_view.root_fd < 0 && !in->owner_missing ? 07777 : 0777);
}

static bool owner_set(struct tar_in *in, int folder, const char *name, const struct tar_entry *e)
{
    if (!in->keep_owners) return true;
    if (e->uid >= UINT32_MAX || e->gid >= UINT32_MAX) {
        errno = EINVAL;
        return false;
    }
    int flags = *name ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;
    in->owner_missing = fchownat(folder, name, (uid_t)e->uid, (gid_t)e->gid, flags) < 0;
    /* EINVAL: a uid that is not mapped in this user namespace. */
    return !in->owner_missing || (in->owners_if_allowed && (errno == EPERM || errno == EINVAL));
}

static size_t zeros(const uint8_t *data, size_t length)
{
    static const uint8_t nothing[BLOCK];
    size_t found = 0;
    while (length - found >= BLOCK && !memcmp(data + found, nothing, BLOCK)) found += BLOCK;
    return found;
}

/* Writes data at offset, the current position of fd. Leaves a long run of zeros as a hole. */
static bool write_sparse(int fd, uint64_t offset, const uint8_t *data, size_t length)
{
    size_t written = 0, at = (size_t)(-offset % BLOCK);
    while (at + LEAST_HOLE <= length) {
        size_t hole = zeros(data + at, length - at);
        if (hole < LEAST_HOLE) {
            at += hole + BLOCK;
            continue;
        }
        if (!write_all(fd, data + written, at - written) || lseek(fd, (off_t)hole, SEEK_CUR) < 0) return false;
        written = at += hole;
    }
    return write_all(fd, data + written, length - written);
}

/* Writes the ranges of a sparse file; the rest stays a hole. */
static bool sparse_content(struct tar_in *in, const struct tar_entry *e, int fd)
{
    const char *ranges = e->ranges;
    uint64_t offset, left;
    while (tar_range_next(&ranges, &offset, &left)) {
        if (lseek(fd, (off_t)offset, SEEK_SET) < 0) return entry_failed(in, e->name);
        while (left > 0) {
            const uint8_t *data;
            size_t n = tar_reader_content(&in->reader, &data, left);
            if (n == 0) return content_failed(in, e->name);
            if (!write_all(fd, data, n)) return entry_failed(in, e->name);
            left -= n;
        }
    }
    return ftruncate(fd, (off_t)e->file_size) == 0 || entry_failed(in, e->name);
}

static bool file_content(struct tar_in *in, const struct tar_entry *e, int fd)
{
    if (e->type == TAR_SPARSE) return sparse_content(in, e, fd);
    for (uint64_t left = e->size; left > 0;) {
        const uint8_t *data;
        size_t n = tar_reader_content(&in->reader, &data, left);
        if (n == 0) return content_failed(in, e->name);
        /* Only a restored file may be written with holes. */
        if (!(in->keep_owners ? write_sparse(fd, e->size - left, data, n) : write_all(fd, data, n)))
            return entry_failed(in, e->name);
        left -= n;
    }
    /* A hole at the end needs an explicit file size. */
    if (in->keep_owners && e->size >= LEAST_HOLE && ftruncate(fd, (off_t)e->size) < 0) return entry_failed(in, e->name);
    return true;
}

/* Most files have the right mode from their creation. The first file shows what the folder's umask or ACL removes. */
static bool file_mode(struct tar_in *in, const struct tar_entry *e, int fd)
{
    mode_t mode = mode_allowed(in, e->mode);
    if (mode == in->kept_mode) return true;
    struct stat st;
    if (fstat(fd, &st) < 0) return false;
    if ((st.st_mode & 07777) != mode) return fchmod(fd, mode) == 0;
    in->kept_mode = mode;
    return true;
}

static bool attributes_set(const struct tar_entry *e, int fd)
{
    for (int i = 0; i < e->attribute_count; i++) {
        const struct tar_attribute *a = &e->attributes[i];
        /* Files are accepted on file systems without extended attributes. */
        if (fsetxattr(fd, a->name, a->value, a->length, 0) < 0 && errno != ENOTSUP && errno != EPERM) return false;
    }
    return true;
}

static bool folder_attributes_set(const struct tar_entry *e, int parent, const char *leaf)
{
    if (!e->attribute_count) return true;
    int fd = openat(parent, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    bool set = attributes_set(e, fd);
    close(fd);
    return set;
}

static bool file_attributes(struct tar_in *in, const struct tar_entry *e, int fd)
{
    const struct timespec times[2] = {e->mtime, e->mtime};
    if (!attributes_set(e, fd)) return entry_failed(in, e->name);
    if (!owner_set(in, fd, "", e) || !file_mode(in, e, fd) || futimens(fd, times) < 0) return entry_failed(in, e->name);
    return true;
}

/* Removes an existing entry; a whole folder only when changes of an image are applied. Returns false with errno. */
static bool remove_existing(const struct tar_in *in, int parent, const char *leaf)
{
    if (unlinkat(parent, leaf, 0) == 0) return true;
    return in->layer && (errno == EISDIR || errno == EPERM) && tar_remove(parent, leaf, in->device);
}

static bool unpack_file(struct tar_in *in, const struct tar_entry *e, int parent, const char *leaf)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    mode_t mode = mode_allowed(in, e->mode) & 0777;
    int fd = openat(parent, leaf, flags, mode);
    if (fd < 0 && errno == EEXIST && remove_existing(in, parent, leaf)) fd = openat(parent, leaf, flags, mode);
    if (fd < 0) return entry_failed(in, e->name);
    bool done = file_content(in, e, fd) && file_attributes(in, e, fd);
    close(fd);
    if (!done) {
        unlinkat(parent, leaf, 0);
        return false;
    }
    return tar_reader_skip(&in->reader, tar_padding(e->size)) || content_failed(in, e->name);
}

static bool unpack_link(struct tar_in *in, const struct tar_entry *e, int parent, const char *leaf)
{
    if (!e->target[0]) return refuse(in, "a link has no target", e->name);
    /* Restored links existed in the sandbox already: commands may create any link, and the agent never follows one. */
    if (file_view.root_fd >= 0 && !in->keep_owners && !tar_link_is_inside(in->name, e->target))
        return refuse(in, "a link points outside the target folder", e->name);
    if (symlinkat(e->target, parent, leaf) < 0
        && (errno != EEXIST || !remove_existing(in, parent, leaf) || symlinkat(e->target, parent, leaf) < 0))
        return entry_failed(in, e->name);
    if (!owner_set(in, parent, leaf, e)) return entry_failed(in, e->name);
    const struct timespec times[2] = {e->mtime, e->mtime};
    utimensat(parent, leaf, times, AT_SYMLINK_NOFOLLOW); /* some file systems keep no times for links */
    return true;
}

static bool link_made(const struct tar_in *in, int from, const char *name, int parent, const char *leaf)
{
    struct stat a, b;
    if (linkat(from, name, parent, leaf, 0) == 0) return true;
    if (errno != EEXIST || fstatat(from, name, &a, AT_SYMLINK_NOFOLLOW) < 0
        || fstatat(parent, leaf, &b, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    if (a.st_dev == b.st_dev && a.st_ino == b.st_ino) return true;
    return remove_existing(in, parent, leaf) && linkat(from, name, parent, leaf, 0) == 0;
}

static bool unpack_hard_link(struct tar_in *in, const struct tar_entry *e, int parent, const char *leaf)
{
    char *target = malloc(strlen(e->target) + 1);
    if (!target) {
        answer_no_memory(in->s);
        return false;
    }
    const char *why = tar_name_normalize(e->target, target);
    bool done = false;
    if (why || !*target) {
        refuse(in, why ? why : "a hard link has no target", e->target);
    } else {
        char *name = strrchr(target, '/');
        if (name) *name++ = 0;
        int from = path_descend(in->top, name ? target : "", 0);
        done = from >= 0 && link_made(in, from, name ? name : target, parent, leaf);
        if (!done) entry_failed(in, e->name);
        if (from >= 0) close(from);
    }
    free(target);
    return done;
}

/* Makes a folder writable that an earlier unpacking left read-only. Its mode is set again at the end. */
static void folder_unlock(int parent, const char *leaf, mode_t mode)
{
    int fd = openat(parent, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    fchmod(fd, (mode & 07777) | 0700); /* if this fails, creating the next file reports it */
    close(fd);
}

static bool unpack_folder(struct tar_in *in, const struct tar_entry *e, int parent, const char *leaf)
{
    struct stat st;
    if (mkdirat(parent, leaf, 0700) < 0) {
        if (errno != EEXIST || fstatat(parent, leaf, &st, AT_SYMLINK_NOFOLLOW) < 0) return entry_failed(in, e->name);
        if (!S_ISDIR(st.st_mode) && (unlinkat(parent, leaf, 0) < 0 || mkdirat(parent, leaf, 0700) < 0))
            return entry_failed(in, e->name);
        if (S_ISDIR(st.st_mode) && (st.st_mode & 0700) != 0700) folder_unlock(parent, leaf, st.st_mode);
    }
    if (!folder_attributes_set(e, parent, leaf) || !owner_set(in, parent, leaf, e)) return entry_failed(in, e->name);
    tar_folders_add(&in->folders, in->top, in->name, mode_allowed(in, e->mode), &e->mtime);
    return true;
}

/*
 * Returns whether the entry is, or lies in, another mount over the target: a volume, or a file the sandbox is booted
 * with.
 */
static bool is_covered(const struct tar_in *in, int parent, const char *leaf)
{
    struct stat st;
    if (!in->layer) return false;
    return in->other_mount
           || (fstatat(parent, leaf, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_mount_point(parent, leaf, &st, in->device));
}

static bool skip_entry(struct tar_in *in, const struct tar_entry *e)
{
    return tar_reader_skip(&in->reader, e->size + tar_padding(e->size)) || content_failed(in, e->name);
}

static bool apply_removal(struct tar_in *in, const struct tar_entry *e, int parent, const char *leaf)
{
    return tar_remove(parent, leaf, in->device) || entry_failed(in, e->name);
}

/* Returns the reason why an entry type is refused, or NULL. */
static const char *type_problem(const struct tar_in *in, const struct tar_entry *e)
{
    switch (e->type) {
    case TAR_REMOVED:
        return !in->layer ? "an entry has an unknown type" : e->size ? "a removal has content" : NULL;
    case TAR_FILE:
        return NULL;
    case TAR_FOLDER:
    case TAR_LINK:
    case TAR_HARD_LINK:
        return e->size ? "a folder or link has content" : NULL;
    case '3':
    case '4':
        return "devices are not allowed";
    case TAR_FIFO:
        return "named pipes are not allowed";
    case TAR_SPARSE: /* in a capture of a sandbox */
        if (in->keep_owners && e->ranges) return NULL;
        return "sparse, incremental and multi-volume archives are not supported";
    case 'D':
    case 'M':
        return "sparse, incremental and multi-volume archives are not supported";
    default:
        return "an entry has an unknown type";
    }
}

static bool unpack_entry(struct tar_in *in, const struct tar_entry *e)
{
    const char *why = type_problem(in, e);
    if (!why) why = tar_name_normalize(e->name, in->name);
    if (!why && !in->name[0] && (e->type != TAR_FOLDER || !e->name[0])) why = "an entry has no name";
    if (why) return refuse(in, why, e->name);
    if (++in->count > in->max_entries) {
        stream_error(in->s, E_LIMIT, 0, "the archive has more than MAX_ENTRIES (%llu) entries",
                     (unsigned long long)in->max_entries);
        return false;
    }
    if (e->file_size > in->max_bytes || (in->bytes += e->file_size) > in->max_bytes) {
        stream_error(in->s, E_LIMIT, 0, "the archive has more than MAX_BYTES (%llu) bytes",
                     (unsigned long long)in->max_bytes);
        return false;
    }
    if (!in->name[0]) {
        /* The target folder itself keeps its mode and owner, unless a whole tree is restored. */
        if (!in->keep_owners) return true;
        if (!folder_attributes_set(e, in->top, ".") || !owner_set(in, in->top, ".", e))
            return entry_failed(in, e->name);
        tar_folders_add(&in->folders, in->top, "", mode_allowed(in, e->mode), &e->mtime);
        return true;
    }
    int parent = parent_of(in);
    const char *leaf = leaf_of(in->name);
    if (parent < 0) return entry_failed(in, e->name);
    if (is_covered(in, parent, leaf)) return skip_entry(in, e);
    switch (e->type) {
    case TAR_REMOVED:
        return apply_removal(in, e, parent, leaf);
    case TAR_FOLDER:
        return unpack_folder(in, e, parent, leaf);
    case TAR_LINK:
        return unpack_link(in, e, parent, leaf);
    case TAR_HARD_LINK:
        return unpack_hard_link(in, e, parent, leaf);
    default:
        return unpack_file(in, e, parent, leaf);
    }
}

/* ---- the operation ------------------------------------------------------------------------------------- */

static void tar_in_run(struct tar_in *in)
{
    struct tar_entry *e = malloc(sizeof *e);
    bool going = e != NULL;
    if (!e) answer_no_memory(in->s);
    while (going && tar_reader_next(&in->reader, e)) going = unpack_entry(in, e);
    free(e);
    /* Also after a failure: folders created so far must not stay unreadable. */
    tar_folders_apply(&in->folders, in->top);
    if (!going) return;
    if (!in->reader.over && !in->reader.problem) tar_reader_drain(&in->reader);
    if (in->reader.over) {
        answer_cancelled(in->s);
    } else if (in->reader.problem) {
        stream_error(in->s, E_BAD_ARCHIVE, 0, "%s: entry %llu", in->reader.problem, (unsigned long long)in->count + 1);
    } else {
        struct builder b = {0};
        build_u64(&b, T_COUNT, in->count);
        build_u64(&b, T_SIZE, in->bytes);
        stream_end(in->s, &b);
        builder_free(&b);
    }
}

/* Opens the target folder; creates it and its parents if missing. */
static int target_open(const char *path)
{
    int fd = path_open(path, O_PATH | O_DIRECTORY);
    struct path_parent p;
    if (fd >= 0 || errno != ENOENT || !path_make_parents(path, 0755) || !path_resolve_parent(path, &p)) return fd;
    if (p.leaf[0] && mkdirat(p.folder, p.leaf, 0755) < 0 && errno != EEXIST) {
        int saved = errno;
        path_parent_close(&p);
        errno = saved;
        return -1;
    }
    path_parent_close(&p);
    return path_open(path, O_PATH | O_DIRECTORY);
}

static bool target_stat(struct tar_in *in)
{
    struct stat st;
    if (fstat(in->top, &st) < 0) return false;
    in->device = st.st_dev;
    return true;
}

static void tar_in_path(struct stream *s, struct fields f, const char *path)
{
    struct tar_in in = {
        .s = s,
        .path = path,
        .top = -1,
        .parent_fd = -1,
        .kept_mode = NO_MODE,
        .reader = {.s = s},
        .keep_owners = fields_u64(f, T_FLAGS, 0) & KEEP_OWNERS,
        .owners_if_allowed = fields_u64(f, T_FLAGS, 0) & OWNERS_IF_ALLOWED,
        .layer = fields_u64(f, T_FLAGS, 0) & LAYER,
        .max_bytes = fields_u64(f, T_MAX_BYTES, default_max_bytes),
        .max_entries = fields_u64(f, T_MAX_ENTRIES, default_max_entries),
        .name = malloc(TAR_NAME_MAX + 1),
        .parent = malloc(TAR_NAME_MAX + 1),
    };
    if (!in.name || !in.parent)
        answer_no_memory(s);
    else if ((in.top = target_open(path)) < 0)
        answer_error(s, errno, path);
    else if (target_stat(&in))
        tar_in_run(&in);
    else
        answer_error(s, errno, path);
    tar_folders_free(&in.folders);
    tar_reader_stop(&in.reader);
    if (in.parent_fd >= 0) close(in.parent_fd);
    if (in.top >= 0) close(in.top);
    free(in.parent);
    free(in.name);
}

void operate_tar_in(const struct request *r)
{
    if (fields_u64(r->fields, T_FLAGS, 0) & KEEP_OWNERS)
        file_operation_privileged(r, tar_in_path);
    else
        file_operation(r, tar_in_path);
}
