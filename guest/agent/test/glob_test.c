#include <time.h>

#include "../src/operations.h"
#include "stream_double.h"
#include "sandbox_folder.h"
#include "../src/glob.h"
#include "check.h"

static void names(void)
{
    static const struct {
        const char *pattern, *name;
        bool match;
    } table[] = {
        {"*", "a", true},
        {"*", "", true},
        {"*", ".a", false},
        {".*", ".a", true},
        {"?", ".", false},
        {"\\.a", ".a", true},
        {"*.c", "x.c", true},
        {"*.c", "x.h", false},
        {"a*b*c", "aXbYc", true},
        {"a*b*c", "aXbYd", false},
        {"?", "\xc3\xa4", true},
        {"??", "\xc3\xa4", false},
        {"?", "\xff", true},
        {"[abc]", "b", true},
        {"[!abc]", "b", false},
        {"[^abc]", "d", true},
        {"[a-z]x", "qx", true},
        {"[a-z]x", "Qx", false},
        {"[]]", "]", true},
        {"[a-]", "-", true},
        {"[", "[", true},
        {"[a", "[a", true},
        {"[\xc3\xa4-\xc3\xbc]", "\xc3\xb6", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"a", "ab", false},
        {"ab", "a", false},
        {"*a", "aaa", true},
        {"**", "abc", true},
        {"[!.]a", ".a", false},
        {"\\", "\\", true},
        {"", "", true},
        {"", "a", false},
        {"[a-", "[a-", true},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (glob_name(table[i].pattern, table[i].name, false) != table[i].match) {
            printf("  pattern `%s`, name `%s`\n", table[i].pattern, table[i].name);
            CHECK(false);
        }
    }
}

static void paths(void)
{
    static const struct {
        const char *pattern, *path;
        bool match;
    } table[] = {
        {"**", "a", true},
        {"**", "a/b/c", true},
        {"a/**", "a", false},
        {"a/**", "a/b", true},
        {"a/**", "a/b/c", true},
        {"**/c", "c", true},
        {"**/c", "a/b/c", true},
        {"a/**/c", "a/c", true},
        {"a/**/c", "a/b/b/c", true},
        {"a/**/c", "b/c", false},
        {"*/c", "a/b/c", false},
        {"**/*.c", "x/y.c", true},
        {"./a//b", "a/b", true},
        {"**/.git/**", "x/.git/y", true},
        {"**", ".git/x", false},
        {"a**b", "aXb", true},
        {"**/**/a", "a", true},
        {"**/a/**/b/**", "x/a/b/c", true},
        {"**/a/**/b/**", "x/a/b", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct glob g;
        CHECK(glob_compile(&g, table[i].pattern));
        if (glob_path(&g, table[i].path, false) != table[i].match) {
            printf("  pattern `%s`, path `%s`\n", table[i].pattern, table[i].path);
            CHECK(false);
        }
        glob_free(&g);
    }
}

static void bad_patterns(void)
{
    struct glob g;
    char deep[200] = "";
    CHECK(!glob_compile(&g, ""));
    CHECK(!glob_compile(&g, "/a"));
    CHECK(!glob_compile(&g, "a/../b"));
    CHECK(!glob_compile(&g, "."));
    for (int i = 0; i < 61; i++) strcat(deep, "a/");
    CHECK(!glob_compile(&g, deep));
    CHECK_INT(E2BIG, errno);
}

/* The classic exponential case for backtracking matchers; linear here. */
static void matching_is_linear(void)
{
    char pattern[4000] = "", name[256];
    memset(name, 'a', 255);
    name[255] = 0;
    for (int i = 0; i < 600; i++) strcat(pattern, "*a");
    strcat(pattern, "b");
    clock_t start = clock();
    for (int i = 0; i < 100; i++) CHECK(!glob_name(pattern, name, false));
    struct glob g;
    strcpy(pattern, "");
    for (int i = 0; i < 29; i++) strcat(pattern, "**/a/");
    strcat(pattern, "b");
    CHECK(glob_compile(&g, pattern));
    char path[4000] = "a";
    for (int i = 0; i < 1000; i++) strcat(path, "/a");
    CHECK(!glob_path(&g, path, false));
    glob_free(&g);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 2.0);
}

/* Returns the paths of the items, joined by blanks. */
static const char *glob_ask(const char *base, const char *pattern)
{
    static char out[65536];
    struct builder b = {0};
    build_text(&b, T_PATH, base);
    build_text(&b, T_PATTERN, pattern);
    struct stream *s = ask(operate_glob, &b, NULL);
    out[0] = 0;
    if (double_code(s)) sprintf(out, "error %d", double_code(s));
    for (int i = 0; i < double_count(s, ITEM); i++) {
        char *path = fields_text(double_fields(s, ITEM, i), T_PATH);
        strcat(strcat(out, *out ? " " : ""), path);
        free(path);
    }
    double_free(s);
    return out;
}

static void operation(void)
{
    shell("cd %s && mkdir -p g/src/main g/.git g/src/.hidden && touch g/a.c g/src/b.c g/src/main/c.c g/.git/x.c "
          "g/src/.hidden/d.c "
          "g/.e.c && ln -s src g/link",
          at("."));
    CHECK_TEXT("g/a.c", glob_ask("g", "*.c"));
    CHECK_TEXT("g/a.c g/src/b.c g/src/main/c.c", glob_ask("g", "**/*.c"));
    CHECK_TEXT("g/.e.c", glob_ask("g", ".*.c"));
    CHECK_TEXT("g/.git/x.c", glob_ask("g", ".git/*"));
    CHECK_TEXT("./g/src/main/c.c", glob_ask(".", "g/*/main/?.c"));
    CHECK_TEXT("g/src/main", glob_ask("g", "src/m[a-b]in"));
    CHECK_TEXT("", glob_ask("g", "nothing/**"));
    CHECK_TEXT("error 1", glob_ask("g", "../*"));
    CHECK_TEXT("error 2", glob_ask("missing", "*"));
    CHECK_TEXT("error 4", glob_ask("g/a.c", "*"));
    CHECK_TEXT("g/link", glob_ask("g", "lin*"));
}

int main(void)
{
    sandbox_make();
    RUN(names);
    RUN(paths);
    RUN(bad_patterns);
    RUN(matching_is_linear);
    RUN(operation);
    sandbox_remove();
    return check_result();
}
