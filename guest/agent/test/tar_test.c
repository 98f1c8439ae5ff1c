#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>

#include "../src/operations.h"
#include "stream_double.h"
#include "sandbox_folder.h"
#include "../src/path.h"
#include "../src/tar.h"
#include "check.h"

static struct builder b;

/* ---- archives built byte by byte ----------------------------------------------------------------------- */

static uint8_t archive[4 << 20];
static size_t archive_length;

static void seal(struct tar_header *h)
{
    snprintf(h->checksum, sizeof h->checksum, "%06o", tar_sum(h));
    h->checksum[7] = ' ';
}

static struct tar_header *entry(const char *name, char type, const char *target, const char *content)
{
    struct tar_header *h = (struct tar_header *)(archive + archive_length);
    memset(h, 0, sizeof *h);
    memcpy(h->name, name, strnlen(name, sizeof h->name));
    strcpy(h->mode, "0000644");
    strcpy(h->uid, "0000000");
    strcpy(h->gid, "0000000");
    strcpy(h->mtime, "00000000000");
    snprintf(h->size, sizeof h->size, "%011o", (unsigned)strlen(content));
    h->type = type;
    if (target) memcpy(h->linkname, target, strnlen(target, sizeof h->linkname));
    memcpy(h->magic, "ustar", 6);
    memcpy(h->version, "00", 2);
    seal(h);
    archive_length += TAR_BLOCK;
    memcpy(archive + archive_length, content, strlen(content));
    size_t padded = strlen(content) + tar_padding(strlen(content));
    memset(archive + archive_length + strlen(content), 0, padded - strlen(content));
    archive_length += padded;
    return h;
}

static void finish(void)
{
    memset(archive + archive_length, 0, 2 * TAR_BLOCK);
    archive_length += 2 * TAR_BLOCK;
}

static char message[2048];
static uint64_t counted, sized;

static int unpack(const char *path, const void *data, size_t length, struct script *given, uint64_t flags)
{
    struct script script = given ? *given : (struct script){0};
    script.input = data;
    script.input_length = length;
    build_text(&b, T_PATH, path);
    build_u64(&b, T_FLAGS, flags);
    struct stream *s = ask(operate_tar_in, &b, &script);
    int code = double_code(s);
    counted = fields_u64(double_fields(s, END, 0), T_COUNT, 0);
    sized = fields_u64(double_fields(s, END, 0), T_SIZE, 0);
    snprintf(message, sizeof message, "%s", double_message(s));
    double_free(s);
    return code;
}

/* Unpacks what entry() built into a new folder `in`, whole and in pieces of 7 bytes; both must agree. */
static int unpack_built(void)
{
    shell("rm -rf %s", at("in"));
    struct script small = {.piece = 7};
    int code = unpack("in", archive, archive_length, &small, 0);
    shell("rm -rf %s", at("in"));
    CHECK_INT(code, unpack("in", archive, archive_length, NULL, 0));
    archive_length = 0;
    return code;
}

static void valid_archives(void)
{
    entry("./", '5', NULL, "");
    entry("./a", '0', NULL, "content of a");
    entry("d/e/f", 0, NULL, "deep");
    entry("old/", 0, NULL, "");
    entry("l", '2', "a", "");
    entry("h", '1', "./a", "");
    finish();
    CHECK_INT(0, unpack_built());
    CHECK_INT(6, counted);
    CHECK_INT(16, sized);
    CHECK_TEXT("content of a", get_text(at("in/a")));
    CHECK_TEXT("deep", get_text(at("in/d/e/f")));
    CHECK_TEXT("content of a", get_text(at("in/l")));
    struct stat st;
    CHECK(stat(at("in/h"), &st) == 0 && st.st_nlink == 2);
    CHECK(stat(at("in/old"), &st) == 0 && S_ISDIR(st.st_mode));
    entry("no-trailer", '0', NULL, "x");
    CHECK_INT(0, unpack_built());
    CHECK_INT(0, unpack("in", "", 0, NULL, 0));
    finish();
    memset(archive + archive_length, 'x', 5000); /* garbage after the end is discarded */
    archive_length += 5000;
    CHECK_INT(0, unpack_built());
}

