#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* These files belong to the sandbox and may be anything, including a pipe or a terabyte of data. */
enum { TABLE_MAX = 4 << 20 };

/* Reads a table. Returns NULL when it is missing or unreadable, which counts as empty. The caller frees it. */
static char *table_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return NULL;
    struct stat st;
    char *text = NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        size_t capacity = st.st_size > 0 && st.st_size < TABLE_MAX ? (size_t)st.st_size + 4096 : TABLE_MAX;
        size_t length = 0;
        text = malloc(capacity + 1);
        while (text && length < capacity) {
            ssize_t n = read(fd, text + length, capacity - length);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) break;
            length += (size_t)n;
        }
        if (text) text[length] = 0;
    }
    close(fd);
    return text;
}

/* Splits the line at *cursor into `count` parts at its colons. Skips lines with fewer parts. */
static bool table_next(char **cursor, char **parts, int count)
{
    while (*cursor && **cursor) {
        char *line = *cursor, *end = strchr(line, '\n');
        *cursor = end ? end + 1 : NULL;
        if (end) *end = 0;
        int found = 0;
        while (line && found < count) {
            parts[found++] = line;
            line = strchr(line, ':');
            if (line) *line++ = 0;
        }
        if (found == count) return true;
    }
    return false;
}

static bool number_of(const char *text, uint32_t *out)
{
    uint64_t value = 0;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || (value = value * 10 + (uint64_t)(*text - '0')) >= UINT32_MAX) return false;
    }
    *out = (uint32_t)value;
    return true;
}

static void copy_text(char *out, size_t capacity, const char *text)
{
    size_t length = strlen(text);
    if (length >= capacity) length = capacity - 1;
    memcpy(out, text, length);
    out[length] = 0;
}

/* Looks up by name, or by uid when name is NULL. */
static bool passwd_find(const char *name, uid_t uid, struct user *out)
{
    char *table = table_read("/etc/passwd"), *cursor = table, *parts[7];
    bool found = false;
    while (!found && table_next(&cursor, parts, 7)) {
        uint32_t u, g;
        if (!number_of(parts[2], &u) || !number_of(parts[3], &g) || strlen(parts[0]) >= sizeof out->name) continue;
        if (name ? strcmp(parts[0], name) != 0 : u != uid) continue;
        found = true;
        out->uid = u;
        out->gid = g;
        copy_text(out->name, sizeof out->name, parts[0]);
        copy_text(out->home, sizeof out->home, *parts[5] ? parts[5] : "/");
        copy_text(out->shell, sizeof out->shell, *parts[6] ? parts[6] : "/bin/sh");
    }
    free(table);
    return found;
}

static bool group_find(const char *name, gid_t *out)
{
    char *table = table_read("/etc/group"), *cursor = table, *parts[3];
    bool found = false;
    while (!found && table_next(&cursor, parts, 3)) found = !strcmp(parts[0], name) && number_of(parts[2], out);
    free(table);
    return found || number_of(name, out);
}

static bool member_of(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        if (n == length && !memcmp(p, name, n)) return true;
        p += n;
        if (*p) p++;
    }
    return false;
}

static void groups_find(struct user *u)
{
    if (!u->name[0]) return;
    char *table = table_read("/etc/group"), *cursor = table, *parts[4];
    while (u->group_count < USER_GROUPS_MAX && table_next(&cursor, parts, 4)) {
        uint32_t gid;
        if (number_of(parts[2], &gid) && gid != u->gid && member_of(parts[3], u->name))
            u->groups[u->group_count++] = gid;
    }
    free(table);
}

static void user_blank(struct user *u)
{
    memset(u, 0, sizeof *u);
    copy_text(u->home, sizeof u->home, "/");
    copy_text(u->shell, sizeof u->shell, "/bin/sh");
}

bool user_by_uid(uid_t uid, struct user *out)
{
    user_blank(out);
    if (!passwd_find(NULL, uid, out)) return false;
    groups_find(out);
    return true;
}

bool user_is_in(const struct user *u, const char *group)
{
    gid_t gid;
    if (!group_find(group, &gid)) return false;
    bool found = u->gid == gid;
    for (int i = 0; i < u->group_count; i++) found = found || u->groups[i] == gid;
    return found;
}

bool group_has_users(const char *group)
{
    char *table = table_read("/etc/group"), *cursor = table, *parts[4];
    bool found = false, has = false;
    uint32_t gid = 0, own;
    while (!found && table_next(&cursor, parts, 4)) {
        found = !strcmp(parts[0], group) && number_of(parts[2], &gid);
        has = found && *parts[3];
    }
    free(table);
    if (!found || has) return has;
    char *users = table_read("/etc/passwd"), *fields[4];
    cursor = users;
    while (!has && table_next(&cursor, fields, 4)) has = number_of(fields[3], &own) && own == gid;
    free(users);
    return has;
}

bool user_find(const char *text, struct user *out)
{
    char name[64];
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    uint32_t number;
    user_blank(out);
    errno = 0;
    if (length == 0 || length >= sizeof name) { return false; }
    memcpy(name, text, length);
    name[length] = 0;
    if (!passwd_find(name, 0, out)) {
        errno = 0;
        if (!number_of(name, &number)) return false;
        if (!passwd_find(NULL, number, out)) {
            /* A number needs no entry. Its group defaults to the same number, never to root's group. */
            out->uid = number;
            out->gid = number;
        }
    }
    errno = 0;
    if (!colon) {
        groups_find(out);
        errno = 0;
        return true;
    }
    /* An explicit group replaces all others, as with `docker run --user`. */
    bool found = group_find(colon + 1, &out->gid);
    errno = 0;
    return found;
}

