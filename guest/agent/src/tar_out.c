#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_error.h"
#include "file_request.h"
#include "glob.h"
#include "inode_table.h"
#include "operations.h"
#include "path.h"
#include "tar_writer.h"
#include "tree.h"

enum { EXCLUDES_MAX = 256, EXACT_TIMES = 1 };

struct tar_out {
    struct stream *s;
    const char *path;            /* as the caller gave it */
    struct tar_writer writer;
    char *culprit;               /* what the writer's first failure was about */
    struct glob excludes[EXCLUDES_MAX];
    bool exclude_anywhere[EXCLUDES_MAX];    /* a pattern without a slash: any entry of that name */
    int exclude_count;
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

static void put_file(struct tar_out *o, int folder, const char *name, const char *relative)
{
    struct stat st;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT)
            failed(o, errno, relative);
        return;
    }
    if (fstat(fd, &st) < 0) {
        failed(o, errno, relative);
    } else if (S_ISREG(st.st_mode)) {
        /* Only now is the name remembered: a link to a file that vanished would not unpack. */
        const char *first = st.st_nlink > 1 ? inode_table_seen(&o->links, st.st_dev, st.st_ino, relative) : NULL;
        tar_put_entry(&o->writer, relative, first ? TAR_HARD_LINK : TAR_FILE, &st, first, first ? -1 : fd);
        if (!first)
            tar_put_content(&o->writer, fd, (uint64_t) st.st_size);
    }
    close(fd);
}

static bool excluded(const struct tar_out *o, const struct tree *t)
{
    for (int i = 0; i < o->exclude_count; i++) {
        const struct glob *g = &o->excludes[i];
        if (o->exclude_anywhere[i] ? glob_name(g->components[0], t->name, true) : glob_path(g, t->path, true))
            return true;
    }
    return false;
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
    /* Entering gives the descriptor that the attributes are read from; a folder that is gone is left out. */
    int fd = openat(t->folder, t->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        tar_put_entry(&o->writer, slashed, TAR_FOLDER, st, NULL, fd);
        close(fd);
    }
    if ((fd < 0 || !tree_enter(t)) && errno != ENOENT)
        failed(o, errno, t->path);
    free(slashed);
}

static void put_tree_entry(struct tar_out *o, struct tree *t)
{
    struct stat st;
    char target[PATH_MAX];
    if (excluded(o, t))
        return;
    if (t->kind == DT_REG)           /* it is looked at once it is open */
        put_file(o, t->folder, t->name, t->path);
    else if (fstatat(t->folder, t->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    else if (S_ISREG(st.st_mode))
        put_file(o, t->folder, t->name, t->path);
    else if (S_ISDIR(st.st_mode))
        put_folder(o, t, &st);
    else if (S_ISLNK(st.st_mode) && link_text(t->folder, t->name, target, sizeof target))
        tar_put_entry(&o->writer, t->path, TAR_LINK, &st, target, -1);
    else if (S_ISFIFO(st.st_mode))
        tar_put_entry(&o->writer, t->path, TAR_FIFO, &st, NULL, -1);
    /* Sockets mean nothing elsewhere, and devices are not ours to copy. */
}

static void put_tree(struct tar_out *o, int top)
{
    struct tree t;
    struct stat st;
    if (fstat(top, &st) == 0)
        tar_put_entry(&o->writer, "./", TAR_FOLDER, &st, NULL, top);
    if (!tree_start(&t, top, true)) {
        failed(o, errno, "");
        return;
    }
    enum tree_step step;
    uint64_t seen = 0;
    while (tar_going(&o->writer) && (step = tree_next(&t)) != TREE_END) {
        if ((++seen & 1023) == 0 && stream_over(o->s))
            o->writer.over = true;
        else if (step == TREE_ENTRY)
            put_tree_entry(o, &t);
        if (o->writer.number && !o->culprit)
            o->culprit = path_join(o->path, t.path);
    }
    if (t.error)
        failed(o, t.error, "");
    tree_stop(&t);
}

/* ---- the operation ------------------------------------------------------------------------------------- */

static bool excludes_take(struct tar_out *o, struct fields f)
{
    struct field field;
    for (size_t position = 0; fields_next(f, &position, &field);) {
        if (field.tag != T_EXCLUDE)
            continue;
        char *text = strndup((const char *) field.value, field.length);
        if (o->exclude_count == EXCLUDES_MAX) {
            stream_error(o->s, E_LIMIT, 0, "more than %d EXCLUDE patterns", EXCLUDES_MAX);
            free(text);
            return false;
        }
        if (!text || !glob_compile(&o->excludes[o->exclude_count], text)) {
            stream_error(o->s, E_INVALID, 0, "EXCLUDE is not a relative pattern: %s", text ? text : "");
            free(text);
            return false;
        }
        o->exclude_anywhere[o->exclude_count] = !strchr(text, '/');
        o->exclude_count++;
        free(text);
    }
    return true;
}

static void tar_out_answer(struct tar_out *o)
{
    if (tar_going(&o->writer))
        tar_finish(&o->writer);
    if (o->writer.number) {
        answer_error(o->s, o->writer.number, o->culprit ? o->culprit : o->path);
    } else if (o->writer.over) {
        answer_cancelled(o->s);
    } else {
        struct builder b = { 0 };
        build_u64(&b, T_COUNT, o->writer.count);
        build_u64(&b, T_SIZE, o->writer.size);
        stream_end(o->s, &b);
        builder_free(&b);
    }
}

/* A folder, or a single file under its own name. */
static void tar_out_from(struct tar_out *o)
{
    struct stat st;
    struct place p;
    int top = path_open(o->path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (top >= 0) {
        put_tree(o, top);
    } else if (errno != ENOTDIR || !path_place_followed(o->path, &p)) {
        failed(o, errno, "");
    } else {
        if (fstatat(p.folder, p.leaf, &st, AT_SYMLINK_NOFOLLOW) < 0)
            failed(o, errno, "");
        else if (!S_ISREG(st.st_mode))
            failed(o, ENXIO, "");
        else
            put_file(o, p.folder, p.leaf, p.leaf);
        place_close(&p);
    }
}

static void tar_out_path(struct stream *s, struct fields f, const char *path)
{
    struct tar_out *o = calloc(1, sizeof *o);
    if (!o || !tar_writer_start(&o->writer, s)) {
        free(o);
        answer_no_memory(s);
        return;
    }
    o->s = s;
    o->path = path;
    o->writer.exact_times = fields_u64(f, T_FLAGS, 0) & EXACT_TIMES;
    if (excludes_take(o, f)) {
        tar_out_from(o);
        tar_out_answer(o);
    }
    for (int i = 0; i < o->exclude_count; i++)
        glob_free(&o->excludes[i]);
    inode_table_free(&o->links);
    free(o->culprit);
    tar_writer_stop(&o->writer);
    free(o);
}

void operate_tar_out(const struct request *r)
{
    file_operation(r, tar_out_path);
}