static void pax_headers(void)
{
    entry("pax", 'x', NULL, "16 path=renamed\n30 mtime=1234567890.123456789\n");
    entry("original", '0', NULL, "x");
    entry("././@LongLink", 'L', NULL, "by-gnu-long-name");
    entry("short", '0', NULL, "y");
    entry("glob", 'g', NULL, "17 comment=hello\n");
    struct tar_header *h = entry("base256", '0', NULL, "zz");
    memset(h->size, 0, sizeof h->size);
    h->size[0] = (char)0x80;
    h->size[11] = 2;
    seal(h);
    finish();
    CHECK_INT(0, unpack_built());
    CHECK(exists(at("in/renamed")) && !exists(at("in/original")));
    CHECK(exists(at("in/by-gnu-long-name")) && !exists(at("in/short")));
    CHECK_TEXT("zz", get_text(at("in/base256")));
    struct stat st;
    CHECK(stat(at("in/renamed"), &st) == 0 && st.st_mtim.tv_sec == 1234567890 && st.st_mtim.tv_nsec == 123456789);
    static const char *const broken[] = {
        "5 a\n",
        "99 path=x\n",
        "0 path=x\n",
        "9 path=x",
        "path=x\n",
        "-9 path=x\n",
        "8 path=x\n",
        "10 size=-1\n",
        "11 size=1x1\n",
        "99999999999999999999 path=x\n",
        "23 GNU.sparse.major=1.0\n",
        "4 =\n",
        "30 size=99999999999999999999999\n",
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        entry("pax", 'x', NULL, broken[i]);
        entry("f", '0', NULL, "x");
        finish();
        int code = unpack_built();
        if (code != E_BAD_ARCHIVE) printf("  accepted pax `%s`\n", broken[i]);
        CHECK_INT(E_BAD_ARCHIVE, code);
    }
}

static void hostile_names(void)
{
    static const char *const names[] = {
        "/etc/evil", "../evil", "a/../../evil", "a/..", "..", "./../evil", "a/b/../c", "", "//x", "./",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        entry(names[i], '0', NULL, "evil");
        if (!strcmp(names[i], "./")) archive_length = 0, entry(".", '0', NULL, "evil");
        finish();
        int code = unpack_built();
        if (code != E_BAD_ARCHIVE) printf("  accepted `%s`\n", names[i]);
        CHECK_INT(E_BAD_ARCHIVE, code);
        entry(names[i], '1', "x", "");
        finish();
        CHECK_INT(E_BAD_ARCHIVE, unpack_built());
    }
    entry("pax", 'x', NULL, "19 path=../../evil\n");
    entry("fine", '0', NULL, "x");
    finish();
    CHECK_INT(E_BAD_ARCHIVE, unpack_built());
    CHECK_TEXT("an entry's name contains `..`: ../../evil", message);
    static const char *const targets[] = {"/etc/passwd", "../secret", "a/../../secret", ""};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        entry("hard", '1', targets[i], "");
        finish();
        CHECK_INT(E_BAD_ARCHIVE, unpack_built());
    }
    CHECK(!shell_ok("test -e %s/evil -o -e %s/root/evil", folder, folder));
}

static void hostile_types(void)
{
    static const char types[] = {'3', '4', '6', 'S', 'D', 'M', 'Z', '9', 'V'};
    for (size_t i = 0; i < sizeof types; i++) {
        entry("thing", types[i], NULL, "");
        finish();
        CHECK_INT(E_BAD_ARCHIVE, unpack_built());
    }
    entry("d", '5', NULL, "content");
    finish();
    CHECK_INT(E_BAD_ARCHIVE, unpack_built());
}

/* A link in the archive, or one that exists before, and then a file through it. */
static void entries_through_links_are_rejected(void)
{
    shell("mkdir -p %s/outside && echo keep > %s/outside/f", folder, folder);
    for (int confined = 0; confined < 2; confined++) {
        if (confined) confine();
        entry("l", '2', "../../outside", "");
        entry("l/f", '0', NULL, "evil");
        finish();
        CHECK_INT(E_BAD_ARCHIVE, unpack_built());
        entry("l", '2', "d", "");
        entry("d/", '5', NULL, "");
        entry("l/f", '0', NULL, "evil");
        finish();
        CHECK_INT(E_BAD_ARCHIVE, unpack_built());
        entry("l", '2', "../../outside", "");
        entry("h", '1', "l/f", "");
        finish();
        CHECK_INT(E_BAD_ARCHIVE, unpack_built());
        if (confined) unconfine();
    }
    shell("rm -rf %s && mkdir %s && ln -s ../../outside %s", at("in"), at("in"), at("in/there"));
    entry("there/f", '0', NULL, "evil");
    finish();
    CHECK_INT(E_BAD_ARCHIVE, unpack("in", archive, archive_length, NULL, 0));
    archive_length = 0;
    /* A file replaces an existing link, not the link's target. */
    shell("ln -s ../../outside/f %s", at("in/file"));
    entry("file", '0', NULL, "mine");
    entry("there/", '5', NULL, "");
    finish();
    CHECK_INT(0, unpack("in", archive, archive_length, NULL, 0));
    archive_length = 0;
    CHECK_TEXT("mine", get_text(at("in/file")));
    char kept[128];
    snprintf(kept, sizeof kept, "%s/outside/f", folder);
    CHECK_TEXT("keep\n", get_text(kept));
    CHECK(shell_ok("test -d %s -a ! -L %s", at("in/there"), at("in/there")));
}