/* ---- names for listings -------------------------------------------------------------------------------- */

enum { CACHE_SLOTS = 64, CACHE_SECONDS = 2 };

struct cached {
    uint32_t id;
    bool known;
    time_t until;
    char name[64];
};
struct name_cache {
    pthread_mutex_t lock;
    struct cached slots[CACHE_SLOTS];
};

static struct name_cache user_names = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct name_cache group_names = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void name_load(const char *path, int parts_wanted, uint32_t id, char *out, size_t capacity)
{
    char *table = table_read(path), *cursor = table, *parts[7];
    uint32_t found;
    out[0] = 0;
    while (table_next(&cursor, parts, parts_wanted)) {
        if (number_of(parts[2], &found) && found == id) {
            copy_text(out, capacity, parts[0]);
            break;
        }
    }
    free(table);
}

/* Caches an entry for two seconds, so that a listing reads the file once and useradd takes effect soon. */
static void name_lookup(struct name_cache *cache, const char *path, uint32_t id, char *out, size_t capacity)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    struct cached *slot = &cache->slots[id % CACHE_SLOTS];
    int saved = errno;
    pthread_mutex_lock(&cache->lock);
    if (!slot->known || slot->id != id || now.tv_sec >= slot->until) {
        name_load(path, 3, id, slot->name, sizeof slot->name);
        slot->id = id;
        slot->known = true;
        slot->until = now.tv_sec + CACHE_SECONDS;
    }
    copy_text(out, capacity, slot->name);
    pthread_mutex_unlock(&cache->lock);
    errno = saved;
}

void user_name(uid_t uid, char *out, size_t capacity)
{
    name_lookup(&user_names, "/etc/passwd", uid, out, capacity);
}

void group_name(gid_t gid, char *out, size_t capacity)
{
    name_lookup(&group_names, "/etc/group", gid, out, capacity);
}

/* ---- assuming a user ----------------------------------------------------------------------------------- */

/*
 * The C library's wrappers change all threads; these system calls change one. A thread that gives up fsuid 0 also loses
 * the capabilities that override file permissions, and regains them with fsuid 0.
 */
static struct {
    gid_t *list;
    size_t count;
} own_groups;
static pthread_once_t own_groups_once = PTHREAD_ONCE_INIT;

static void own_groups_load(void)
{
    int count = getgroups(0, NULL);
    if (count <= 0) return;
    own_groups.list = calloc((size_t)count, sizeof *own_groups.list);
    if (own_groups.list && (count = getgroups(count, own_groups.list)) > 0) own_groups.count = (size_t)count;
}

/* gVisor has no fsuid. There, the effective ids of the thread serve instead; the order of the calls matters. */
static bool effective_set(uid_t uid, gid_t gid)
{
    if (uid != 0) return syscall(SYS_setresgid, -1, gid, -1) == 0 && syscall(SYS_setresuid, -1, uid, -1) == 0;
    return syscall(SYS_setresuid, -1, uid, -1) == 0 && syscall(SYS_setresgid, -1, gid, -1) == 0;
}

static bool identity_set(uid_t uid, gid_t gid)
{
    if (syscall(SYS_setfsuid, -1) == -1 && errno == ENOSYS) return effective_set(uid, gid);
    syscall(SYS_setfsgid, gid);
    syscall(SYS_setfsuid, uid);
    /* setfsuid and setfsgid return only the previous value; an invalid id queries the current one. */
    return (gid_t)syscall(SYS_setfsgid, -1) == gid && (uid_t)syscall(SYS_setfsuid, -1) == uid;
}

static _Thread_local bool assumed;
static _Thread_local gid_t own_group;

bool user_assume(const struct user *u)
{
    uid_t own = geteuid();
    own_group = getegid();
    if (own != 0 || (u->uid == own && u->gid == own_group)) return true;
    pthread_once(&own_groups_once, own_groups_load);
    if (syscall(SYS_setgroups, (size_t)u->group_count, u->groups) < 0) return false;
    assumed = true;
    if (identity_set(u->uid, u->gid)) return true;
    user_return();
    errno = EPERM;
    return false;
}

void user_return(void)
{
    if (!assumed) return;
    int saved = errno;
    assumed = false;
    /* A worker that cannot restore its rights would serve the next request with another user's rights. */
    if (!identity_set(0, own_group) || syscall(SYS_setgroups, own_groups.count, own_groups.list) < 0) abort();
    errno = saved;
}

/* ---- owner of created files ---------------------------------------------------------------------------- */

static _Thread_local struct {
    bool set;
    uid_t uid;
    gid_t gid;
} file_owner;

void user_set_file_owner(const struct user *u)
{
    file_owner.set = u && geteuid() == 0;
    if (file_owner.set) {
        file_owner.uid = u->uid;
        file_owner.gid = u->gid;
    }
}

bool user_chown_new(int folder, const char *name)
{
    if (!file_owner.set) return true;
    return *name ? fchownat(folder, name, file_owner.uid, file_owner.gid, AT_SYMLINK_NOFOLLOW) == 0
                 : fchown(folder, file_owner.uid, file_owner.gid) == 0;
}
