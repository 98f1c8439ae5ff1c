#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "../src/operations.h"
#include "stream_double.h"
#include "sandbox_folder.h"
#include "../src/path.h"
#include "check.h"

/* A tree with links that lead inside, outside, in circles and up. `secret` lies outside. */
static void hostile_tree(void)
{
    shell(
        "cd %s && echo secret > secret && mkdir outside && echo no > outside/f && cd root && mkdir -p a/b/c d && echo "
        "x > f && "
        "echo y > a/f && ln -s a/b in && ln -s .. up && ln -s ../secret out && ln -s /etc/passwd abs && ln -s loop "
        "loop && "
        "ln -s l2 l1 && ln -s l1 l2 && ln -s ../../d a/b/back && ln -s ../../.. a/b/high && ln -s nowhere dangling && "
        "ln -s in/../f viain && ln -s a/ slashed && ln -s . dot && ln -s dot/dot/a dots && mkfifo pipe && "
        "ln -s ../root/f through && mkdir closed && echo z > closed/f && ln -s f a/lf && ln -s b/c a/lc",
        folder);
    for (int i = 0; i < 45; i++) shell("cd %s/root && ln -s %s chain%d", folder, i ? at("") : "f", i);
    for (int i = 1; i < 45; i++) shell("cd %s/root && ln -sfn chain%d chain%d", folder, i - 1, i);
}

/* Result: 0 and what was opened, or errno. */
struct verdict {
    int number;
    dev_t device;
    ino_t inode;
};

static struct verdict look(const char *path, int flags, bool walk)
{
    struct verdict v = {0};
    struct stat st;
    path_force_walk = walk;
    int fd = path_open(path, flags);
    path_force_walk = false;
    if (fd < 0) {
        v.number = errno;
        return v;
    }
    fstat(fd, &st);
    v.device = st.st_dev;
    v.inode = st.st_ino;
    close(fd);
    return v;
}

static const struct {
    const char *path;
    int number;
} table[] = {
    {"f", 0},
    {"/workspace/f", 0},
    {"//workspace///f", 0},
    {"/workspacefoo/f", EXDEV},
    {"/workspace", 0},
    {"/workspace/", 0},
    {"", 0},
    {".", 0},
    {"/", EXDEV},
    {"/etc/passwd", EXDEV},
    {"..", EXDEV},
    {"../secret", EXDEV},
    {"a/../../secret", EXDEV},
    {"a/../f", 0},
    {"in/../f", 0},
    {"in/../../f", 0},
    {"in/../../../secret", EXDEV},
    {"up", EXDEV},
    {"up/secret", EXDEV},
    {"out", EXDEV},
    {"abs", EXDEV},
    {"loop", ELOOP},
    {"l1", ELOOP},
    {"a/b/back", 0},
    {"a/b/high", EXDEV},
    {"a/b/high/secret", EXDEV},
    {"dangling", ENOENT},
    {"viain", 0},
    {"slashed/f", 0},
    {"dot/dot/f", 0},
    {"dots/f", 0},
    {"f/", ENOTDIR},
    {"f/.", ENOTDIR},
    {"f/..", ENOTDIR},
    {"f/x", ENOTDIR},
    {"through", EXDEV},
    {"/workspace/../secret", EXDEV},
    {"/workspace/./a/f", 0},
    {"chain39", 0},
    {"chain40", ELOOP},
    {"missing/../f", ENOENT},
    {"a//b///c", 0},
    {"a/b/c/../../../f", 0},
    {"a/b/c/../../../../root/f", EXDEV},
};

static void resolution_results(void)
{
    for (int walk = 0; walk < 2; walk++) {
        for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
            struct verdict v = look(table[i].path, O_PATH, walk);
            if (v.number != table[i].number) {
                printf("  `%s` by %s: %d, expected %d\n", table[i].path, walk ? "walk" : "openat2", v.number,
                       table[i].number);
                CHECK(false);
            }
        }
    }
    char by_root[256];
    snprintf(by_root, sizeof by_root, "%s/root/a/f", folder);
    CHECK_INT(0, look(by_root, O_PATH, false).number);
    snprintf(by_root, sizeof by_root, "%s/rootfoo", folder);
    CHECK_INT(EXDEV, look(by_root, O_PATH, false).number);
    snprintf(by_root, sizeof by_root, "%s/secret", folder);
    CHECK_INT(EXDEV, look(by_root, O_PATH, false).number);
}

static void long_paths(void)
{
    static char path[8192];
    for (int walk = 0; walk < 2; walk++) {
        memset(path, 'x', 256);
        path[256] = 0;
        CHECK_INT(ENAMETOOLONG, look(path, O_PATH, walk).number);
        memset(path, 'x', 5000);
        path[5000] = 0;
        CHECK_INT(ENAMETOOLONG, look(path, O_PATH, walk).number);
        path[0] = 0;
        for (int i = 0; i < 1000; i++) strcat(path, "a/.");
        CHECK_INT(ENOENT, look(path, O_PATH, walk).number);
        path[0] = 0;
        for (int i = 0; i < 800; i++) strcat(path, "a/../");
        CHECK_INT(0, look(path, O_PATH, walk).number);
    }
}