static void links_when_confined(void)
{
    static const struct {
        const char *name, *target;
        int code;
    } table[] = {
        {"l", "a", 0},
        {"d/l", "../a", 0},
        {"l", "../a", E_BAD_ARCHIVE},
        {"d/l", "../../a", E_BAD_ARCHIVE},
        {"l", "/etc/passwd", E_BAD_ARCHIVE},
        {"d/e/l", "../../x/../y", 0},
        {"l", "x/../..", E_BAD_ARCHIVE},
        {"l", ".", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        entry(table[i].name, '2', table[i].target, "");
        finish();
        confine();
        int code = unpack_built();
        unconfine();
        if (code != table[i].code) printf("  %s -> %s\n", table[i].name, table[i].target);
        CHECK_INT(table[i].code, code);
    }
    entry("l", '2', "/anywhere", "");
    finish();
    CHECK_INT(0, unpack_built());
}

static void malformed_archives(void)
{
    struct tar_header *h = entry("a", '0', NULL, "content");
    h->mode[0] = '7';
    CHECK_INT(E_BAD_ARCHIVE, unpack_built());
    entry("a", '0', NULL, "content");
    size_t whole = archive_length;
    for (size_t cut = 1; cut < whole; cut += cut < 600 ? 37 : 101) {
        int code = unpack("in", archive, cut, NULL, 0);
        CHECK_INT(E_BAD_ARCHIVE, code);
    }
    archive_length = 0;
    entry("pax", 'x', NULL, "10 path=x\n");
    CHECK_INT(E_BAD_ARCHIVE, unpack_built());
    memset(archive, 'A', 8192);
    archive_length = 8192;
    CHECK_INT(E_BAD_ARCHIVE, unpack_built());
    for (int i = 0; i < 40; i++) entry("pax", 'x', NULL, "10 path=x\n");
    CHECK_INT(E_BAD_ARCHIVE, unpack_built());
    h = entry("pax", 'x', NULL, "");
    strcpy(h->size, "77777777777");
    seal(h);
    CHECK_INT(E_BAD_ARCHIVE, unpack_built());
    h = entry("neg", '0', NULL, "");
    memset(h->size, 0xff, sizeof h->size);
    seal(h);
    CHECK_INT(E_BAD_ARCHIVE, unpack_built());
    /* Cancelled in the middle of a file: the file is removed. */
    shell("rm -rf %s", at("in"));
    entry("half", '0', NULL, "0123456789");
    struct script drop = {.piece = 515, .input_drops = true};
    CHECK_INT(E_CANCELLED, unpack("in", archive, 515, &drop, 0));
    CHECK(!exists(at("in/half")));
    archive_length = 0;
}

static void limits(void)
{
    struct tar_header *h = entry("huge", '0', NULL, "");
    memset(h->size, 0, sizeof h->size);
    h->size[0] = (char)0x80;
    h->size[5] = 1; /* 2^48 */
    seal(h);
    CHECK_INT(E_LIMIT, unpack_built());
    h = entry("huge", '0', NULL, "");
    memset(h->size, 0x7f, sizeof h->size);
    h->size[0] = (char)0x80;
    seal(h);
    CHECK_INT(E_BAD_ARCHIVE, unpack_built());
    for (int i = 0; i < 4; i++) {
        char name[3] = {'f', (char)('0' + i), 0};
        entry(name, '0', NULL, "0123456789");
    }
    finish();
    static const struct {
        enum tag tag;
        uint64_t value;
        int code;
    } table[] = {
        {T_MAX_BYTES, 40, 0},
        {T_MAX_BYTES, 39, E_LIMIT},
        {T_MAX_ENTRIES, 4, 0},
        {T_MAX_ENTRIES, 3, E_LIMIT},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct script script = {.input = archive, .input_length = archive_length};
        build_text(&b, T_PATH, "in");
        build_u64(&b, table[i].tag, table[i].value);
        struct stream *s = ask(operate_tar_in, &b, &script);
        CHECK_INT(table[i].code, double_code(s));
        if (table[i].code)
            CHECK(strstr(double_message(s), table[i].tag == T_MAX_BYTES ? "MAX_BYTES (39)" : "MAX_ENTRIES (3)")
                  != NULL);
        double_free(s);
    }
    archive_length = 0;
}

/* Any single changed byte: never a crash, never anything outside. The sanitizers verify it. */
static void corrupted_bytes(void)
{
    entry("pax", 'x', NULL, "16 path=renamed\n30 mtime=1234567890.123456789\n");
    entry("original", '0', NULL, "x");
    entry("././@LongLink", 'L', NULL, "by-gnu-long-name");
    entry("short", '5', NULL, "");
    entry("l", '2', "short", "");
    finish();
    size_t length = archive_length;
    unsigned seed = 7;
    for (int i = 0; i < 3000; i++) {
        size_t where = (size_t)rand_r(&seed) % length;
        uint8_t before = archive[where];
        archive[where] = (uint8_t)rand_r(&seed);
        struct tar_header *h = (struct tar_header *)(archive + where / TAR_BLOCK * TAR_BLOCK);
        struct tar_header saved = *h;
        if (rand_r(&seed) % 2 && !memcmp(h->magic, "ustar", 5)) seal(h); /* with a valid checksum */
        unpack("in", archive, length, NULL, 0);
        *h = saved;
        archive[where] = before;
    }
    archive_length = 0;
    CHECK(!shell_ok("test -e %s/evil", folder));
}

/* ---- round trips --------------------------------------------------------------------------------------- */

static uint8_t *packed;
static size_t packed_length;

static uint64_t pack_flags = 1;
static uint64_t pack_since, pack_moment;
static const char *pack_include;

static int pack(const char *path, const char *exclude, size_t credit)
{
    struct script script = {.credit = credit};
    build_text(&b, T_PATH, path);
    build_u64(&b, T_FLAGS, pack_flags);
    if (exclude) build_text(&b, T_EXCLUDE, exclude);
    if (pack_include) build_text(&b, T_INCLUDE, pack_include);
    if (pack_since) build_u64(&b, T_TIME_NS, pack_since);
    struct stream *s = ask(operate_tar_out, &b, &script);
    int code = double_code(s);
    size_t length;
    const uint8_t *data = double_data(s, &length);
    free(packed);
    packed = malloc(length + 1);
    if (length) memcpy(packed, data, length);
    packed_length = length;
    if (!code) {
        CHECK_INT(length, fields_u64(double_fields(s, END, 0), T_SIZE, 0));
        counted = fields_u64(double_fields(s, END, 0), T_COUNT, 0);
        pack_moment = fields_u64(double_fields(s, END, 0), T_TIME_NS, 0);
    }
    double_free(s);
    return code;
}

static bool same_trees(const char *one, const char *two)
{
    /* names, types, modes, times to the nanosecond, link counts and targets, and then the content */
    return shell_ok(
        "cd %s && find . -mindepth 1 -printf '%%p %%y %%m %%T@ %%n %%l %%U %%G\\n' | sort > %s/one && cd %s && "
        "find . -mindepth 1 -printf '%%p %%y %%m %%T@ %%n %%l %%U %%G\\n' | sort > %s/two && diff %s/one %s/two && "
        "diff -r --no-dereference %s %s",
        one, folder, two, folder, folder, folder, one, two);
}

static void rich_tree(void)
{
    char name[256];
    shell(
        "chmod -R u+w %s 2>/dev/null; rm -rf %s && mkdir -p %s && cd %s && mkdir -p empty d/e ro && echo hello > d/e/f "
        "&& : > zero && "
        "head -c 1000000 /dev/urandom > big && ln -s d/e/f link && ln big hard1 && ln big d/hard2 && chmod 755 d/e/f "
        "&& "
        "touch -d '2001-02-03 04:05:06.789' d/e/f && touch -d '1960-01-01 00:00:00.5' zero && echo r > ro/f && chmod "
        "500 ro && "
        "echo a > 'name with blank' && printf x > \"$(printf 'new\\nline')\" && printf y > \"$(printf '\\377bytes')\"",
        at("tree"), at("tree"), at("tree"), at("tree"));
    memset(name, 'n', 200);
    name[200] = 0;
    shell("cd %s && mkdir -p %s/%s && echo long > %s/%s/%s && ln -s %s/%s/%s longlink && ln %s/%s/%s longhard",
          at("tree"), name, name, name, name, name, name, name, name, name, name, name);
    memset(name, 'm', 90);
    name[90] = 0;
    shell("cd %s && mkdir -p %s && echo split > %s/%s", at("tree"), name, name, name);
}

static void round_trip(void)
{
    rich_tree();
    bool attributes = setxattr(at("tree/big"), "user.colour", "r\0d", 3, 0) == 0;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(0, pack("tree", NULL, i ? 1000 : 0));
        shell("chmod -R u+w %s 2>/dev/null; rm -rf %s", at("copy"), at("copy"));
        struct script pieces = {.piece = i ? 777 : 0};
        CHECK_INT(0, unpack("copy", packed, packed_length, &pieces, 0));
        CHECK(same_trees(at("tree"), at("copy")));
    }
    char value[8];
    if (attributes)
        CHECK(getxattr(at("copy/big"), "user.colour", value, sizeof value) == 3 && !memcmp(value, "r\0d", 3));
    /* unpacked over itself: everything is replaced */
    CHECK_INT(0, unpack("copy", packed, packed_length, NULL, 0));
    CHECK(same_trees(at("tree"), at("copy")));
}

