#include "file_item.h"

#include <errno.h>
#include <stdlib.h>

#include "file_error.h"
#include "file_stat.h"
#include "link_text.h"
#include "path.h"

bool items_active(const struct items *i)
{
    return !i->over && !i->number;
}

void items_send(struct items *i, const struct tree *t, const struct stat *st)
{
    char target[PATH_MAX];
    bool link = S_ISLNK(st->st_mode) && link_text(t->folder, t->name, target, sizeof target);
    char *path = path_join(i->base, t->path);
    if (!path) {
        i->number = ENOMEM;
        return;
    }
    builder_reset(&i->fields);
    build_stat(&i->fields, path, st, link ? target : NULL);
    free(path);
    if (i->fields.overflow)
        i->number = EOVERFLOW;
    else if (!stream_send(i->s, ITEM, i->fields.data, i->fields.length))
        i->over = true;
}

void items_enter(struct items *i, struct tree *t)
{
    if (tree_enter(t) || errno == EACCES || errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return;
    i->number = errno;
    i->culprit = path_join(i->base, t->path);
}

void items_finish(struct items *i, const struct tree *t)
{
    if (!i->number) i->number = t->error;
    if (i->over)
        answer_cancelled(i->s);
    else if (i->number)
        answer_error(i->s, i->number, i->culprit ? i->culprit : i->base);
    else
        stream_end(i->s, NULL);
    free(i->culprit);
    builder_free(&i->fields);
}
