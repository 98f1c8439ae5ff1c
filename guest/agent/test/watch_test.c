#include <pthread.h>
#include <time.h>

#include "../src/operations.h"
#include "stream_double.h"
#include "sandbox_folder.h"
#include "check.h"

enum { CREATED = 1, MODIFIED, REMOVED, MOVED_FROM, MOVED_TO, ATTRIBUTES, OVERFLOW, GONE, MARK };

struct watcher {
    pthread_t thread;
    struct stream *s;
    struct builder b;
    int seen;
};

static void *watcher_run(void *argument)
{
    struct watcher *w = argument;
    struct request r = {.stream = w->s, .fields = {w->b.data, w->b.length}};
    operate_watch(&r);
    return NULL;
}

static void watcher_start(struct watcher *w, const char *path, bool recursive)
{
    *w = (struct watcher){.s = double_new(NULL)};
    build_text(&w->b, T_PATH, path);
    if (recursive) build_u64(&w->b, T_RECURSIVE, 1);
    pthread_create(&w->thread, NULL, watcher_run, w);
    CHECK(double_await(w->s, RESPONSE, 1, 5000));
}

/* Waits for `event` on `path` after the events consumed before; skips other events. */
static bool saw(struct watcher *w, int event, const char *path)
{
    for (; double_await(w->s, ITEM, w->seen + 1, 3000); w->seen++) {
        struct fields f = double_fields(w->s, ITEM, w->seen);
        char *found = fields_text(f, T_PATH);
        bool same = (int)fields_u64(f, T_EVENT, 0) == event && !strcmp(found, path);
        free(found);
        if (same) {
            w->seen++;
            return true;
        }
    }
    printf("  no event %d for %s\n", event, path);
    return false;
}

static int count_of(struct watcher *w, int event, const char *path)
{
    int n = 0;
    for (int i = 0; i < double_count(w->s, ITEM); i++) {
        struct fields f = double_fields(w->s, ITEM, i);
        char *found = fields_text(f, T_PATH);
        n += (int)fields_u64(f, T_EVENT, 0) == event && !strcmp(found, path);
        free(found);
    }
    return n;
}

static int watcher_stop(struct watcher *w)
{
    double_cancel(w->s);
    pthread_join(w->thread, NULL);
    CHECK(double_ended_once(w->s));
    int code = double_code(w->s);
    double_free(w->s);
    builder_free(&w->b);
    return code;
}

static void one_folder(void)
{
    struct watcher w;
    shell("mkdir %s", at("one"));
    watcher_start(&w, "one", false);
    put_text(at("one/a"), "x");
    CHECK(saw(&w, CREATED, "one/a"));
    CHECK(saw(&w, MODIFIED, "one/a"));
    chmod(at("one/a"), 0600);
    CHECK(saw(&w, ATTRIBUTES, "one/a"));
    rename(at("one/a"), at("one/b"));
    CHECK(saw(&w, MOVED_FROM, "one/a"));
    CHECK(saw(&w, MOVED_TO, "one/b"));
    unlink(at("one/b"));
    CHECK(saw(&w, REMOVED, "one/b"));
    shell("mkdir %s && touch %s %s", at("one/sub"), at("one/sub/x"), at("one/last"));
    CHECK(saw(&w, CREATED, "one/sub"));
    CHECK(saw(&w, CREATED, "one/last"));
    CHECK_INT(0, count_of(&w, CREATED, "one/sub/x"));
    CHECK_INT(E_CANCELLED, watcher_stop(&w));
}

static void recursive(void)
{
    struct watcher w;
    shell("mkdir -p %s", at("rec/old/deep"));
    watcher_start(&w, "rec", true);
    put_text(at("rec/old/deep/a"), "x");
    CHECK(saw(&w, CREATED, "rec/old/deep/a"));
    /* all at once: what the kernel could not report yet is found by scanning */
    shell("mkdir -p %s && touch %s", at("rec/n1/n2/n3"), at("rec/n1/n2/n3/f"));
    CHECK(saw(&w, CREATED, "rec/n1/n2/n3/f"));
    CHECK_INT(1, count_of(&w, CREATED, "rec/n1/n2/n3/f"));
    CHECK_INT(1, count_of(&w, CREATED, "rec/n1/n2"));
    put_text(at("rec/n1/n2/n3/g"), "y");
    CHECK(saw(&w, CREATED, "rec/n1/n2/n3/g"));
    /* a moved folder keeps its watches and has its new name */
    rename(at("rec/n1"), at("rec/old/moved"));
    CHECK(saw(&w, MOVED_FROM, "rec/n1"));
    CHECK(saw(&w, MOVED_TO, "rec/old/moved"));
    put_text(at("rec/old/moved/n2/n3/h"), "z");
    CHECK(saw(&w, CREATED, "rec/old/moved/n2/n3/h"));
    /* a folder that leaves is no longer watched; one that arrives is */
    rename(at("rec/old/moved"), at("left"));
    CHECK(saw(&w, MOVED_FROM, "rec/old/moved"));
    shell("sleep 0.1; touch %s", at("left/n2/n3/unseen"));
    rename(at("left"), at("rec/back"));
    CHECK(saw(&w, MOVED_TO, "rec/back"));
    shell("sleep 0.1");
    put_text(at("rec/back/n2/n3/i"), "z");
    CHECK(saw(&w, CREATED, "rec/back/n2/n3/i"));
    for (int i = 0; i < double_count(w.s, ITEM); i++) {
        char *path = fields_text(double_fields(w.s, ITEM, i), T_PATH);
        CHECK(!strstr(path, "unseen"));
        free(path);
    }
    CHECK_INT(E_CANCELLED, watcher_stop(&w));
}

