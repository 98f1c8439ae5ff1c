#include "tar_name.h"

#include <limits.h>
#include <string.h>

#include "tree.h"

const char *tar_name_normalize(const char *name, char *out)
{
    size_t length = 0;
    int depth = 0;
    if (name[0] == '/') return "an entry's name is absolute";
    while (*name) {
        size_t n = strcspn(name, "/");
        if (n == 2 && !memcmp(name, "..", 2)) return "an entry's name contains `..`";
        if (n > NAME_MAX) return "an entry's name is too long";
        if (n > 0 && !(n == 1 && *name == '.')) {
            if (++depth > TREE_DEPTH_MAX) return "an entry is deeper than 256 folders";
            if (length) out[length++] = '/';
            memcpy(out + length, name, n);
            length += n;
        }
        name += n;
        if (*name) name++;
    }
    out[length] = 0;
    return NULL;
}

bool tar_link_is_inside(const char *name, const char *target)
{
    long depth = 0;
    if (target[0] == '/') return false;
    for (const char *p = name; *p; p++) depth += *p == '/';
    while (*target) {
        size_t n = strcspn(target, "/");
        if (n == 2 && !memcmp(target, "..", 2)) {
            if (--depth < 0) return false;
        } else if (n > 0 && !(n == 1 && *target == '.')) {
            depth++;
        }
        target += n;
        if (*target) target++;
    }
    return true;
}
