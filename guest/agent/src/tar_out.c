#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "file_error.h"
#include "file_request.h"
#include "glob.h"
#include "freeze.h"
#include "inode_table.h"
#include "link_text.h"
#include "operations.h"
#include "path.h"
#include "tar_writer.h"
#include "tree.h"
#include "overlay_diff.h"

enum { PATTERNS_MAX = 256, EXACT_TIMES = 1, FREEZE_COMMANDS = 2, MARKS = 4, WITHOUT_HOLES = 8 };

/* File timestamps are coarse: a file changed this shortly before it was read may have changed again afterwards. */
static const uint64_t RECENT_NS = 2000000000;

struct patterns {
    struct glob globs[PATTERNS_MAX];
    bool anywhere[PATTERNS_MAX]; /* a pattern without a slash matches any entry with that name */
    int count;
};

struct tar_out {
    struct stream *s;
    const char *path; /* as in the request */
    struct tar_writer writer;
    char *culprit; /* path of the first failure */
    struct patterns includes, excludes;
    int whole;                         /* depth of the folder that is included with all its content; 0 for none */
    size_t before[TREE_DEPTH_MAX + 1]; /* by depth of a folder: length of the deferred headers before it */
    uint64_t since;                    /* content of files unchanged since then is omitted; 0 for never */
    uint64_t began;                    /* when the capture started, by the clock of file timestamps */
    char *layer, *image; /* changes of an image: the overlay's upper folder and the image; NULL for none */
    bool without_holes;  /* sparse files as TAR_SPARSE */
    bool folders;        /* whole folders, named from the root, without mounts in them */
    dev_t device;        /* of the folder being walked */
    uint64_t changed;    /* only entries changed since then, without other mounts; 0 for all */
    struct fields request;
    struct inode_table links;
};

static void failed(struct tar_out *o, int number, const char *relative)
{
    if (!o->writer.number) {
        o->writer.number = number;
        o->culprit = path_join(o->path, relative);
    }
}

/* ---- entries ------------------------------------------------------------------------------------------- */

/* Any change of a file updates its ctime, which no process can set back. */
static uint64_t changed_at(const struct stat *st)
{
    return (uint64_t)st->st_ctim.tv_sec * 1000000000 + (uint64_t)st->st_ctim.tv_nsec;
}

static bool put_unchanged(struct tar_out *o, int folder, const char *name, const char *relative)
{
    struct stat st;
    if (!o->since || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode)) return false;
    if (changed_at(&st) >= o->since) return false;
    const char *first = st.st_nlink > 1 ? inode_table_seen(&o->links, st.st_dev, st.st_ino, relative) : NULL;
    o->writer.unchanged = !first;
    tar_put_entry(&o->writer, relative, first ? TAR_HARD_LINK : TAR_FILE, &st, first, -1);
    o->writer.unchanged = false;
    return true;
}

static void put_file(struct tar_out *o, int folder, const char *name, const char *relative)
{
    struct stat st;
    if (put_unchanged(o, folder, name, relative)) return;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT) failed(o, errno, relative);
        return;
    }
    if (fstat(fd, &st) < 0) {
        failed(o, errno, relative);
    } else if (S_ISREG(st.st_mode)) {
        /* Recorded only now: a link to a file that has vanished could not be unpacked. */
        const char *first = st.st_nlink > 1 ? inode_table_seen(&o->links, st.st_dev, st.st_ino, relative) : NULL;
        if (!first && o->without_holes && tar_put_sparse(&o->writer, relative, &st, fd)) {
            close(fd);
            return;
        }
        tar_put_entry(&o->writer, relative, first ? TAR_HARD_LINK : TAR_FILE, &st, first, first ? -1 : fd);
        if (!first) tar_put_content(&o->writer, fd, (uint64_t)st.st_size);
    }
    close(fd);
}

static bool match_name(const struct patterns *p, const char *name, const char *path)
{
    for (int i = 0; i < p->count; i++) {
        const struct glob *g = &p->globs[i];
        if (p->anywhere[i] ? glob_name(g->components[0], name, true) : glob_path(g, path, true)) return true;
    }
    return false;
}

static bool match(const struct patterns *p, const struct tree *t)
{
    return match_name(p, t->name, t->path);
}

static bool included(const struct tar_out *o, const struct tree *t)
{
    return !o->includes.count || o->whole || match(&o->includes, t);
}

