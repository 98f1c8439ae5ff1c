#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

#include "../src/operations.h"
#include "stream_double.h"
#include "sandbox_folder.h"
#include "../src/path.h"
#include "../src/tree.h"
#include "check.h"

static struct builder b;

static int code_of(struct stream *s)
{
    int code = double_code(s);
    double_free(s);
    return code;
}

static int write_text(const char *path, const char *text, uint64_t flags)
{
    struct script script = {.input = text, .input_length = strlen(text), .piece = 3};
    build_text(&b, T_PATH, path);
    build_u64(&b, T_FLAGS, flags);
    return code_of(ask(operate_write, &b, &script));
}

static int ask_flags(void (*operate)(const struct request *), const char *path, uint64_t flags)
{
    build_text(&b, T_PATH, path);
    build_u64(&b, T_FLAGS, flags);
    return code_of(ask(operate, &b, NULL));
}

static int entries(const char *path)
{
    build_text(&b, T_PATH, path);
    build_u64(&b, T_DEPTH, 1);
    struct stream *s = ask(operate_list, &b, NULL);
    int n = double_count(s, ITEM);
    double_free(s);
    return n;
}

static void stat_fields(void)
{
    put_text(at("s"), "12345");
    shell("cd %s && chmod 640 s && ln -s s sl && mkfifo sp && mkdir sd", at("."));
    struct stream *s = ask_path(operate_stat, "s");
    struct fields f = double_fields(s, END, 0);
    CHECK_INT(TYPE_FILE, fields_u64(f, T_TYPE, 0));
    CHECK_INT(0640, fields_u64(f, T_MODE, 0));
    CHECK_INT(5, fields_u64(f, T_SIZE, 0));
    CHECK_INT(geteuid(), fields_u64(f, T_UID, 99999));
    CHECK(fields_u64(f, T_MTIME_NS, 0) > 1000000000000000000u);
    char *text = fields_text(f, T_PATH);
    CHECK_TEXT("s", text);
    free(text);
    double_free(s);
    s = ask_path(operate_stat, "sl");
    f = double_fields(s, END, 0);
    CHECK_INT(TYPE_LINK, fields_u64(f, T_TYPE, 0));
    text = fields_text(f, T_TARGET);
    CHECK_TEXT("s", text);
    free(text);
    double_free(s);
    build_text(&b, T_PATH, "sl");
    build_u64(&b, T_FOLLOW, 1);
    s = ask(operate_stat, &b, NULL);
    CHECK_INT(TYPE_FILE, fields_u64(double_fields(s, END, 0), T_TYPE, 0));
    text = fields_text(double_fields(s, END, 0), T_PATH);
    CHECK_TEXT(at("s"), text);
    free(text);
    double_free(s);
    s = ask_path(operate_stat, "sp");
    CHECK_INT(TYPE_OTHER, fields_u64(double_fields(s, END, 0), T_TYPE, 0));
    double_free(s);
    s = ask_path(operate_stat, "nothing");
    CHECK_INT(E_NOT_FOUND, double_code(s));
    CHECK_TEXT("no such file: nothing", double_message(s));
    double_free(s);
    s = ask_path(operate_stat, ".");
    CHECK_INT(TYPE_FOLDER, fields_u64(double_fields(s, END, 0), T_TYPE, 0));
    double_free(s);
    CHECK_INT(E_INVALID, code_of(ask(operate_stat, &b, NULL)));
    build_bytes(&b, T_PATH, "a\0b", 3);
    CHECK_INT(E_INVALID, code_of(ask(operate_stat, &b, NULL)));
}

