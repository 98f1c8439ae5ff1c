/*
 * WATCH. Events stay in the kernel's queue while the server grants no credit. When the queue overflows, the agent
 * reports event 7 and rescans the folders for new ones.
 *
 * The server requests a mark with each byte of DATA. The mark follows every event that was in the kernel's queue when
 * the byte arrived: a change that was made before the request precedes the mark.
 *
 * No descriptor of a watched folder stays open: the kernel reports the removal of a folder only once it is closed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "file_error.h"
#include "file_request.h"
#include "operations.h"
#include "path.h"
#include "tree.h"
#include "watch_seen.h"
#include "watch_table.h"

enum event {
    EVENT_CREATED = 1,
    EVENT_MODIFIED,
    EVENT_REMOVED,
    EVENT_MOVED_FROM,
    EVENT_MOVED_TO,
    EVENT_ATTRIBUTES,
    EVENT_OVERFLOW,
    EVENT_GONE,
    EVENT_MARK,
};
enum { EVENT_IS_FOLDER = 1, READ_SIZE = 65536, PAIR_WAIT_MS = 20, PAIR_WAIT_EVENTS = 64 };

static const uint32_t mask = IN_CREATE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB
                             | IN_DELETE_SELF | IN_MOVE_SELF | IN_EXCL_UNLINK;

struct watching {
    struct stream *s;
    const char *path;
    bool recursive;
    int inotify;
    int top;      /* watch number of PATH itself */
    dev_t device; /* identity of PATH, to detect its replacement */
    ino_t inode;
    struct watch_table table;
    bool done, gone;
    int number; /* errno of a failure; EOVERFLOW for WATCHES_MAX */
    struct builder item;
    struct watch_seen seen; /* entries found by scanning, which the kernel may report too */
    uint32_t cookie;        /* of a folder that was moved away and may reappear elsewhere in the tree */
    int moving;             /* its watch number, or -1 */
    int grace;              /* how many more events to wait for its arrival */
    size_t marks;           /* requested by the server and not sent yet */
    int before_marks;       /* bytes of events in the kernel's queue that precede them */
};

static void report(struct watching *w, enum event event, const char *relative, bool folder)
{
    char *path = path_join(w->path, relative);
    if (!path) {
        w->number = ENOMEM;
        return;
    }
    builder_reset(&w->item);
    build_u64(&w->item, T_EVENT, event);
    build_text(&w->item, T_PATH, path);
    build_u64(&w->item, T_FLAGS, folder ? EVENT_IS_FOLDER : 0);
    if (!stream_send(w->s, ITEM, w->item.data, w->item.length)) w->done = true;
    free(path);
}

/* ---- watches ------------------------------------------------------------------------------------------- */

/* Opens PATH again, if it is still the same folder. */
static int top_open(struct watching *w)
{
    struct stat st;
    int fd = path_open(w->path, O_PATH);
    if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_dev != w->device || st.st_ino != w->inode)) {
        close(fd);
        errno = ENOENT;
        return -1;
    }
    return fd;
}

/* Adds a watch through /proc/self/fd, so that no path is resolved again. Returns -1 with errno. */
static int watch_descriptor(struct watching *w, int fd, uint32_t extra)
{
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int number = inotify_add_watch(w->inotify, name, mask | extra);
    if (number < 0 && (errno == ENOENT || errno == ENOTDIR)) errno = ENOSYS; /* no /proc */
    return number;
}

static bool vanished(int number)
{
    return number == ENOENT || number == ENOTDIR || number == ELOOP || number == EACCES;
}

/*
 * Watches the open folder and, if recursive, the tree beneath it. With `fresh`, reports the entries it finds. Takes
 * ownership of `folder`. Adds the watch before scanning, so that an entry may be seen twice but is never missed.
 */