static void leave_folder(struct tar_out *o, const struct tree *t)
{
    tar_discard_deferred(&o->writer, o->before[t->depth]);
    if (o->whole == t->depth) o->whole = 0;
}

static void put_folder(struct tar_out *o, struct tree *t, const struct stat *st)
{
    char *name = path_join(t->path, "");
    size_t length = strlen(t->path);
    char *slashed = name ? realloc(name, length + 2) : NULL;
    if (!slashed) {
        free(name);
        failed(o, ENOMEM, t->path);
        return;
    }
    memcpy(slashed + length, "/", 2);
    /* Extended attributes are read from the opened descriptor; a folder that no longer exists is omitted. */
    int fd = openat(t->folder, t->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (!o->whole && o->includes.count && included(o, t)) o->whole = t->depth;
    o->before[t->depth] = o->writer.deferred_length;
    if (fd >= 0) {
        /* It may contain an included entry. */
        tar_defer(&o->writer, !included(o, t) || (o->changed && changed_at(st) < o->changed));
        tar_put_entry(&o->writer, slashed, TAR_FOLDER, st, NULL, fd);
        tar_defer(&o->writer, false);
        close(fd);
    }
    if (fd < 0 || !tree_enter(t)) {
        if (errno != ENOENT) failed(o, errno, t->path);
        leave_folder(o, t);
    }
    free(slashed);
}

/* Files that are created whenever a sandbox is booted. */
static bool is_booted(const char *path)
{
    static const char *const folders[] = {".dockerenv", ".isola", "dev", "proc", "run", "sys"};
    static const char *const files[] = {"etc/hostname", "etc/hosts", "etc/resolv.conf"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        if (!strncmp(path, folders[i], length) && (!path[length] || path[length] == '/')) return true;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!strcmp(path, files[i])) return true;
    return false;
}

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_beneath(const char *path, const char *folder, size_t length)
{
    return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

/* Returns whether the path is in a folder that is included whole. */
static bool in_folders(const struct tar_out *o, const char *path)
{
    struct field field;
    for (size_t position = 0; o->folders && fields_next(o->request, &position, &field);) {
        const char *folder = (const char *)field.value;
        size_t length = field.length;
        if (field.tag != T_FOLDER) continue;
        for (; length && *folder == '/'; length--) folder++;
        if (length && is_beneath(path, folder, length)) return true;
    }
    return false;
}

static bool is_excluded(const struct tar_out *o, const char *path)
{
    return is_booted(path) || in_folders(o, path) || match_name(&o->excludes, last_of(path), path);
}

/* Returns whether an entry of the root is not one of its changes. */
static bool is_no_change(const struct tar_out *o, const struct tree *t)
{
    struct stat st;
    if (is_excluded(o, t->path) || fstatat(t->folder, t->name, &st, AT_SYMLINK_NOFOLLOW) < 0) return true;
    return (!S_ISDIR(st.st_mode) && changed_at(&st) < o->changed) || is_mount_point(t->folder, t->name, &st, o->device);
}

static void put_tree_entry(struct tar_out *o, struct tree *t)
{
    struct stat st;
    char target[PATH_MAX];
    if (match(&o->excludes, t) || (t->kind == DT_REG && !included(o, t)) || (o->changed && is_no_change(o, t))) return;
    if (t->kind == DT_REG) /* checked once it is open */
        put_file(o, t->folder, t->name, t->path);
    else if (fstatat(t->folder, t->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    else if (S_ISDIR(st.st_mode) && o->folders && is_mount_point(t->folder, t->name, &st, o->device))
        return; /* volumes are not part of the sandbox */
    else if (S_ISDIR(st.st_mode))
        put_folder(o, t, &st);
    else if (!included(o, t))
        return;
    else if (S_ISREG(st.st_mode))
        put_file(o, t->folder, t->name, t->path);
    else if (S_ISLNK(st.st_mode) && link_text(t->folder, t->name, target, sizeof target))
        tar_put_entry(&o->writer, t->path, TAR_LINK, &st, target, -1);
    else if (S_ISFIFO(st.st_mode) && !o->writer.marks) /* a restore cannot create it */
        tar_put_entry(&o->writer, t->path, TAR_FIFO, &st, NULL, -1);
    /* Sockets are useless elsewhere, and devices must not be copied. */
}

static void put_tree(struct tar_out *o, int top)
{
    struct tree t;
    struct stat st;
    if (fstat(top, &st) == 0) {
        o->device = st.st_dev;
        if (!o->changed) tar_put_entry(&o->writer, "./", TAR_FOLDER, &st, NULL, top);
    }
    if (!tree_start(&t, top, true)) {
        failed(o, errno, "");
        return;
    }
    enum tree_step step;
    uint64_t seen = 0;
    while (tar_writer_active(&o->writer) && (step = tree_next(&t)) != TREE_END) {
        if ((++seen & 1023) == 0 && stream_over(o->s))
            o->writer.over = true;
        else if (step == TREE_ENTRY)
            put_tree_entry(o, &t);
        else
            leave_folder(o, &t);
        if (o->writer.number && !o->culprit) o->culprit = path_join(o->path, t.path);
    }
    if (t.error) failed(o, t.error, "");
    tree_stop(&t);
}

/* ---- changes of an image ------------------------------------------------------------------------------- */

static void put_removed(void *self, const char *path)
{
    struct tar_out *o = self;
    struct stat none = {0};
    if (!is_excluded(o, path)) tar_put_entry(&o->writer, path, TAR_REMOVED, &none, NULL, -1);
}

static bool put_written_folder(void *self, int folder, const char *name, const char *path, const struct stat *st)
{
    struct tar_out *o = self;
    if (is_excluded(o, path)) return false;
    char *slashed = path_join(path, "");
    size_t length = strlen(path);
    char *longer = slashed ? realloc(slashed, length + 2) : NULL;
    if (!longer) {
        free(slashed);
        failed(o, ENOMEM, path);
        return false;
    }
    memcpy(longer, path, length);
    memcpy(longer + length, "/", 2);
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        tar_put_entry(&o->writer, longer, TAR_FOLDER, st, NULL, fd);
        close(fd);
    } else if (errno != ENOENT) {
        failed(o, errno, path);
    }
    free(longer);
    return fd >= 0;
}

static void put_written(void *self, int folder, const char *name, const char *path, const struct stat *st)
{
    struct tar_out *o = self;
    char target[PATH_MAX];
    if (is_excluded(o, path)) return;
    if (S_ISREG(st->st_mode))
        put_file(o, folder, name, path);
    else if (S_ISLNK(st->st_mode) && link_text(folder, name, target, sizeof target))
        tar_put_entry(&o->writer, path, TAR_LINK, st, target, -1);
}

static bool diff_active(void *self)
{
    struct tar_out *o = self;
    if (tar_writer_active(&o->writer) && stream_over(o->s)) o->writer.over = true;
    return tar_writer_active(&o->writer);
}

static void put_layer(struct tar_out *o)
{
    const struct overlay_diff_visitor visitor = {
        .self = o,
        .removed = put_removed,
        .folder = put_written_folder,
        .other = put_written,
        .going = diff_active,
    };
    char *culprit = NULL;
    int root = path_open(o->path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    int upper = path_open(o->layer, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    int image = o->image ? path_open(o->image, O_RDONLY | O_DIRECTORY | O_NONBLOCK) : -1;
    if (root < 0 || upper < 0 || (o->image && image < 0)) {
        failed(o, errno, "");
    } else {
        int number = overlay_diff_walk(root, upper, image, &visitor, &culprit);
        if (number) failed(o, number, culprit ? culprit : "");
        free(culprit);
    }
    if (root >= 0) close(root);
    if (upper >= 0) close(upper);
    if (image >= 0) close(image);
}

/* Each folder is a separate tree: no hard link connects two of them. */
static void put_folders(struct tar_out *o, struct fields f)
{
    struct field field;
    for (size_t position = 0; tar_writer_active(&o->writer) && fields_next(f, &position, &field);) {
        if (field.tag != T_FOLDER) continue;
        char *path = strndup((const char *)field.value, field.length);
        int top = path ? path_open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK) : -1;
        if (top >= 0) {
            inode_table_free(&o->links);
            memset(&o->links, 0, sizeof o->links);
            o->writer.prefix = path + strspn(path, "/");
            put_tree(o, top);
            o->writer.prefix = NULL;
        } else if (!path || errno != ENOENT) {
            failed(o, path ? errno : ENOMEM, path ? path : "");
        }
        free(path);
    }
}

/* ---- the operation ------------------------------------------------------------------------------------- */

static bool patterns_take(struct tar_out *o, struct patterns *p, struct fields f, enum tag tag, const char *name)
{
    struct field field;
    for (size_t position = 0; fields_next(f, &position, &field);) {
        if (field.tag != tag) continue;
        char *text = strndup((const char *)field.value, field.length);
        if (p->count == PATTERNS_MAX) {
            stream_error(o->s, E_LIMIT, 0, "more than %d %s patterns", PATTERNS_MAX, name);
            free(text);
            return false;
        }
        if (!text || !glob_compile(&p->globs[p->count], text)) {
            stream_error(o->s, E_INVALID, 0, "%s is not a relative pattern: %s", name, text ? text : "");
            free(text);
            return false;
        }
        p->anywhere[p->count++] = !strchr(text, '/');
        free(text);
    }
    return true;
}

static void patterns_free(struct patterns *p)
{
    while (p->count > 0) glob_free(&p->globs[--p->count]);
}

static void tar_out_answer(struct tar_out *o, uint64_t frozen_ns)
{
    if (tar_writer_active(&o->writer)) tar_finish(&o->writer);
    if (o->writer.number) {
        answer_error(o->s, o->writer.number, o->culprit ? o->culprit : o->path);
    } else if (o->writer.over) {
        answer_cancelled(o->s);
    } else {
        struct builder b = {0};
        build_u64(&b, T_COUNT, o->writer.count);
        build_u64(&b, T_SIZE, o->writer.size);
        build_u64(&b, T_TIME_NS, o->began - RECENT_NS);
        build_u64(&b, T_DURATION_NS, frozen_ns);
        stream_end(o->s, &b);
        builder_free(&b);
    }
}

/* Archives a folder, or a single file under its own name. */
static void tar_out_from(struct tar_out *o)
{
    struct stat st;
    struct path_parent p;
    int top = path_open(o->path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (top >= 0) {
        put_tree(o, top);
    } else if (errno != ENOTDIR || !path_resolve_parent_following(o->path, &p)) {
        failed(o, errno, "");
    } else {
        if (fstatat(p.folder, p.leaf, &st, AT_SYMLINK_NOFOLLOW) < 0)
            failed(o, errno, "");
        else if (!S_ISREG(st.st_mode))
            failed(o, ENXIO, "");
        else
            put_file(o, p.folder, p.leaf, p.leaf);
        path_parent_close(&p);
    }
}

/* Sends the end of the archive and thaws the commands before END. */
static void tar_out_all(struct tar_out *o, struct fields f, bool freeze)
{
    struct freeze state;
    uint64_t time = 0;
    struct timespec now;
    if (freeze && !freeze_begin(&state)) {
        stream_error(o->s, E_UNSUPPORTED, errno, "the commands cannot be frozen: %s", strerror(errno));
        return;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    o->began = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (o->layer) put_layer(o);
    if (o->changed || (!o->layer && !o->folders)) tar_out_from(o);
    o->changed = 0;
    if (o->folders) put_folders(o, f);
    if (freeze) time = freeze_end(&state);
    tar_out_answer(o, time);
}

static void tar_out_path(struct stream *s, struct fields f, const char *path)
{
    struct tar_out *o = calloc(1, sizeof *o);
    if (!o || !tar_writer_start(&o->writer, s)) {
        free(o);
        answer_no_memory(s);
        return;
    }
    uint64_t flags = fields_u64(f, T_FLAGS, 0);
    o->s = s;
    o->path = path;
    o->since = fields_u64(f, T_TIME_NS, 0);
    o->writer.exact_times = flags & EXACT_TIMES;
    o->writer.marks = flags & MARKS;
    o->without_holes = flags & WITHOUT_HOLES;
    o->layer = fields_text(f, T_LAYER);
    o->image = fields_text(f, T_IMAGE);
    o->folders = fields_has(f, T_FOLDER);
    o->changed = fields_u64(f, T_CHANGED_NS, 0);
    o->request = f;
    if (patterns_take(o, &o->excludes, f, T_EXCLUDE, "EXCLUDE")
        && patterns_take(o, &o->includes, f, T_INCLUDE, "INCLUDE"))
        tar_out_all(o, f, flags & FREEZE_COMMANDS);
    patterns_free(&o->excludes);
    patterns_free(&o->includes);
    inode_table_free(&o->links);
    free(o->culprit);
    free(o->layer);
    free(o->image);
    tar_writer_stop(&o->writer);
    free(o);
}

void operate_tar_out(const struct request *r)
{
    if (fields_u64(r->fields, T_FLAGS, 0) & MARKS)
        file_operation_privileged(r, tar_out_path);
    else
        file_operation(r, tar_out_path);
}
