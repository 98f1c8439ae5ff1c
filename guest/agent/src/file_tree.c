/* LIST and REMOVE: operations on whole trees that are not archives. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "file_error.h"
#include "file_item.h"
#include "file_request.h"
#include "operations.h"
#include "path.h"
#include "tree.h"

/* ---- LIST ---------------------------------------------------------------------------------------------- */

static void list_path(struct stream *s, struct fields f, const char *path)
{
    uint64_t depth = fields_u64(f, T_DEPTH, 1);
    struct tree t;
    int top = path_open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (top < 0 || !tree_start(&t, top, true)) {
        answer_error(s, errno, path);
        return;
    }
    struct items items = {.s = s, .base = path};
    enum tree_step step;
    while (items_active(&items) && (step = tree_next(&t)) != TREE_END) {
        struct stat st;
        if (step != TREE_ENTRY || fstatat(t.folder, t.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue; /* left a folder, or the entry no longer exists */
        items_send(&items, &t, &st);
        if (S_ISDIR(st.st_mode) && (depth == 0 || (uint64_t)t.depth < depth) && items_active(&items))
            items_enter(&items, &t);
    }
    items_finish(&items, &t);
    tree_stop(&t);
}

void operate_list(const struct request *r)
{
    file_operation(r, list_path);
}

/* ---- REMOVE -------------------------------------------------------------------------------------------- */

enum { REMOVE_RECURSIVE = 1, REMOVE_MISSING_FINE = 2 };

struct removal {
    struct stream *s;
    const char *path;
    uint64_t count;
    int number;
    char *culprit;
};

static void removal_failed(struct removal *m, const char *relative)
{
    m->number = errno;
    m->culprit = path_join(m->path, relative);
}

/* Treats a missing entry as removed, without counting it. */
static bool remove_one(struct removal *m, int folder, const char *name, int flags)
{
    if (unlinkat(folder, name, flags) == 0) {
        m->count++;
        return true;
    }
    return errno == ENOENT;
}

/*
 * Handles trees deeper than the number of descriptors kept: moves a folder that is too deep into the top folder under a
 * temporary name, where the next pass removes it.
 */
static bool lift(const struct tree *t, int top)
{
    char name[32];
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) return false;
    snprintf(name, sizeof name, ".isola-%016llx", (unsigned long long)random);
    return renameat(t->folder, t->name, top, name) == 0;
}

static void remove_entry(struct removal *m, struct tree *t, int top, bool *lifted)
{
    if (t->kind != DT_DIR) {
        if (remove_one(m, t->folder, t->name, 0)) return;
        if (errno != EISDIR && errno != EPERM) {
            removal_failed(m, t->path);
            return;
        }
    }
    if (tree_enter(t) || errno == ENOENT) return;
    if (errno == EOVERFLOW && lift(t, top)) {
        *lifted = true;
        return;
    }
    int saved = errno;
    /* Not a folder after all, or an unreadable one, which may still be empty. */
    if (!remove_one(m, t->folder, t->name, saved == ENOTDIR || saved == ELOOP ? 0 : AT_REMOVEDIR)) {
        errno = saved;
        removal_failed(m, t->path);
    }
}

/* Removes as much as possible. Files added concurrently require another pass. */
static bool remove_pass(struct removal *m, const struct path_parent *p, bool *lifted)
{
    int top = openat(p->folder, p->leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct tree t;
    if (top < 0 || !tree_start(&t, top, false)) {
        removal_failed(m, "");
        return false;
    }
    enum tree_step step;
    while (!m->number && !stream_over(m->s) && (step = tree_next(&t)) != TREE_END) {
        if (step == TREE_ENTRY)
            remove_entry(m, &t, top, lifted);
        else if (!remove_one(m, t.folder, t.name, AT_REMOVEDIR) && errno != ENOTEMPTY && errno != EEXIST)
            removal_failed(m, t.path);
    }
    tree_stop(&t);
    return !m->number && !stream_over(m->s);
}

static void remove_tree(struct removal *m, const struct path_parent *p)
{
    for (;;) {
        uint64_t before = m->count;
        bool lifted = false;
        if (!remove_pass(m, p, &lifted) || remove_one(m, p->folder, p->leaf, AT_REMOVEDIR)) return;
        bool busy = errno == ENOTEMPTY || errno == EEXIST;
        if (!busy || (m->count == before && !lifted)) {
            removal_failed(m, "");
            return;
        }
    }
}

static void remove_path(struct stream *s, struct fields f, const char *path)
{
    uint64_t flags = fields_u64(f, T_FLAGS, 0);
    struct removal m = {.s = s, .path = path};
    struct path_parent p;
    bool missing = false;
    if (!path_resolve_parent(path, &p)) {
        m.number = errno;
        missing = errno == ENOENT;
    } else if (!p.leaf[0]) {
        stream_error(s, E_INVALID, 0, "the root folder cannot be removed: %s", path);
        path_parent_close(&p);
        return;
    } else if (unlinkat(p.folder, p.leaf, 0) == 0) {
        m.count = 1;
    } else if (errno != EISDIR) {
        m.number = errno;
        missing = errno == ENOENT;
    } else if (unlinkat(p.folder, p.leaf, AT_REMOVEDIR) == 0) {
        m.count = 1;
    } else if ((errno == ENOTEMPTY || errno == EEXIST) && (flags & REMOVE_RECURSIVE)) {
        remove_tree(&m, &p);
    } else {
        m.number = errno == EEXIST ? ENOTEMPTY : errno;
    }
    path_parent_close(&p);
    if (m.number && !(missing && (flags & REMOVE_MISSING_FINE))) {
        answer_error(s, m.number, m.culprit ? m.culprit : path);
    } else if (stream_over(s)) {
        answer_cancelled(s);
    } else {
        struct builder b = {0};
        build_u64(&b, T_COUNT, m.count);
        stream_end(s, &b);
        builder_free(&b);
    }
    free(m.culprit);
}

void operate_remove(const struct request *r)
{
    file_operation(r, remove_path);
}