static void to_system_tar(void)
{
    rich_tree();
    CHECK_INT(0, pack("tree", NULL, 0));
    FILE *file = fopen(at("out.tar"), "w");
    fwrite(packed, 1, packed_length, file);
    fclose(file);
    shell("chmod -R u+w %s 2>/dev/null; rm -rf %s; mkdir %s", at("copy"), at("copy"), at("copy"));
    CHECK(shell_ok("tar --warning=no-timestamp -xpf %s -C %s 2>%s/err && test ! -s %s/err", at("out.tar"), at("copy"),
                   folder, folder));
    CHECK(same_trees(at("tree"), at("copy")));
}

static void from_system_tar(void)
{
    static const char *const formats[] = {"gnu", "pax", "posix", "oldgnu"};
    rich_tree();
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        shell("cd %s && tar --format=%s -cf %s .", at("tree"), formats[i], at("out.tar"));
        struct stat st;
        stat(at("out.tar"), &st);
        uint8_t *data = malloc((size_t)st.st_size);
        FILE *file = fopen(at("out.tar"), "r");
        CHECK_INT(st.st_size, fread(data, 1, (size_t)st.st_size, file));
        fclose(file);
        shell("chmod -R u+w %s 2>/dev/null; rm -rf %s", at("copy"), at("copy"));
        CHECK_INT(0, unpack("copy", data, (size_t)st.st_size, NULL, 0));
        if (i == 1 || i == 2)
            CHECK(same_trees(at("tree"), at("copy")));
        else
            CHECK(shell_ok("diff -r --no-dereference %s %s", at("tree"), at("copy")));
        free(data);
    }
}