/* Both ways of resolving agree on hostile random paths. */
static void random_paths_agree(void)
{
    static const char *const parts[] = {
        "a",    "b",        "c",     "f",       "in",     "up",      "out",     "abs",     "loop",   "l1", "back",
        "high", "dangling", "viain", "slashed", "dot",    "dots",    "pipe",    "through", "closed", "d",  "..",
        "..",   "..",       ".",     "",        "chain3", "chain38", "missing", "root",    "lf",     "lc",
    };
    static const int flags[] = {
        O_PATH,
        O_PATH | O_NOFOLLOW,
        O_PATH | O_DIRECTORY,
        O_RDONLY | O_NONBLOCK,
        O_RDONLY | O_NONBLOCK | O_NOFOLLOW,
        O_RDONLY | O_DIRECTORY,
        O_PATH | O_DIRECTORY | O_NOFOLLOW,
    };
    unsigned seed = 12345;
    int opened = 0, outside = 0;
    for (int i = 0; i < 20000; i++) {
        char path[1024] = "";
        int length = 1 + rand_r(&seed) % 8;
        if (rand_r(&seed) % 8 == 0) strcpy(path, "/workspace/");
        for (int j = 0; j < length; j++) {
            strcat(path, parts[(size_t)rand_r(&seed) % (sizeof parts / sizeof parts[0])]);
            if (j + 1 < length || rand_r(&seed) % 6 == 0) strcat(path, "/");
        }
        int how = flags[(size_t)rand_r(&seed) % (sizeof flags / sizeof flags[0])];
        struct verdict kernel = look(path, how, false), own = look(path, how, true);
        /* The kernel counts the links of a restarted lookup twice: on a busy machine, ELOOP comes too early. */
        for (int again = 0; kernel.number == ELOOP && own.number != ELOOP && again < 50; again++)
            kernel = look(path, how, false);
        opened += kernel.number == 0;
        outside += kernel.number == EXDEV;
        if (kernel.number != own.number || kernel.inode != own.inode || kernel.device != own.device) {
            printf("  `%s` flags %o: openat2 %d, walk %d\n", path, (unsigned)how, kernel.number, own.number);
            CHECK(false);
        }
    }
    printf("  20000 paths: %d opened, %d outside\n", opened, outside);
    CHECK(opened > 500 && outside > 500);
}

static void parents_are_resolved(void)
{
    struct path_parent p;
    static const struct {
        const char *path, *leaf;
        int number;
    } cases[] = {
        {"f", "f", 0},
        {"a/f/", "f", 0},
        {"a/f/./", "f", 0},
        {"a/..", NULL, EINVAL},
        {"", "", 0},
        {".", "", 0},
        {"/workspace", "", 0},
        {"/workspace/", "", 0},
        {"in/x", "x", 0},
        {"up/x", NULL, EXDEV},
        {"../x", NULL, EXDEV},
        {"out", "out", 0},
        {"f/x", NULL, ENOTDIR},
        {"missing/x", NULL, ENOENT},
        {"/etc", NULL, EXDEV},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool ok = path_resolve_parent(cases[i].path, &p);
        CHECK_INT(cases[i].number, ok ? 0 : errno);
        if (ok && cases[i].leaf) CHECK_TEXT(cases[i].leaf, p.leaf);
        path_parent_close(&p);
    }
    CHECK(path_resolve_parent_following("viain", &p));
    CHECK_TEXT("f", p.leaf);
    path_parent_close(&p);
    CHECK(path_resolve_parent_following("dangling", &p));
    CHECK_TEXT("nowhere", p.leaf);
    path_parent_close(&p);
    CHECK(!path_resolve_parent_following("loop", &p));
    CHECK_INT(ELOOP, errno);
    CHECK(!path_resolve_parent_following("abs", &p));
    CHECK_INT(EXDEV, errno);
    CHECK(!path_resolve_parent_following("out", &p));
    CHECK_INT(EXDEV, errno);
    CHECK(path_make_parents("new/x/y/leaf", 0755));
    CHECK(exists(at("new/x/y")) && !exists(at("new/x/y/leaf")));
    CHECK(path_make_parents("/workspace/new2/leaf", 0755));
    CHECK(exists(at("new2")));
    CHECK(!path_make_parents("up/evil/leaf", 0755));
    CHECK(!path_make_parents("/evil/x/leaf", 0755) || !exists("/evil"));
    CHECK(path_descend(file_view.root_fd, "in", 0) < 0);
    CHECK_INT(ELOOP, errno);
    int fd = path_descend(file_view.root_fd, "p/q/r", 0700);
    CHECK(fd >= 0 && exists(at("p/q/r")));
    close(fd);
}

