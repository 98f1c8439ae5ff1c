#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "file_error.h"
#include "file_item.h"
#include "file_request.h"
#include "glob.h"
#include "operations.h"
#include "path.h"

static void glob_tree(struct stream *s, const struct glob *g, const char *path)
{
    uint64_t
        positions[TREE_DEPTH_MAX + 1]; /* by depth: positions of the pattern that the folder at that depth matches */
    struct tree t;
    int top = path_open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (top < 0 || !tree_start(&t, top, true)) {
        answer_error(s, errno, path);
        return;
    }
    positions[1] = glob_begin(g);
    struct items items = {.s = s, .base = path};
    enum tree_step step;
    uint64_t seen = 0;
    while (items_active(&items) && (step = tree_next(&t)) != TREE_END) {
        /* A pattern without matches sends nothing, so only this check notices a cancel. */
        if ((++seen & 1023) == 0 && stream_over(s)) items.over = true;
        if (step != TREE_ENTRY) continue;
        uint64_t now = glob_step(g, positions[t.depth], t.name, false);
        bool matched = glob_matched(g, now), deeper = glob_open(g, now);
        if (!matched && (!deeper || (t.kind != DT_DIR && t.kind != DT_UNKNOWN))) continue;
        struct stat st;
        if (fstatat(t.folder, t.name, &st, AT_SYMLINK_NOFOLLOW) < 0) continue;
        if (matched) items_send(&items, &t, &st);
        if (deeper && S_ISDIR(st.st_mode) && items_active(&items)) {
            int before = t.depth;
            items_enter(&items, &t);
            if (t.depth > before) positions[t.depth] = now;
        }
    }
    items_finish(&items, &t);
    tree_stop(&t);
}

static void glob_from(struct stream *s, struct fields f, const char *path)
{
    char *pattern = fields_text(f, T_PATTERN);
    struct glob g;
    if (!pattern)
        stream_error(s, E_INVALID, 0, "PATTERN is missing or contains a NUL byte");
    else if (glob_compile(&g, pattern)) {
        glob_tree(s, &g, path);
        glob_free(&g);
    } else if (errno == E2BIG)
        stream_error(s, E_LIMIT, 0, "the pattern has more than %d components: %s", GLOB_COMPONENTS_MAX, pattern);
    else if (errno == ENOMEM)
        answer_no_memory(s);
    else
        stream_error(s, E_INVALID, 0, "PATTERN must be relative, not empty and without `..`: %s", pattern);
    free(pattern);
}

void operate_glob(const struct request *r)
{
    file_operation(r, glob_from);
}