static void small_files(void)
{
    shell("chmod -R u+w %s %s 2>/dev/null; rm -rf %s %s && mkdir %s && cd %s && for d in $(seq 1 50); do mkdir d$d; "
          "for f in $(seq 1 100); do echo $d $f > d$d/f$f; "
          "done; done",
          at("tree"), at("copy"), at("tree"), at("copy"), at("tree"), at("tree"));
    CHECK_INT(0, pack("tree", NULL, 0));
    CHECK_INT(5051, counted);
    CHECK_INT(0, unpack("copy", packed, packed_length, NULL, 0));
    CHECK_INT(5051, counted);
    CHECK(same_trees(at("tree"), at("copy")));
}

static void excludes(void)
{
    shell("rm -rf %s %s && mkdir -p %s && cd %s && mkdir -p node_modules/x build/a src/node_modules && touch "
          "node_modules/x/y build/a/b "
          "src/a.pyc src/.b.pyc src/keep && mkfifo pipe",
          at("tree"), at("copy"), at("tree"), at("tree"));
    CHECK_INT(0, pack("tree", "node_modules", 0));
    CHECK_INT(E_BAD_ARCHIVE,
              unpack("copy", packed, packed_length, NULL, 0)); /* the pipe: packed, rejected when unpacked */
    shell("rm -rf %s %s", at("tree/pipe"), at("copy"));
    CHECK_INT(0, pack("tree", "node_modules", 0));
    CHECK_INT(0, unpack("copy", packed, packed_length, NULL, 0));
    CHECK(!exists(at("copy/node_modules")) && !exists(at("copy/src/node_modules")) && exists(at("copy/build/a/b")));
    shell("rm -rf %s", at("copy"));
    CHECK_INT(0, pack("tree", "*.pyc", 0));
    CHECK_INT(0, unpack("copy", packed, packed_length, NULL, 0));
    CHECK(!exists(at("copy/src/a.pyc")) && !exists(at("copy/src/.b.pyc")) && exists(at("copy/src/keep")));
    shell("rm -rf %s", at("copy"));
    CHECK_INT(0, pack("tree", "build/**", 0));
    CHECK_INT(0, unpack("copy", packed, packed_length, NULL, 0));
    CHECK(exists(at("copy/build")) && !exists(at("copy/build/a")));
    CHECK_INT(E_INVALID, pack("tree", "/abs", 0));
    CHECK_INT(E_NOT_FOUND, pack("none", NULL, 0));
}

/* Includes only matching entries, with the folders that lead to them. */
static void includes(void)
{
    shell("rm -rf %s %s && mkdir -p %s && cd %s && mkdir -p src/deep/er other/x build/a empty && touch src/a.c src/a.o "
          "src/deep/er/b.c "
          "other/x/y build/a/b top.c && ln -s a.c src/link",
          at("tree"), at("copy"), at("tree"), at("tree"));
    pack_include = "*.c";
    CHECK_INT(0, pack("tree", NULL, 0));
    CHECK_INT(7, counted); /* the top, three folders, three files */
    CHECK_INT(0, unpack("copy", packed, packed_length, NULL, 0));
    CHECK(exists(at("copy/src/a.c")) && exists(at("copy/src/deep/er/b.c")) && exists(at("copy/top.c")));
    CHECK(!exists(at("copy/src/a.o")) && !exists(at("copy/other")) && !exists(at("copy/build"))
          && !exists(at("copy/empty")));
    shell("rm -rf %s", at("copy"));
    pack_include = "src"; /* a folder with all its content, except what is excluded */
    CHECK_INT(0, pack("tree", "deep", 0));
    CHECK_INT(0, unpack("copy", packed, packed_length, NULL, 0));
    CHECK(exists(at("copy/src/a.o")) && exists(at("copy/src/link")) && !exists(at("copy/src/deep"))
          && !exists(at("copy/top.c")));
    shell("rm -rf %s", at("copy"));
    pack_include = "build/*";
    CHECK_INT(0, pack("tree", NULL, 0));
    CHECK_INT(4, counted);
    CHECK_INT(0, unpack("copy", packed, packed_length, NULL, 0));
    CHECK(exists(at("copy/build/a/b")) && !exists(at("copy/src")));
    pack_include = "../x";
    CHECK_INT(E_INVALID, pack("tree", NULL, 0));
    pack_include = NULL;
}

static int marks(const char *word)
{
    int found = 0;
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= packed_length; i++) found += !memcmp(packed + i, word, length);
    return found;
}