static void mode_000_agrees(void)
{
    if (geteuid() == 0) {
        NOT_RUN(mode_000_agrees, "root passes everywhere");
        return;
    }
    chmod(at("closed"), 0);
    static const char *const closed[] = {"closed", "closed/f", "closed/..", "closed/.", "closed/../f", "closed/"};
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
        CHECK_INT(look(closed[i], O_PATH, false).number, look(closed[i], O_PATH, true).number);
    chmod(at("closed"), 0755);
}

/* ---- race: a folder is swapped with a link that leads outside while a reader resolves through it -------- */

static atomic_bool racing;

static void *swapper(void *unused)
{
    (void)unused;
    char x[128], y[128];
    snprintf(x, sizeof x, "%s/root/race/x", folder);
    snprintf(y, sizeof y, "%s/root/race/y", folder);
    while (atomic_load(&racing)) renameat2(AT_FDCWD, x, AT_FDCWD, y, RENAME_EXCHANGE);
    return NULL;
}

enum reader { NAIVE, KERNEL, WALK };

/* Returns how often the file outside was read. */
static int race(enum reader reader, int ms, int *inside)
{
    pthread_t thread;
    int got_out = 0;
    struct timespec start, now;
    atomic_store(&racing, true);
    pthread_create(&thread, NULL, swapper, NULL);
    clock_gettime(CLOCK_MONOTONIC, &start);
    path_force_walk = reader == WALK;
    do {
        char text[16] = "";
        int fd;
        if (reader == NAIVE) {
            struct stat st;
            /* check, then open: the vulnerable way */
            fd = lstat(at("race/x"), &st) == 0 && S_ISDIR(st.st_mode) ? open(at("race/x/f"), O_RDONLY) : -1;
        } else {
            fd = path_open("race/x/f", O_RDONLY | O_NONBLOCK);
        }
        if (fd >= 0) {
            if (read(fd, text, sizeof text - 1) > 0) {
                got_out += !strncmp(text, "no", 2);
                *inside += !strncmp(text, "in", 2);
            }
            close(fd);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
    path_force_walk = false;
    atomic_store(&racing, false);
    pthread_join(thread, NULL);
    return got_out;
}

/* Races until the file inside was read, and for the control the one outside too: a busy machine may need more time. */
static int race_until_seen(enum reader reader, int ms, int *inside)
{
    int got_out = 0;
    for (int i = 0; i < 20 && (i == 0 || *inside == 0 || (reader == NAIVE && got_out == 0)); i++)
        got_out += race(reader, ms, inside);
    return got_out;
}

static void swap_race(void)
{
    shell("cd %s && mkdir -p race/x && echo in > race/x/f && ln -s ../../outside race/y", at("."));
    int inside = 0;
    int naive = race_until_seen(NAIVE, 300, &inside);
    printf("  naive open got out %d times (positive control), %d inside\n", naive, inside);
    CHECK(naive > 0);
    inside = 0;
    CHECK_INT(0, race_until_seen(KERNEL, 600, &inside));
    printf("  openat2: %d reads inside, none outside\n", inside);
    CHECK(inside > 0);
    inside = 0;
    CHECK_INT(0, race_until_seen(WALK, 600, &inside));
    printf("  walk: %d reads inside, none outside\n", inside);
    CHECK(inside > 0);
}

static void no_descriptors_left(void)
{
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        look(table[i].path, O_PATH, true);
        look(table[i].path, O_PATH, false);
    }
    CHECK_INT(before, open_descriptors());
}

static void unconfined(void)
{
    struct path_parent p;
    CHECK_INT(0, look("f", O_PATH, false).number);
    CHECK_INT(0, look("out", O_PATH, false).number);
    CHECK_INT(0, look("/etc", O_PATH, false).number);
    CHECK_INT(0, look("/", O_PATH, false).number);
    CHECK_INT(ENOENT, look("nothing", O_PATH, false).number);
    CHECK(path_resolve_parent("/", &p));
    CHECK_TEXT("", p.leaf);
    path_parent_close(&p);
    CHECK(path_resolve_parent("/etc", &p));
    CHECK_TEXT("etc", p.leaf);
    path_parent_close(&p);
    CHECK(path_resolve_parent_following("abs", &p));
    CHECK_TEXT("passwd", p.leaf);
    path_parent_close(&p);
}

int main(void)
{
    sandbox_make();
    hostile_tree();
    confine();
    RUN(resolution_results);
    RUN(long_paths);
    RUN(random_paths_agree);
    RUN(parents_are_resolved);
    RUN(mode_000_agrees);
    RUN(swap_race);
    RUN(no_descriptors_left);
    unconfine();
    RUN(unconfined);
    sandbox_remove();
    return check_result();
}