static void watch_tree(struct watching *w, int folder, int parent, const char *name, bool fresh)
{
    int above[TREE_DEPTH_MAX + 2]; /* watch numbers by depth */
    struct tree t;
    int number = watch_descriptor(w, folder, IN_ONLYDIR);
    if (number < 0 || !watch_add(&w->table, number, parent, name)) {
        w->number = vanished(errno) ? 0 : errno;
        close(folder);
        return;
    }
    if (parent < 0) w->top = number;
    above[1] = number;
    int readable = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(folder);
    if ((!w->recursive && !fresh) || readable < 0 || !tree_start(&t, readable, true)) {
        if ((!w->recursive && !fresh) && readable >= 0) close(readable);
        return;
    }
    enum tree_step step;
    while (!w->number && !w->done && !stream_over(w->s) && (step = tree_next(&t)) != TREE_END) {
        if (step != TREE_ENTRY) continue;
        struct stat st;
        bool is_folder = t.kind == DT_DIR;
        if (t.kind == DT_UNKNOWN)
            is_folder = fstatat(t.folder, t.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
        int in = above[t.depth];
        char *relative = fresh ? watch_path(&w->table, in, t.name) : NULL;
        if (relative) {
            report(w, EVENT_CREATED, relative, is_folder);
            watch_seen_add(&w->seen, in, t.name);
            free(relative);
        }
        if (!is_folder || !w->recursive) continue;
        int fd = openat(t.folder, t.name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        number = fd < 0 ? -1 : watch_descriptor(w, fd, IN_ONLYDIR);
        if (number >= 0 && watch_add(&w->table, number, in, t.name)) {
            if (tree_enter(&t)) above[t.depth] = number;
        } else if (!vanished(errno)) {
            w->number = errno;
        }
        if (fd >= 0) close(fd);
    }
    tree_stop(&t);
}

/* Handles a folder that appeared as `name` in the watched folder `parent`. */
static void watch_new_folder(struct watching *w, int parent, const char *name, bool fresh)
{
    char *relative = watch_path(&w->table, parent, name);
    int top = relative ? top_open(w) : -1;
    int folder = top >= 0 ? path_descend(top, relative, 0) : -1;
    if (folder >= 0) watch_tree(w, folder, parent, name, fresh);
    if (top >= 0) close(top);
    free(relative);
}

/* Handles a folder that left the tree: its watches are still attached to it, wherever it is now. */
static void unwatch_tree(struct watching *w, int number)
{
    size_t kept = 0;
    int *removed = malloc((w->table.count + 1) * sizeof *removed);
    if (!removed) return;
    for (size_t i = 0; i < w->table.count; i++)
        if (!w->table.list[i].dead && watch_beneath(&w->table, w->table.list[i].number, number))
            removed[kept++] = w->table.list[i].number;
    for (size_t i = 0; i < kept; i++) {
        inotify_rm_watch(w->inotify, removed[i]);
        struct inotify_watch *found = watch_find(&w->table, removed[i]);
        if (found) watch_forget(&w->table, found);
    }
    free(removed);
}

static void move_expired(struct watching *w)
{
    if (w->moving >= 0) unwatch_tree(w, w->moving);
    w->moving = -1;
}

static void folder_moved_to(struct watching *w, const struct inotify_event *e)
{
    struct inotify_watch *moved = w->moving >= 0 && e->cookie == w->cookie ? watch_find(&w->table, w->moving) : NULL;
    w->moving = moved ? -1 : w->moving;
    char *name = moved ? strdup(e->name) : NULL;
    if (!name) {
        if (w->recursive) watch_new_folder(w, e->wd, e->name, false);
        return;
    }
    free(moved->name);
    moved->name = name;
    moved->parent = e->wd;
}

static void on_entry_event(struct watching *w, const struct inotify_event *e)
{
    bool folder = e->mask & IN_ISDIR;
    char *relative = watch_path(&w->table, e->wd, e->name);
    if (!relative) return;
    if (e->mask & IN_CREATE) {
        if (!watch_seen_take(&w->seen, e->wd, e->name)) {
            report(w, EVENT_CREATED, relative, folder);
            if (folder && w->recursive) watch_new_folder(w, e->wd, e->name, true);
        }
    } else if (e->mask & IN_MODIFY) {
        report(w, EVENT_MODIFIED, relative, folder);
    } else if (e->mask & IN_DELETE) {
        report(w, EVENT_REMOVED, relative, folder);
    } else if (e->mask & IN_ATTRIB) {
        report(w, EVENT_ATTRIBUTES, relative, folder);
    } else if (e->mask & IN_MOVED_FROM) {
        report(w, EVENT_MOVED_FROM, relative, folder);
        struct inotify_watch *child = folder ? watch_child(&w->table, e->wd, e->name) : NULL;
        if (child) {
            move_expired(w);
            w->moving = child->number;
            w->cookie = e->cookie;
            w->grace = PAIR_WAIT_EVENTS;
        }
    } else if (e->mask & IN_MOVED_TO) {
        report(w, EVENT_MOVED_TO, relative, folder);
        if (folder) folder_moved_to(w, e);
    }
    free(relative);
}

static void on_top_event(struct watching *w, const struct inotify_event *e)
{
    if (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) {
        report(w, EVENT_GONE, "", e->mask & IN_ISDIR);
        w->done = w->gone = true;
    } else if (e->mask & IN_ATTRIB) {
        report(w, EVENT_ATTRIBUTES, "", e->mask & IN_ISDIR);
    } else if (e->mask & IN_MODIFY) {
        report(w, EVENT_MODIFIED, "", false);
    }
}

static void on_event(struct watching *w, const struct inotify_event *e)
{
    if (w->moving >= 0 && w->grace-- == 0) move_expired(w);
    if (e->mask & IN_Q_OVERFLOW) {
        report(w, EVENT_OVERFLOW, "", false);
        int top = w->recursive ? top_open(w) : -1;
        if (top >= 0) watch_tree(w, top, -1, "", false);
    } else if (e->mask & IN_IGNORED) {
        struct inotify_watch *found = watch_find(&w->table, e->wd);
        if (found && e->wd != w->top) watch_forget(&w->table, found);
    } else if (e->len > 0) {
        on_entry_event(w, e);
    } else if (e->wd == w->top) {
        on_top_event(w, e);
    }
}

/* Waits for events or a request. Returns false when the stream is over. */
static bool await_events(struct watching *w)
{
    struct pollfd fds[2] = {{.fd = w->inotify, .events = POLLIN}, {.fd = stream_wake_fd(w->s), .events = POLLIN}};
    for (;;) {
        int n = poll(fds, 2, w->moving >= 0 ? PAIR_WAIT_MS : -1);
        if (n < 0 && errno != EINTR) return false;
        if (n == 0) move_expired(w); /* the second half of the move would have arrived by now */
        if (n > 0 && fds[1].revents) return !stream_over(w->s);
        if (n > 0 && fds[0].revents) return true;
    }
}

static void accept_requests(struct watching *w)
{
    size_t requested = stream_discard(w->s);
    if (!requested) return;
    w->marks += requested;
    if (ioctl(w->inotify, FIONREAD, &w->before_marks) < 0) w->before_marks = INT_MAX; /* until the queue is empty */
}

static void send_marks(struct watching *w)
{
    builder_reset(&w->item);
    build_u64(&w->item, T_EVENT, EVENT_MARK);
    build_u64(&w->item, T_COUNT, w->marks);
    w->marks = 0;
    if (!stream_send(w->s, ITEM, w->item.data, w->item.length)) w->done = true;
}

static void watch_loop(struct watching *w)
{
    _Alignas(struct inotify_event) char buffer[READ_SIZE];
    while (!w->done && !w->number) {
        struct pollfd now = {.fd = w->inotify, .events = POLLIN};
        accept_requests(w);
        bool empty = poll(&now, 1, 0) == 0;
        if (empty) w->seen.count = 0; /* no further event for entries found by scanning */
        if (w->marks && (empty || w->before_marks <= 0)) send_marks(w);
        if (w->done || w->number) return;
        if (!await_events(w)) {
            w->done = true;
            return;
        }
        ssize_t length = read(w->inotify, buffer, sizeof buffer);
        if (length < 0 && errno != EINTR && errno != EAGAIN) w->number = errno;
        if (length > 0) w->before_marks -= (int)length;
        for (ssize_t at = 0; at < length && !w->done && !w->number;) {
            const struct inotify_event *e = (const struct inotify_event *)(buffer + at);
            at += (ssize_t)(sizeof *e + e->len);
            on_event(w, e);
        }
    }
}

/* ---- the operation ------------------------------------------------------------------------------------- */

static void watch_start(struct watching *w)
{
    struct stat st;
    int fd = path_open(w->path, O_PATH);
    if (fd < 0 || fstat(fd, &st) < 0) {
        w->number = errno;
        if (fd >= 0) close(fd);
        return;
    }
    w->device = st.st_dev;
    w->inode = st.st_ino;
    if (S_ISDIR(st.st_mode)) {
        watch_tree(w, fd, -1, "", false);
        if (w->top < 0 && !w->number) w->number = EACCES;
        return;
    }
    w->top = watch_descriptor(w, fd, 0);
    if (w->top < 0 || !watch_add(&w->table, w->top, -1, "")) w->number = errno;
    close(fd);
}

static void watch_answer(struct watching *w)
{
    if (w->number == ENOSPC)
        stream_error(w->s, E_LIMIT, ENOSPC, "the kernel allows no more watches; raise fs.inotify.max_user_watches: %s",
                     w->path);
    else if (w->number == EOVERFLOW)
        stream_error(w->s, E_LIMIT, 0, "the tree has more than %d folders or is deeper than %d: %s", WATCHES_MAX,
                     TREE_DEPTH_MAX, w->path);
    else if (w->number)
        answer_error(w->s, w->number, w->path);
    else if (w->gone)
        stream_end(w->s, NULL);
    else
        answer_cancelled(w->s);
}

static void watch_on(struct stream *s, struct fields f, const char *path)
{
    struct watching *w = calloc(1, sizeof *w);
    if (!w) {
        answer_no_memory(s);
        return;
    }
    w->s = s;
    w->path = path;
    w->recursive = fields_u64(f, T_RECURSIVE, 0) != 0;
    w->top = w->moving = -1;
    w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (w->inotify < 0) {
        int number = errno;
        if (number == EMFILE)
            stream_error(s, E_LIMIT, number,
                         "the kernel allows no more inotify instances; raise fs.inotify.max_user_instances: %s", path);
        else
            answer_error(s, number, path);
        free(w);
        return;
    }
    watch_start(w);
    if (!w->number && stream_send(s, RESPONSE, NULL, 0)) watch_loop(w);
    watch_answer(w);
    close(w->inotify);
    watch_table_free(&w->table);
    builder_free(&w->item);
    free(w);
}

void operate_watch(const struct request *r)
{
    file_operation(r, watch_on);
}