static void reading(void)
{
    put_text(at("r"), "0123456789");
    static const struct {
        uint64_t offset, length;
        const char *expected;
    } table[] = {
        {0, UINT64_MAX, "0123456789"}, {3, 4, "3456"}, {9, 100, "9"}, {10, 1, ""}, {1000, 5, ""}, {0, 0, ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct script script = {.credit = 3};
        size_t length;
        build_text(&b, T_PATH, "r");
        build_u64(&b, T_OFFSET, table[i].offset);
        build_u64(&b, T_LENGTH, table[i].length);
        struct stream *s = ask(operate_read, &b, &script);
        const uint8_t *data = double_data(s, &length);
        CHECK_INT(0, double_code(s));
        CHECK_INT(1, double_count(s, RESPONSE));
        CHECK_INT(strlen(table[i].expected), length);
        CHECK(length == 0 || !memcmp(data, table[i].expected, length));
        double_free(s);
    }
    CHECK_INT(E_IS_A_FOLDER, code_of(ask_path(operate_read, ".")));
    CHECK_INT(E_NOT_A_FILE, code_of(ask_path(operate_read, "sp")));
    CHECK_INT(E_NOT_A_FILE, code_of(ask_path(operate_read, "/dev/null")));
    CHECK_INT(E_NOT_FOUND, code_of(ask_path(operate_read, "none")));
    build_text(&b, T_PATH, "r");
    build_u64(&b, T_OFFSET, UINT64_MAX);
    CHECK_INT(E_INVALID, code_of(ask(operate_read, &b, NULL)));
    struct script cancel = {.credit = 2, .cancel_after = 2};
    build_text(&b, T_PATH, "r");
    CHECK_INT(E_CANCELLED, code_of(ask(operate_read, &b, &cancel)));
}

static uint8_t pattern(size_t i)
{
    return (uint8_t)(i ^ i >> 8 ^ i >> 16);
}

/* Reads `large` (of `size` bytes). Returns true when the whole range arrived. */
static bool large_range_comes(size_t size, uint64_t offset, uint64_t length, const struct script *script)
{
    build_text(&b, T_PATH, "large");
    build_u64(&b, T_OFFSET, offset);
    build_u64(&b, T_LENGTH, length);
    struct stream *s = ask(operate_read, &b, script);
    size_t came, expected = length < size - offset ? (size_t)length : size - (size_t)offset;
    const uint8_t *data = double_data(s, &came);
    bool same = double_code(s) == 0 && came == expected;
    for (size_t i = 0; same && i < came; i++) same = data[i] == pattern((size_t)offset + i);
    double_free(s);
    return same;
}

static void reading_large(void)
{
    size_t size = 3 * FRAME_MAX + 12345;
    FILE *file = fopen(at("large"), "w");
    for (size_t i = 0; i < size; i++) putc(pattern(i), file);
    fclose(file);
    int before = open_descriptors();
    struct script any = {0}, small = {.credit = 50001};
    CHECK(large_range_comes(size, 0, UINT64_MAX, &any));
    CHECK(large_range_comes(size, 0, UINT64_MAX, &small));
    CHECK(large_range_comes(size, 1, UINT64_MAX, &any));
    CHECK(large_range_comes(size, 4097, 2 * FRAME_MAX + 1, &any));
    CHECK(large_range_comes(size, size - 3, UINT64_MAX, &any));
    struct script cancelled = {.cancel_after = 2};
    build_text(&b, T_PATH, "large");
    CHECK_INT(E_CANCELLED, code_of(ask(operate_read, &b, &cancelled)));
    CHECK_INT(before, open_descriptors());
}

/* With enough descriptors to open the file but not for a pipe, the content still arrives. */
static void reading_large_without_descriptors_for_a_pipe(void)
{
    size_t size = 3 * FRAME_MAX + 12345;
    struct rlimit was;
    struct script any = {0};
    getrlimit(RLIMIT_NOFILE, &was);
    int opened = 0, came = 0, lowest = dup(0);
    close(lowest);
    for (rlim_t more = 1; more <= 8; more++) {
        struct rlimit tight = {.rlim_cur = (rlim_t)lowest + more, .rlim_max = was.rlim_max};
        build_text(&b, T_PATH, "r");
        setrlimit(RLIMIT_NOFILE, &tight);
        int code = code_of(ask(operate_read, &b, NULL));
        bool comes = large_range_comes(size, 0, UINT64_MAX, &any);
        setrlimit(RLIMIT_NOFILE, &was);
        opened += code == 0;
        came += comes;
    }
    CHECK(opened > 0 && opened < 8);
    CHECK_INT(opened, came);
}

static void writing(void)
{
    shell("mkdir %s", at("w"));
    CHECK_INT(0, write_text("w/a", "first content", 0));
    CHECK_TEXT("first content", get_text(at("w/a")));
    CHECK_INT(0, write_text("w/a", "short", 0));
    CHECK_TEXT("short", get_text(at("w/a")));
    CHECK_INT(0, write_text("w/a", "+more", WRITE_APPEND));
    CHECK_TEXT("short+more", get_text(at("w/a")));
    CHECK_INT(E_EXISTS, write_text("w/a", "x", WRITE_NEW));
    CHECK_INT(E_EXISTS, write_text("w/a", "x", WRITE_NEW | WRITE_ATOMIC));
    CHECK_TEXT("short+more", get_text(at("w/a")));
    CHECK_INT(E_NOT_FOUND, write_text("w/x/y", "x", 0));
    CHECK_INT(0, write_text("w/x/y/z", "deep", WRITE_PARENTS | WRITE_ATOMIC | WRITE_SYNC));
    CHECK_TEXT("deep", get_text(at("w/x/y/z")));
    CHECK_INT(E_IS_A_FOLDER, write_text("w/x", "x", 0));
    CHECK_INT(E_IS_A_FOLDER, write_text("w/x", "x", WRITE_ATOMIC));
    CHECK_INT(E_IS_A_FOLDER, write_text("w/new/", "x", 0));
    CHECK_INT(E_NOT_A_FILE, write_text("sp", "x", 0));
    CHECK_INT(E_NOT_A_FILE, write_text("sp", "x", WRITE_ATOMIC));
    CHECK_INT(E_INVALID, write_text("w/..", "x", 0));
    CHECK_INT(E_INVALID, write_text("w/a", "x", WRITE_ATOMIC | WRITE_APPEND));
    struct script script = {.input = "XY", .input_length = 2};
    build_text(&b, T_PATH, "w/a");
    build_u64(&b, T_OFFSET, 2);
    struct stream *s = ask(operate_write, &b, &script);
    CHECK_INT(10, fields_u64(double_fields(s, END, 0), T_SIZE, 0));
    double_free(s);
    CHECK_TEXT("shXYt+more", get_text(at("w/a")));
    shell("cd %s && ln -s a w/link && ln -s fresh w/dangling", at("."));
    CHECK_INT(0, write_text("w/link", "by link", WRITE_ATOMIC));
    CHECK_TEXT("by link", get_text(at("w/a")));
    CHECK(shell_ok("test -L %s", at("w/link")));
    CHECK_INT(0, write_text("w/dangling", "made", 0));
    CHECK_TEXT("made", get_text(at("w/fresh")));
    CHECK_INT(0, write_text("w/empty", "", WRITE_ATOMIC));
    CHECK_TEXT("", get_text(at("w/empty")));
}

static void write_modes(void)
{
    struct stat st;
    struct script script = {.input = "x", .input_length = 1};
    shell("mkdir %s", at("m"));
    CHECK_INT(0, write_text("m/a", "x", WRITE_ATOMIC));
    CHECK(stat(at("m/a"), &st) == 0);
    CHECK_INT(0644, st.st_mode & 07777);
    chmod(at("m/a"), 0751);
    CHECK_INT(0, write_text("m/a", "y", WRITE_ATOMIC));
    CHECK(stat(at("m/a"), &st) == 0);
    CHECK_INT(0751, st.st_mode & 07777);
    for (uint64_t flags = 0; flags < 2; flags++) {
        build_text(&b, T_PATH, "m/b");
        build_u64(&b, T_MODE, 0700 + flags);
        build_u64(&b, T_FLAGS, flags);
        CHECK_INT(0, code_of(ask(operate_write, &b, &script)));
        CHECK(stat(at("m/b"), &st) == 0);
        CHECK_INT(0700 + flags, st.st_mode & 07777);
    }
    build_text(&b, T_PATH, "m/b");
    build_u64(&b, T_MODE, 0100644);
    CHECK_INT(E_INVALID, code_of(ask(operate_write, &b, &script)));
}

/* An atomic write that does not complete keeps the old content and leaves nothing else. */
static void owner_is(uid_t uid, const char *path)
{
    struct stat st;
    CHECK_INT(0, lstat(at(path), &st));
    CHECK_INT(uid, st.st_uid);
    CHECK_INT(uid, st.st_gid);
}

static void file_owner_is_applied(void)
{
    if (geteuid() != 0) {
        NOT_RUN(file_owner_is_applied, "needs root");
        return;
    }
    mkdir(at("locked"), 0700);
    build_text(&b, T_FILE_OWNER, "12345");
    CHECK_INT(0, write_text("locked/a/b/file", "x", WRITE_PARENTS));
    build_text(&b, T_FILE_OWNER, "12345");
    CHECK_INT(0, ask_flags(operate_mkdir, "locked/c/d", 2));
    owner_is(0, "locked");
    owner_is(12345, "locked/a");
    owner_is(12345, "locked/a/b");
    owner_is(12345, "locked/a/b/file");
    owner_is(12345, "locked/c/d");
    build_text(&b, T_FILE_OWNER, "23456");
    CHECK_INT(0, write_text("locked/a/b/file", "y", WRITE_ATOMIC));
    owner_is(23456, "locked/a/b/file");
    CHECK_INT(0, write_text("locked/mine", "x", WRITE_PARENTS));
    owner_is(0, "locked/mine");
    build_text(&b, T_FILE_OWNER, "no-such-user");
    CHECK_INT(E_NO_SUCH_USER, write_text("locked/mine", "x", 0));
}

static void failed_write_leaves_nothing(void)
{
    shell("mkdir %s", at("n"));
    put_text(at("n/a"), "old");
    struct script drop = {.input = "new content", .input_length = 11, .piece = 4, .input_drops = true};
    build_text(&b, T_PATH, "n/a");
    build_u64(&b, T_FLAGS, WRITE_ATOMIC);
    CHECK_INT(E_CANCELLED, code_of(ask(operate_write, &b, &drop)));
    struct script ends = {.input = "new content", .input_length = 11};
    for (uint64_t size = 10; size <= 12; size += 2) {
        build_text(&b, T_PATH, "n/a");
        build_u64(&b, T_FLAGS, WRITE_ATOMIC);
        build_u64(&b, T_SIZE, size);
        CHECK_INT(E_INVALID, code_of(ask(operate_write, &b, &ends)));
    }
    CHECK_INT(1, entries("n"));
    CHECK_TEXT("old", get_text(at("n/a")));
    build_text(&b, T_PATH, "n/a");
    build_u64(&b, T_FLAGS, WRITE_ATOMIC);
    build_u64(&b, T_SIZE, 11);
    CHECK_INT(0, code_of(ask(operate_write, &b, &ends)));
    CHECK_TEXT("new content", get_text(at("n/a")));
}

static void disk_full(void)
{
    if (geteuid() != 0
        || !shell_ok("mkdir %s && mount -t tmpfs -o size=64k none %s 2>/dev/null", at("full"), at("full"))) {
        NOT_RUN(disk_full, "needs mount");
        return;
    }
    static char much[1 << 20];
    struct script script = {.input = much, .input_length = sizeof much};
    build_text(&b, T_PATH, "full/a");
    build_u64(&b, T_FLAGS, WRITE_ATOMIC);
    CHECK_INT(E_NO_SPACE, code_of(ask(operate_write, &b, &script)));
    CHECK_INT(0, entries("full"));
    put_text(at("across"), "moved");
    chmod(at("across"), 0601);
    build_text(&b, T_PATH, "across");
    build_text(&b, T_TARGET, "full/across");
    CHECK_INT(0, code_of(ask(operate_move, &b, NULL)));
    CHECK(!exists(at("across")));
    CHECK_TEXT("moved", get_text(at("full/across")));
    struct stat st;
    CHECK(stat(at("full/across"), &st) == 0 && (st.st_mode & 07777) == 0601);
    shell("mkdir %s", at("acrossd"));
    build_text(&b, T_PATH, "acrossd");
    build_text(&b, T_TARGET, "full/d");
    CHECK_INT(E_UNSUPPORTED, code_of(ask(operate_move, &b, NULL)));
    shell("umount %s", at("full"));
}

static void folders(void)
{
    CHECK_INT(0, ask_flags(operate_mkdir, "d1", 0));
    CHECK_INT(E_EXISTS, ask_flags(operate_mkdir, "d1", 0));
    CHECK_INT(0, ask_flags(operate_mkdir, "d1", 2));
    CHECK_INT(E_NOT_FOUND, ask_flags(operate_mkdir, "d2/a/b", 0));
    CHECK_INT(0, ask_flags(operate_mkdir, "d2/a/b/", 2));
    CHECK(exists(at("d2/a/b")));
    put_text(at("d2/file"), "");
    CHECK_INT(E_EXISTS, ask_flags(operate_mkdir, "d2/file", 2));
    CHECK_INT(E_NOT_A_FOLDER, ask_flags(operate_mkdir, "d2/file/x", 2));
    CHECK_INT(0, ask_flags(operate_mkdir, ".", 2));
    build_text(&b, T_PATH, "d3");
    build_u64(&b, T_MODE, 01777);
    CHECK_INT(0, code_of(ask(operate_mkdir, &b, NULL)));
    struct stat st;
    CHECK(stat(at("d3"), &st) == 0 && (st.st_mode & 07777) == 01777);
}

static int move(const char *from, const char *to, uint64_t flags)
{
    build_text(&b, T_PATH, from);
    build_text(&b, T_TARGET, to);
    build_u64(&b, T_FLAGS, flags);
    return code_of(ask(operate_move, &b, NULL));
}

static void moving(void)
{
    shell("mkdir -p %s", at("mv/d/e"));
    put_text(at("mv/a"), "a");
    put_text(at("mv/b"), "b");
    CHECK_INT(E_EXISTS, move("mv/a", "mv/b", 0));
    CHECK_TEXT("b", get_text(at("mv/b")));
    CHECK_INT(0, move("mv/a", "mv/c", 0));
    CHECK_INT(E_NOT_FOUND, move("mv/a", "mv/z", 0));
    CHECK_INT(0, move("mv/c", "mv/b", 1));
    CHECK_TEXT("a", get_text(at("mv/b")));
    CHECK_INT(E_INVALID, move("mv/d", "mv/d/e/f", 0));
    CHECK_INT(E_INVALID, move(".", "mv/x", 0));
    CHECK_INT(E_NOT_FOUND, move("mv/b", "mv/none/x", 0));
    CHECK_INT(E_IS_A_FOLDER, move("mv/b", "mv/d", 1));
}

static void removing(void)
{
    shell("cd %s && mkdir -p rm/a/b/c outside && touch rm/a/f rm/a/b/g outside/keep && ln -s ../../outside rm/a/link",
          at("."));
    CHECK_INT(E_NOT_EMPTY, ask_flags(operate_remove, "rm", 0));
    CHECK_INT(E_NOT_FOUND, ask_flags(operate_remove, "rm/none", 0));
    CHECK_INT(0, ask_flags(operate_remove, "rm/none", 2));
    CHECK_INT(0, ask_flags(operate_remove, "rm/none/deeper", 2));
    build_text(&b, T_PATH, "rm");
    build_u64(&b, T_FLAGS, 1);
    struct stream *s = ask(operate_remove, &b, NULL);
    CHECK_INT(0, double_code(s));
    CHECK_INT(7, fields_u64(double_fields(s, END, 0), T_COUNT, 0));
    double_free(s);
    CHECK(!exists(at("rm")));
    CHECK(exists(at("outside/keep")));
    shell("cd %s && ln -s outside rl", at("."));
    CHECK_INT(0, ask_flags(operate_remove, "rl", 1));
    CHECK(exists(at("outside/keep")));
    CHECK_INT(E_INVALID, ask_flags(operate_remove, ".", 1));
    CHECK_INT(E_INVALID, ask_flags(operate_remove, "outside/..", 1));
    CHECK_INT(E_INVALID, ask_flags(operate_remove, "/", 1));
}

/* A tree deeper than the number of descriptors can be removed; listing it fails with the limit. */
static void deep_tree(void)
{
    enum { DEEP = 3000 };
    int fd = open(at("."), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < DEEP; i++) {
        mkdirat(fd, "deep", 0755);
        int next = openat(fd, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(fd);
        fd = next;
    }
    close(fd);
    build_text(&b, T_PATH, "deep");
    build_u64(&b, T_DEPTH, 0);
    struct stream *s = ask(operate_list, &b, NULL);
    CHECK_INT(E_LIMIT, double_code(s));
    CHECK_INT(TREE_DEPTH_MAX, double_count(s, ITEM));
    double_free(s);
    build_text(&b, T_PATH, "deep");
    build_u64(&b, T_FLAGS, 1);
    s = ask(operate_remove, &b, NULL);
    CHECK_INT(0, double_code(s));
    CHECK_INT(DEEP, fields_u64(double_fields(s, END, 0), T_COUNT, 0));
    double_free(s);
    CHECK(!exists(at("deep")));
}

static const char *list_paths(const char *path, uint64_t depth)
{
    static char out[8192];
    build_text(&b, T_PATH, path);
    build_u64(&b, T_DEPTH, depth);
    struct stream *s = ask(operate_list, &b, NULL);
    out[0] = 0;
    for (int i = 0; i < double_count(s, ITEM); i++) {
        char *text = fields_text(double_fields(s, ITEM, i), T_PATH);
        strcat(strcat(out, *out ? " " : ""), text);
        free(text);
    }
    double_free(s);
    return out;
}

static void listing(void)
{
    shell("cd %s && mkdir -p ls/b/c && touch ls/a ls/b/x ls/b/c/y ls/.h && ln -s b ls/z", at("."));
    CHECK_TEXT("ls/.h ls/a ls/b ls/z", list_paths("ls", 1));
    CHECK_TEXT("ls/.h ls/a ls/b ls/b/c ls/b/x ls/z", list_paths("ls", 2));
    CHECK_TEXT("ls/.h ls/a ls/b ls/b/c ls/b/c/y ls/b/x ls/z", list_paths("ls/", 0));
    CHECK_TEXT("ls/b/c ls/b/x", list_paths("ls/b", 1));
    CHECK_INT(E_NOT_A_FOLDER, code_of(ask_path(operate_list, "ls/a")));
    CHECK_INT(E_NOT_FOUND, code_of(ask_path(operate_list, "ls/none")));
    struct script cancel = {.cancel_after = 2};
    build_text(&b, T_PATH, "ls");
    struct stream *s = ask(operate_list, &b, &cancel);
    CHECK_INT(E_CANCELLED, double_code(s));
    CHECK_INT(2, double_count(s, ITEM));
    double_free(s);
    shell("cd %s && mkdir many && cd many && seq 1 12000 | xargs touch", at("."));
    CHECK_INT(12000, entries("many"));
    CHECK_INT(0, ask_flags(operate_remove, "many", 1));
}

static void single_entry_changes(void)
{
    struct stat st;
    put_text(at("c"), "x");
    shell("cd %s && ln -s c cl", at("."));
    build_text(&b, T_PATH, "cl");
    build_u64(&b, T_MODE, 0604);
    CHECK_INT(0, code_of(ask(operate_chmod, &b, NULL)));
    CHECK(stat(at("c"), &st) == 0 && (st.st_mode & 07777) == 0604);
    build_text(&b, T_PATH, "c");
    CHECK_INT(E_INVALID, code_of(ask(operate_chmod, &b, NULL)));
    build_text(&b, T_PATH, "new-link");
    build_text(&b, T_TARGET, "any where");
    CHECK_INT(0, code_of(ask(operate_symlink, &b, NULL)));
    build_text(&b, T_PATH, "new-link");
    build_text(&b, T_TARGET, "other");
    CHECK_INT(E_EXISTS, code_of(ask(operate_symlink, &b, NULL)));
    if (geteuid() == 0) {
        build_text(&b, T_PATH, "cl");
        build_u64(&b, T_UID, 1234);
        CHECK_INT(0, code_of(ask(operate_chown, &b, NULL)));
        CHECK(stat(at("c"), &st) == 0 && st.st_uid == 1234 && st.st_gid == getegid());
        build_text(&b, T_PATH, "c");
        build_text(&b, T_OWNER, "root:77");
        CHECK_INT(0, code_of(ask(operate_chown, &b, NULL)));
        CHECK(stat(at("c"), &st) == 0 && st.st_uid == 0 && st.st_gid == 77);
        build_text(&b, T_PATH, "c");
        build_text(&b, T_OWNER, ":78");
        CHECK_INT(0, code_of(ask(operate_chown, &b, NULL)));
        CHECK(stat(at("c"), &st) == 0 && st.st_uid == 0 && st.st_gid == 78);
    } else {
        build_text(&b, T_PATH, "c");
        build_u64(&b, T_UID, 0);
        CHECK_INT(E_DENIED, code_of(ask(operate_chown, &b, NULL)));
    }
    build_text(&b, T_PATH, "c");
    build_text(&b, T_OWNER, "no-such-user");
    CHECK_INT(E_NO_SUCH_USER, code_of(ask(operate_chown, &b, NULL)));
}

static void extended_attributes(void)
{
    put_text(at("x"), "x");
    if (setxattr(at("x"), "user.probe", "1", 1, 0) < 0) {
        NOT_RUN(extended_attributes, "this file system has none");
        return;
    }
    build_text(&b, T_PATH, "x");
    build_u64(&b, T_ACTION, 2);
    build_text(&b, T_NAME, "user.colour");
    build_bytes(&b, T_VALUE, "r\0d", 3);
    CHECK_INT(0, code_of(ask(operate_xattr, &b, NULL)));
    build_text(&b, T_PATH, "x");
    build_u64(&b, T_ACTION, 1);
    build_text(&b, T_NAME, "user.colour");
    struct stream *s = ask(operate_xattr, &b, NULL);
    struct field value = {0};
    CHECK(fields_find(double_fields(s, END, 0), T_VALUE, &value));
    CHECK(value.length == 3 && !memcmp(value.value, "r\0d", 3));
    double_free(s);
    build_text(&b, T_PATH, "x");
    build_u64(&b, T_ACTION, 3);
    build_text(&b, T_NAME, "user.colour");
    CHECK_INT(0, code_of(ask(operate_xattr, &b, NULL)));
    build_text(&b, T_PATH, "x");
    build_u64(&b, T_ACTION, 1);
    build_text(&b, T_NAME, "user.colour");
    CHECK_INT(E_NOT_FOUND, code_of(ask(operate_xattr, &b, NULL)));
    s = ask_path(operate_xattr, "x");
    char *name = fields_text(double_fields(s, END, 0), T_NAME);
    CHECK_TEXT("user.probe", name);
    free(name);
    double_free(s);
}

static void confined(void)
{
    shell("cd %s && echo secret > secret; cd root && ln -s ../secret leak && ln -s /etc/passwd leak2 && ln -s .. leakd",
          folder);
    static const char *const outward[] = {"../secret", "/etc/passwd", "leak", "leak2", "leakd/secret", "/workspacefoo"};
    confine();
    for (int walk = 0; walk < 2; walk++) {
        path_force_walk = walk;
        for (size_t i = 0; i < sizeof outward / sizeof outward[0]; i++) {
            CHECK_INT(E_OUTSIDE, code_of(ask_path(operate_read, outward[i])));
            CHECK_INT(E_OUTSIDE, write_text(outward[i], "evil", 0));
            CHECK_INT(E_OUTSIDE, write_text(outward[i], "evil", WRITE_ATOMIC | WRITE_PARENTS));
        }
        CHECK_INT(E_OUTSIDE, ask_flags(operate_remove, "leakd/secret", 1));
        CHECK_INT(E_OUTSIDE, ask_flags(operate_mkdir, "leakd/evil", 2));
        CHECK_INT(E_OUTSIDE, ask_flags(operate_list, "leakd", 0));
        CHECK_INT(E_OUTSIDE, move("c", "leakd/c", 0));
        CHECK_INT(E_OUTSIDE, ask_flags(operate_tar_out, "leakd", 0));
        CHECK_INT(E_OUTSIDE, ask_flags(operate_watch, "leakd", 0));
        build_text(&b, T_PATH, "leak");
        build_u64(&b, T_MODE, 0777);
        CHECK_INT(E_OUTSIDE, code_of(ask(operate_chmod, &b, NULL)));
        CHECK_INT(0, write_text("/workspace/conf/x", "fine", WRITE_PARENTS | WRITE_ATOMIC));
        CHECK_TEXT("fine", get_text(at("conf/x")));
        CHECK_INT(0, code_of(ask_path(operate_stat, "leak")));
        CHECK_INT(0, code_of(ask_path(operate_list, "/workspace")));
    }
    path_force_walk = false;
    build_text(&b, T_PATH, "c");
    build_u64(&b, T_MODE, 04755);
    CHECK_INT(E_DENIED, code_of(ask(operate_chmod, &b, NULL)));
    CHECK_INT(E_INVALID, ask_flags(operate_remove, "/workspace", 1));
    unconfine();
    char secret[128];
    snprintf(secret, sizeof secret, "%s/secret", folder);
    CHECK_TEXT("secret\n", get_text(secret));
}

static void usage(void)
{
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    build_u64(&b, T_FLAGS, 1);
    struct stream *s = ask(operate_usage, &b, NULL);
    struct fields f = double_fields(s, END, 0);
    CHECK(fields_u64(f, T_PROCESSES, 0) >= 1);
    CHECK(fields_u64(f, T_MEMORY, 0) > 0);
    CHECK(fields_u64(f, T_MEMORY_PEAK, 0) >= fields_u64(f, T_MEMORY, 0));
    CHECK(fields_has(f, T_RX) && fields_has(f, T_TX) && fields_has(f, T_CPU_NS) && fields_has(f, T_DISK));
    CHECK(!fields_has(f, T_DISK_PARTIAL));
    CHECK(fields_u64(f, T_UPTIME_MS, 0) > 0);
    double_free(s);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    sandbox_make();
    int before = open_descriptors();
    RUN(stat_fields);
    RUN(reading);
    RUN(reading_large);
    RUN(reading_large_without_descriptors_for_a_pipe);
    RUN(writing);
    RUN(write_modes);
    RUN(file_owner_is_applied);
    RUN(failed_write_leaves_nothing);
    RUN(disk_full);
    RUN(folders);
    RUN(moving);
    RUN(removing);
    RUN(deep_tree);
    RUN(listing);
    RUN(single_entry_changes);
    RUN(extended_attributes);
    RUN(confined);
    RUN(usage);
    if (open_descriptors() != before) {
        printf("FAILED descriptors: %d before, %d after\n", before, open_descriptors());
        check_failed++;
    }
    sandbox_remove();
    return check_result();
}
