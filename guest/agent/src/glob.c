#include "glob.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Reads one character: a UTF-8 sequence, or a single byte (marked by a high bit) when it is not valid UTF-8. */
static uint32_t character(const char **text)
{
    const uint8_t *p = (const uint8_t *)*text;
    int more = p[0] >= 0xf0 && p[0] < 0xf8 ? 3 : p[0] >= 0xe0 && p[0] < 0xf0 ? 2 : p[0] >= 0xc2 && p[0] < 0xe0 ? 1 : 0;
    uint32_t value = more == 3 ? p[0] & 7u : more == 2 ? p[0] & 15u : more == 1 ? p[0] & 31u : p[0];
    for (int i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            more = 0;
            break;
        }
        value = value << 6 | (p[i] & 0x3fu);
    }
    if (more == 0) value = p[0] < 0x80 ? p[0] : 0x80000000u | p[0];
    *text += more + 1;
    return value;
}

/* `pattern` points past `[`. Returns the position after the closing `]`, or NULL when there is none. */
static const char *set_match(const char *pattern, uint32_t c, bool *matched)
{
    bool negated = *pattern == '!' || *pattern == '^', found = false, first = true;
    if (negated) pattern++;
    for (; *pattern && (first || *pattern != ']'); first = false) {
        if (*pattern == '\\' && pattern[1]) pattern++;
        uint32_t low = character(&pattern), high = low;
        if (pattern[0] == '-' && pattern[1] && pattern[1] != ']') {
            pattern++;
            if (*pattern == '\\' && pattern[1]) pattern++;
            high = character(&pattern);
        }
        if (c >= low && c <= high) found = true;
    }
    *matched = found != negated;
    return *pattern ? pattern + 1 : NULL;
}

/* Matches one character of the name against one element of the pattern and advances both. */
static bool element_match(const char **pattern, const char **name)
{
    const char *p = *pattern, *n = *name;
    uint32_t c = character(&n);
    bool matched;
    if (*p == '?') {
        p++;
        matched = true;
    } else {
        const char *after = *p == '[' ? set_match(p + 1, c, &matched) : NULL;
        if (after) {
            p = after;
        } else {
            if (*p == '\\' && p[1]) p++;
            matched = *p && character(&p) == c;
        }
    }
    *pattern = p;
    *name = n;
    return matched;
}

bool glob_name(const char *pattern, const char *name, bool dots)
{
    const char *star = NULL, *retry = NULL;
    if (!dots && name[0] == '.' && pattern[0] != '.' && !(pattern[0] == '\\' && pattern[1] == '.')) return false;
    /* Backtracks to the last star only: it can match whatever an earlier star matched. */
    for (;;) {
        if (*pattern == '*') {
            while (*pattern == '*') pattern++;
            star = pattern;
            retry = name;
        } else if (!*name) {
            return !*pattern;
        } else {
            const char *p = pattern, *n = name;
            if (*p && element_match(&p, &n)) {
                pattern = p;
                name = n;
            } else if (star) {
                character(&retry);
                pattern = star;
                name = retry;
            } else {
                return false;
            }
        }
    }
}

bool glob_compile(struct glob *g, const char *pattern)
{
    *g = (struct glob){.text = strdup(pattern)};
    int number = g->text ? 0 : ENOMEM;
    if (pattern[0] == '/') number = EINVAL;
    char *save = NULL;
    for (char *c = g->text ? strtok_r(g->text, "/", &save) : NULL; c && !number; c = strtok_r(NULL, "/", &save)) {
        bool again = g->count > 0 && !strcmp(c, "**") && !strcmp(g->components[g->count - 1], "**");
        if (!strcmp(c, ".") || again) continue;
        if (!strcmp(c, ".."))
            number = EINVAL;
        else if (g->count == GLOB_COMPONENTS_MAX)
            number = E2BIG;
        else
            g->components[g->count++] = c;
    }
    if (!number && g->count == 0) number = EINVAL;
    if (number) glob_free(g);
    errno = number;
    return number == 0;
}

void glob_free(struct glob *g)
{
    free(g->text);
    g->text = NULL;
}

static bool any_folders(const struct glob *g, int i)
{
    return !strcmp(g->components[i], "**");
}

/* `**` may match no folder at all, except at the end, where it needs at least one name. */
static uint64_t skip_empty(const struct glob *g, uint64_t positions)
{
    for (int i = 0; i + 1 < g->count; i++)
        if ((positions >> i & 1) && any_folders(g, i)) positions |= (uint64_t)1 << (i + 1);
    return positions;
}

uint64_t glob_begin(const struct glob *g)
{
    return skip_empty(g, 1);
}

uint64_t glob_step(const struct glob *g, uint64_t positions, const char *name, bool dots)
{
    uint64_t next = 0;
    for (int i = 0; i < g->count; i++) {
        if (!(positions >> i & 1)) continue;
        if (any_folders(g, i)) {
            if (dots || name[0] != '.') next |= (uint64_t)1 << i | (i + 1 == g->count ? (uint64_t)1 << (i + 1) : 0);
        } else if (glob_name(g->components[i], name, dots)) {
            next |= (uint64_t)1 << (i + 1);
        }
    }
    return skip_empty(g, next);
}

bool glob_matched(const struct glob *g, uint64_t positions)
{
    return positions >> g->count & 1;
}

bool glob_open(const struct glob *g, uint64_t positions)
{
    return (positions & (((uint64_t)1 << g->count) - 1)) != 0;
}

bool glob_path(const struct glob *g, const char *path, bool dots)
{
    uint64_t positions = glob_begin(g);
    char name[NAME_MAX + 1];
    while (*path) {
        size_t length = strcspn(path, "/");
        if (length > NAME_MAX) return false;
        if (length > 0) {
            memcpy(name, path, length);
            name[length] = 0;
            positions = glob_step(g, positions, name, dots);
        }
        path += length;
        if (*path) path++;
    }
    return glob_matched(g, positions);
}
