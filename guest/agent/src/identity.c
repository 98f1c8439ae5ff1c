#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/random.h>

enum { SEED_MAX = 256, FILES_SECONDS = 2 };

void identity_seed(const uint8_t *bytes, size_t length)
{
    struct {
        struct rand_pool_info info;
        uint8_t bytes[SEED_MAX];
    } pool;
    int fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (length > SEED_MAX) length = SEED_MAX;
    pool.info.entropy_count = (int)length * 8;
    pool.info.buf_size = (int)length;
    memcpy(pool.bytes, bytes, length);
    if (ioctl(fd, RNDADDENTROPY, &pool) != 0 || ioctl(fd, RNDRESEEDCRNG) != 0) {
        ssize_t ignored = write(fd, bytes, length); /* not permitted in a container */
        (void)ignored;
    }
    close(fd);
}

bool identity_apply(struct fields record)
{
    struct field seed;
    uint64_t time = fields_u64(record, T_TIME_NS, 0);
    struct timespec now = {(time_t)(time / 1000000000u), (long)(time % 1000000000u)};
    if (time && clock_settime(CLOCK_REALTIME, &now) != 0) return false;
    if (fields_find(record, T_NONCE, &seed)) identity_seed(seed.value, seed.length);
    char *name = fields_text(record, T_HOST_NAME);
    bool ok = !name || sethostname(name, strlen(name)) == 0;
    free(name);
    return ok;
}

static bool replace_file(int folder, const char *name, const char *content)
{
    size_t length = strlen(content);
    if (unlinkat(folder, name, 0) != 0 && errno != ENOENT) return false;
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) return false;
    ssize_t written = write(fd, content, length);
    bool ok = fchmod(fd, 0644) == 0 && written == (ssize_t)length;
    if (written >= 0 && written < (ssize_t)length) errno = ENOSPC;
    int error = errno;
    close(fd);
    errno = error;
    return ok;
}

static bool write_names(int folder, const char *name)
{
    char text[512];
    snprintf(text, sizeof text, "%s\n", name);
    if (!replace_file(folder, "hostname", text)) return false;
    snprintf(text, sizeof text, "127.0.0.1 localhost %s\n::1 localhost\n", name);
    return replace_file(folder, "hosts", text);
}

/* Never freed when it takes too long, since the thread still uses it. */
struct writing {
    char *name, *resolver;
    int error;
};

static void *write_files(void *argument)
{
    struct writing *w = argument;
    mkdir("/etc", 0755);
    int folder = open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = folder >= 0 && (!w->name || write_names(folder, w->name))
              && (!w->resolver || replace_file(folder, "resolv.conf", w->resolver));
    w->error = ok ? 0 : errno;
    if (folder >= 0) close(folder);
    return NULL;
}

bool identity_write_files(struct fields record)
{
    pthread_t thread;
    struct timespec until;
    struct writing *w = malloc(sizeof *w);
    if (!w) return false;
    *w = (struct writing){fields_text(record, T_HOST_NAME), fields_text(record, T_RESOLV_CONF), 0};
    errno = pthread_create(&thread, NULL, write_files, w);
    if (errno) return false;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FILES_SECONDS;
    errno = pthread_timedjoin_np(thread, NULL, &until);
    if (errno) {
        pthread_detach(thread);
        return false;
    }
    errno = w->error;
    free(w->name);
    free(w->resolver);
    free(w);
    return errno == 0;
}
