#include "disk_budget.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "tree.h"

#define SECOND 1000000000ull
#define TICK 20000000ull
#define FULL (64u << 10) /* less free space than this counts as full */

/* View of everything persistent that the sandbox can write. */
static const char LAYER[] = "/.isola/layer";

/*
 * A root created by a container engine has no such view. There, the agent searches the root for files changed since the
 * sandbox was created: files of the image have not changed, and no process can set a ctime.
 */
static const char ROOT[] = "/";
static uint64_t changed_since; /* 0 where there is a layer */

static uint64_t limit;
static bool own;
static atomic_ullong used, reserved, refusals;
static atomic_bool measured;

void disk_set_limit(uint64_t bytes, uint64_t since_ns)
{
    struct stat s;
    struct timespec now;
    limit = bytes;
    if (stat(LAYER, &s) == 0 && S_ISDIR(s.st_mode)) return;
    clock_gettime(CLOCK_REALTIME, &now);
    /* File timestamps can be one clock tick behind. */
    changed_since = since_ns ? since_ns : (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec - TICK;
}

void disk_set_kernel_limited(void)
{
    own = true;
}

bool disk_is_kernel_limited(void)
{
    return own;
}

bool disk_is_full(void)
{
    struct statvfs s;
    return own && statvfs(LAYER, &s) == 0 && (s.f_favail == 0 || (uint64_t)s.f_bavail * s.f_frsize < FULL);
}

uint64_t disk_limit(void)
{
    return limit;
}

uint64_t disk_refusals(void)
{
    return atomic_load(&refusals);
}

void disk_refused(void)
{
    atomic_fetch_add(&refusals, 1);
}

static bool counts(const struct stat *s)
{
    return (uint64_t)s->st_ctim.tv_sec * SECOND + (uint64_t)s->st_ctim.tv_nsec >= changed_since;
}

static uint64_t bytes_written(void)
{
    struct tree t;
    struct stat whole;
    uint64_t bytes = 0;
    int top = open(changed_since ? ROOT : LAYER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (top < 0 || fstat(top, &whole) < 0 || !tree_start(&t, top, false)) return 0;
    for (enum tree_step step; (step = tree_next(&t)) != TREE_END;) {
        struct stat s;
        if (step != TREE_ENTRY || fstatat(t.folder, t.name, &s, AT_SYMLINK_NOFOLLOW) < 0) continue;
        bool folder = S_ISDIR(s.st_mode);
        if (folder && changed_since && s.st_dev != whole.st_dev) continue; /* a mount */
        if (counts(&s))
            bytes += (uint64_t)s.st_blocks * 512 / (S_ISREG(s.st_mode) && s.st_nlink > 1 ? (uint64_t)s.st_nlink : 1);
        if (folder) tree_enter(&t);
    }
    tree_stop(&t);
    return bytes;
}

static pthread_mutex_t measuring = PTHREAD_MUTEX_INITIALIZER;

/* Bytes reserved before the measurement are part of it by now. */
uint64_t disk_measure(void)
{
    struct statvfs s;
    if (own) return statvfs(LAYER, &s) == 0 ? (uint64_t)(s.f_blocks - s.f_bfree) * s.f_frsize : 0;
    pthread_mutex_lock(&measuring);
    uint64_t done = atomic_load(&reserved);
    uint64_t bytes = bytes_written();
    atomic_store(&used, bytes);
    atomic_fetch_sub(&reserved, done);
    atomic_store(&measured, true);
    pthread_mutex_unlock(&measuring);
    return bytes;
}

bool disk_reserve(uint64_t bytes)
{
    if (!limit) return true;
    if (!atomic_load(&measured)) disk_measure();
    uint64_t taken = atomic_fetch_add(&reserved, bytes) + bytes;
    if (atomic_load(&used) + taken <= limit) return true;
    if (disk_measure() + bytes <= limit) return true;
    disk_refused();
    errno = EDQUOT;
    return false;
}