/* An unchanged file is represented by its mark; any change gives it a new mark. */
static void unchanged_files_have_marks_only(void)
{
    shell("rm -rf %s && mkdir -p %s && cd %s && for i in 1 2 3 4 5 6 7; do echo content-$i > $i; done && ln 7 hard",
          at("tree"), at("tree"), at("tree"));
    pack_flags = 1 | 4;
    CHECK_INT(0, pack("tree", NULL, 0));
    CHECK_INT(7, marks("ISOLA.mark=")); /* the hard link is not a second file */
    CHECK_INT(0, marks("ISOLA.unchanged="));
    CHECK_INT(7, marks("content-"));
    pack_since = pack_moment; /* all files are too recent to be sure */
    CHECK_INT(0, pack("tree", NULL, 0));
    CHECK_INT(0, marks("ISOLA.unchanged="));
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    pack_since = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    usleep(20000);
    CHECK_INT(0, setxattr(at("tree/4"), "user.x", "y", 1, 0));
    shell("cd %s && echo more >> 1 && chmod 600 2 && touch -d 2001-01-01 3 && mv 5 five && cp -p 6 new && mv new 6",
          at("tree"));
    CHECK_INT(0, pack("tree", NULL, 0));
    CHECK_INT(7, marks("ISOLA.mark="));
    CHECK_INT(1, marks("ISOLA.unchanged=")); /* 7, or hard, whichever comes first */
    CHECK_INT(6, marks("content-"));
    pack_since = 0;
    pack_flags = 1;
}

static void single_file(void)
{
    shell("rm -rf %s && mkdir -p %s && echo one > %s", at("copy"), at("tree"), at("tree/single"));
    CHECK_INT(0, pack("tree/single", NULL, 0));
    CHECK_INT(1, counted);
    CHECK_INT(0, unpack("copy", packed, packed_length, NULL, 0));
    CHECK_TEXT("one\n", get_text(at("copy/single")));
}

/* Fractions of a second are omitted unless requested, which saves two blocks per file. */
static void whole_seconds(void)
{
    shell("rm -rf %s %s && mkdir %s && for i in 1 2 3; do touch -d '2024-05-06 07:08:09.987654321' %s/$i; done",
          at("copy"), at("tree"), at("tree"), at("tree"));
    struct stat st;
    for (pack_flags = 0; pack_flags < 2; pack_flags++) {
        CHECK_INT(0, pack("tree", NULL, 0));
        size_t blocks = 4 + 2 + (pack_flags ? 4 * 2 : 0);
        CHECK_INT(blocks * TAR_BLOCK, packed_length);
        CHECK_INT(0, unpack("copy", packed, packed_length, NULL, 0));
        CHECK(stat(at("copy/1"), &st) == 0);
        CHECK_INT(9, st.st_mtim.tv_sec % 60);
        CHECK_INT(pack_flags ? 987654321 : 0, st.st_mtim.tv_nsec);
    }
    pack_flags = 1;
}

static void owners(void)
{
    struct tar_header *h = entry("f", '0', NULL, "x");
    strcpy(h->uid, "0002322"); /* 1234 */
    strcpy(h->mode, "0004755");
    seal(h);
    finish();
    struct stat st;
    size_t length = archive_length;
    shell("rm -rf %s", at("in"));
    if (geteuid() == 0) {
        CHECK_INT(0, unpack("in", archive, length, NULL, 1));
        CHECK(stat(at("in/f"), &st) == 0 && st.st_uid == 1234 && (st.st_mode & 07777) == 04755);
    } else {
        CHECK_INT(E_DENIED, unpack("in", archive, length, NULL, 1));
    }
    CHECK_INT(0, unpack("in", archive, length, NULL, 0));
    CHECK(stat(at("in/f"), &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 07777) == 0755);
    archive_length = 0;
}

/* A file has the mode of the archive, whatever the umask removes at its creation. */
static void modes(void)
{
    static const char *const texts[] = {"0000644", "0000644", "0000600", "0000666", "0000644",
                                        "0000777", "0000755", "0000755", "0000000", "0000444"};
    enum { MODES = sizeof texts / sizeof *texts };
    for (int i = 0; i < MODES; i++) {
        char name[32];
        snprintf(name, sizeof name, "d%d/f%d", i % 2, i);
        strcpy(entry(name, '0', NULL, "x")->mode, texts[i]);
        seal((struct tar_header *)(archive + archive_length - 2 * TAR_BLOCK));
    }
    finish();
    static const mode_t masks[] = {022, 077, 0};
    for (int m = 0; m < 3; m++) {
        mode_t before = umask(masks[m]);
        shell("rm -rf %s", at("in"));
        CHECK_INT(0, unpack("in", archive, archive_length, NULL, 0));
        umask(before);
        for (int i = 0; i < MODES; i++) {
            struct stat st;
            char name[32];
            snprintf(name, sizeof name, "in/d%d/f%d", i % 2, i);
            CHECK(stat(at(name), &st) == 0);
            CHECK_INT(strtol(texts[i], NULL, 8), st.st_mode & 07777);
        }
    }
    archive_length = 0;
}