/* Many folders created as fast as possible: each is reported exactly once, none is missed. */
static void folder_storm_is_reported_once(void)
{
    struct watcher w;
    shell("mkdir %s", at("storm"));
    watcher_start(&w, "storm", true);
    shell("cd %s && for i in $(seq 1 60); do mkdir -p a$i/b/c; touch a$i/b/c/f; done; touch end", at("storm"));
    CHECK(saw(&w, CREATED, "storm/end"));
    for (int i = 1; i <= 60; i++) {
        char path[64];
        snprintf(path, sizeof path, "storm/a%d/b/c/f", i);
        CHECK_INT(1, count_of(&w, CREATED, path));
    }
    CHECK_INT(E_CANCELLED, watcher_stop(&w));
}

static void removed_folder_ends_the_watch(void)
{
    struct watcher w;
    shell("mkdir -p %s", at("gone/a"));
    watcher_start(&w, "gone", true);
    shell("rm -r %s", at("gone"));
    CHECK(saw(&w, GONE, "gone"));
    CHECK(double_await(w.s, END, 1, 3000));
    CHECK_INT(0, watcher_stop(&w));
}

/* Requests a mark and waits for it. Returns how many events precede it. */
static int await_mark(struct watcher *w)
{
    double_data_arrived(w->s, 1);
    for (int i = w->seen; double_await(w->s, ITEM, i + 1, 5000); i++) {
        struct fields f = double_fields(w->s, ITEM, i);
        if ((int)fields_u64(f, T_EVENT, 0) == MARK) {
            CHECK_INT(1, fields_u64(f, T_COUNT, 0));
            int before = i - w->seen;
            w->seen = i + 1;
            return before;
        }
    }
    printf("  no mark\n");
    return -1;
}

static void a_mark_follows_every_earlier_change(void)
{
    struct watcher w;
    shell("mkdir %s", at("marks"));
    put_text(at("marks/f"), "x");
    watcher_start(&w, "marks", false);
    CHECK_INT(0, await_mark(&w));
    int fd = open(at("marks/f"), O_WRONLY | O_APPEND | O_CLOEXEC);
    for (int i = 0; i < 500; i++) {
        CHECK(write(fd, "x", 1) == 1);
        CHECK_INT(1, await_mark(&w)); /* the same file each time */
    }
    close(fd);
    CHECK_INT(0, await_mark(&w));
    shell("cd %s && for i in $(seq 1 300); do echo x > n$i; done", at("marks"));
    CHECK(await_mark(&w) >= 300);
    CHECK_INT(E_CANCELLED, watcher_stop(&w));
}

static void modifications_are_reported(void)
{
    struct watcher w;
    put_text(at("mod"), "x");
    watcher_start(&w, "mod", false);
    put_text(at("mod"), "yy");
    CHECK(saw(&w, MODIFIED, "mod"));
    unlink(at("mod"));
    CHECK(saw(&w, GONE, "mod"));
    watcher_stop(&w);
}

static void links_not_followed(void)
{
    struct watcher w;
    shell("cd %s && mkdir -p in && mkdir -p ../elsewhere && ln -s ../../elsewhere in/l", at("."));
    confine();
    watcher_start(&w, "/workspace/in", true);
    shell("touch %s/elsewhere/x %s", folder, at("in/end"));
    CHECK(saw(&w, CREATED, "/workspace/in/end"));
    CHECK_INT(0, count_of(&w, CREATED, "/workspace/in/l/x"));
    CHECK_INT(E_CANCELLED, watcher_stop(&w));
    unconfine();
}

static void missing_folder_cannot_be_watched(void)
{
    struct stream *s = ask_path(operate_watch, "none");
    CHECK_INT(E_NOT_FOUND, double_code(s));
    double_free(s);
}

int main(void)
{
    sandbox_make();
    int before = open_descriptors();
    RUN(one_folder);
    RUN(recursive);
    RUN(folder_storm_is_reported_once);
    RUN(removed_folder_ends_the_watch);
    RUN(a_mark_follows_every_earlier_change);
    RUN(modifications_are_reported);
    RUN(links_not_followed);
    RUN(missing_folder_cannot_be_watched);
    if (open_descriptors() != before) {
        printf("FAILED descriptors: %d before, %d after\n", before, open_descriptors());
        check_failed++;
    }
    sandbox_remove();
    return check_result();
}