static long long taken_by(const char *name)
{
    struct stat st;
    CHECK(stat(at(name), &st) == 0);
    return st.st_blocks * 512LL;
}

/* A restored file is sparse again; otherwise content is written as it arrives. */
static void holes(void)
{
    enum { LONG = 1 << 20, LITTLE = LONG / 4 };
    shell("rm -rf %s && mkdir %s && cd %s && truncate -s %d all && printf x > tail && truncate -s %d tail"
          " && printf x | dd of=middle bs=1 seek=500001 status=none && printf x > odd && truncate -s 300001 odd"
          " && printf y >> odd && head -c %d /dev/urandom > dense",
          at("tree"), at("tree"), at("tree"), LONG, LONG, LONG);
    CHECK_INT(0, pack("tree", NULL, 0));
    for (size_t piece = 0; piece < 70000; piece += 65521) {
        struct script script = {.piece = piece};
        shell("rm -rf %s", at("copy"));
        CHECK_INT(0, unpack("copy", packed, packed_length, &script, 3));
        shell("diff -r %s %s", at("tree"), at("copy"));
        CHECK(taken_by("copy/all") < LITTLE && taken_by("copy/tail") < LITTLE);
        CHECK(taken_by("copy/middle") < LITTLE && taken_by("copy/odd") < LITTLE);
        CHECK(taken_by("copy/dense") >= LONG);
    }
    shell("rm -rf %s", at("copy"));
    CHECK_INT(0, unpack("copy", packed, packed_length, NULL, 0));
    shell("diff -r %s %s", at("tree"), at("copy"));
    CHECK(taken_by("copy/all") >= LONG);
}

/* The holes of a file are neither read nor sent, and are holes again. */
static void files_without_their_holes(void)
{
    enum { LITTLE = 1 << 20, MARKS_AND_TIMES = 1 | 4, WITHOUT_HOLES = 8 };
    shell("rm -rf %s && mkdir %s && cd %s && truncate -s 20G all && printf first > some && truncate -s 20G some"
          " && printf middle | dd of=some bs=1 seek=5000000001 conv=notrunc status=none"
          " && printf last | dd of=end bs=1 seek=1000000000 status=none"
          " && head -c 300000 /dev/urandom > dense",
          at("tree"), at("tree"), at("tree"));
    CHECK_INT(0, setxattr(at("tree/some"), "user.a", "b", 1, 0));
    build_text(&b, T_PATH, "tree");
    build_u64(&b, T_FLAGS, MARKS_AND_TIMES | WITHOUT_HOLES);
    struct script script = {.cancel_after = 1000};
    struct stream *s = ask(operate_tar_out, &b, &script);
    CHECK_INT(0, double_code(s));
    size_t length;
    const void *data = double_data(s, &length);
    CHECK(length < LITTLE);
    shell("rm -rf %s", at("copy"));
    CHECK_INT(0, unpack("copy", data, length, NULL, 3));
    shell("test `stat -c %%s %s` = 21474836480 && test `stat -c %%s %s` = 21474836480", at("copy/all"),
          at("copy/some"));
    shell("cmp %s %s && cmp %s %s && cmp -n 6 %s %s -i 5000000001 && cmp -n 100 %s %s", at("tree/dense"),
          at("copy/dense"), at("tree/end"), at("copy/end"), at("tree/some"), at("copy/some"), at("tree/some"),
          at("copy/some"));
    char value;
    CHECK_INT(1, (int)getxattr(at("copy/some"), "user.a", &value, 1));
    CHECK(taken_by("copy/all") < LITTLE && taken_by("copy/some") < LITTLE && taken_by("copy/end") < LITTLE);
    double_free(s);
}

static void sparse_entry(const char *ranges)
{
    char record[100];
    int length = (int)strlen(ranges) + 17; /* two digits, the blanks, the key */
    snprintf(record, sizeof record, "%d ISOLA.sparse=%s\n", length, ranges);
    CHECK_INT(length, (int)strlen(record));
    entry("pax", 'x', NULL, record);
    entry("f", 'S', NULL, "12345");
    finish();
}

/* Only a capture may be sparse, and its ranges must fit. */
static void invalid_ranges_are_refused(void)
{
    static const char *const wrong[] = {"",           "x",           "10",      "10 0",     "10 8 5",
                                        "10 4 3 2 2", "10 0 5 ",     "10 0 4",  "-1 0 5",   "10 0  5",
                                        "4 0 5",      "10 5 -5 0 5", "10 0 5x", "10 0 5 1", "99999999999999999999 0 5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sparse_entry(wrong[i]);
        CHECK_INT(E_BAD_ARCHIVE, unpack("copy", archive, archive_length, NULL, 3));
        archive_length = 0;
    }
    sparse_entry("10 1 2 5 3");
    CHECK_INT(E_BAD_ARCHIVE, unpack("copy", archive, archive_length, NULL, 0));
    CHECK_INT(0, unpack("copy", archive, archive_length, NULL, 3));
    CHECK_INT(10, sized);
    archive_length = 0;
    shell("printf '\\00012\\000\\000345\\000\\000' | cmp - %s", at("copy/f"));
}

/* Changes of an image, found by the names in the upper folder and the content of root and image. */
static void changes_of_an_image(void)
{
    shell("rm -rf %s && mkdir -p %s", at("over"), at("over"));
    shell(
        "cd %s && mkdir -p image/etc/d image/usr image/was/deep root/etc upper/etc upper/usr root/usr root/home"
        " upper/home root/proc upper/proc root/etc/e upper/etc/e"
        " && echo a > image/etc/gone && echo b > image/etc/kept && echo c > image/usr/same && echo d > image/was/deep/x"
        " && echo b2 > root/etc/kept && echo b2 > upper/etc/kept && echo c > root/usr/same"
        " && echo new > root/etc/e/new && touch upper/etc/e/new && echo now > root/was && echo now > upper/was"
        " && touch upper/hidden && ln -s /x root/home/link && ln -s /x upper/home/link && echo p > root/proc/p"
        " && touch upper/proc/p && ln root/etc/kept root/etc/twin && touch upper/etc/twin",
        at("over"));
    build_text(&b, T_PATH, "over/root");
    build_text(&b, T_LAYER, "over/upper");
    build_text(&b, T_IMAGE, "over/image");
    build_u64(&b, T_FLAGS, 1 | 4);
    struct script script = {0};
    struct stream *s = ask(operate_tar_out, &b, &script);
    CHECK_INT(0, double_code(s));
    size_t length;
    const void *data = double_data(s, &length);
    archive_length = length;
    memcpy(archive, data, length);
    double_free(s);
    /* Unpacked over a copy of the image, it yields the root, except what each boot creates. */
    shell("cp -a %s %s", at("over/image"), at("over/copy"));
    CHECK_INT(0, unpack("over/copy", archive, archive_length, NULL, 1 | 2 | 4));
    shell("rm -r %s && diff -r --no-dereference %s %s", at("over/root/proc"), at("over/root"), at("over/copy"));
    shell("test %s -ef %s", at("over/copy/etc/kept"), at("over/copy/etc/twin"));
    /* Removals are accepted only when changes are restored. */
    CHECK_INT(E_BAD_ARCHIVE, unpack("over/copy", archive, archive_length, NULL, 1 | 2));
}

/* Whole folders under their own names. */
static void whole_folders(void)
{
    shell("rm -rf %s && mkdir -p %s/a/b %s/c && echo x > %s/a/b/x && ln %s/a/b/x %s/a/y", at("many"), at("many"),
          at("many"), at("many"), at("many"), at("many"));
    build_text(&b, T_PATH, "many");
    build_text(&b, T_FOLDER, "many/a/b");
    build_text(&b, T_FOLDER, "many/none");
    build_text(&b, T_FOLDER, "many/c");
    build_u64(&b, T_FLAGS, 1);
    struct script script = {0};
    struct stream *s = ask(operate_tar_out, &b, &script);
    CHECK_INT(0, double_code(s));
    size_t length;
    const void *data = double_data(s, &length);
    archive_length = length;
    memcpy(archive, data, length);
    double_free(s);
    CHECK_INT(0, unpack("out", archive, archive_length, NULL, 1 | 2));
    shell("test $(cat %s) = x && test -d %s && ! test -e %s", at("out/many/a/b/x"), at("out/many/c"),
          at("out/many/a/y"));
}

static void cancel_leaves_nothing_open(void)
{
    int before = open_descriptors();
    rich_tree();
    for (int n = 1; n < 40; n += 3) {
        struct script script = {.credit = 4096, .cancel_after = n};
        build_text(&b, T_PATH, "tree");
        struct stream *s = ask(operate_tar_out, &b, &script);
        CHECK_INT(E_CANCELLED, double_code(s));
        double_free(s);
    }
    CHECK_INT(before, open_descriptors());
}

int main(void)
{
    sandbox_make();
    int before = open_descriptors();
    RUN(valid_archives);
    RUN(pax_headers);
    RUN(hostile_names);
    RUN(hostile_types);
    RUN(entries_through_links_are_rejected);
    RUN(links_when_confined);
    RUN(malformed_archives);
    RUN(limits);
    RUN(corrupted_bytes);
    RUN(round_trip);
    RUN(to_system_tar);
    RUN(from_system_tar);
    RUN(small_files);
    RUN(excludes);
    RUN(includes);
    RUN(unchanged_files_have_marks_only);
    RUN(single_file);
    RUN(whole_seconds);
    RUN(owners);
    RUN(modes);
    RUN(holes);
    RUN(files_without_their_holes);
    RUN(invalid_ranges_are_refused);
    RUN(changes_of_an_image);
    RUN(whole_folders);
    RUN(cancel_leaves_nothing_open);
    free(packed);
    if (open_descriptors() != before) {
        printf("FAILED descriptors: %d before, %d after\n", before, open_descriptors());
        check_failed++;
    }
    sandbox_remove();
    return check_result();
}
