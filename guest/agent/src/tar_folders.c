#include "tar_folders.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"

enum { FOLDERS_MAX = 100000, NAMES_MAX = 32 << 20 };

struct tar_folder {
    char *name;
    mode_t mode;
    struct timespec mtime;
};

static void folder_set(int top, const char *name, mode_t mode, const struct timespec *mtime)
{
    const struct timespec times[2] = {*mtime, *mtime};
    int folder = path_descend(top, name, 0);
    if (folder < 0) return;
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        futimens(fd, times);
        fchmod(fd, mode);
        close(fd);
    }
    close(folder);
}

static bool record(struct tar_folders *f, const char *name, mode_t mode, const struct timespec *mtime)
{
    size_t length = strlen(name) + 1;
    if (f->count == FOLDERS_MAX || f->bytes + length > NAMES_MAX) return false;
    if (f->count == f->capacity) {
        size_t capacity = f->capacity ? f->capacity * 2 : 64;
        struct tar_folder *bigger = realloc(f->list, capacity * sizeof *bigger);
        if (!bigger) return false;
        f->list = bigger;
        f->capacity = capacity;
    }
    char *copy = strdup(name);
    if (!copy) return false;
    f->list[f->count++] = (struct tar_folder){copy, mode, *mtime};
    f->bytes += length;
    return true;
}

void tar_folders_add(struct tar_folders *f, int top, const char *name, mode_t mode, const struct timespec *mtime)
{
    if (!record(f, name, mode, mtime)) folder_set(top, name, mode | 0700, mtime);
}

void tar_folders_apply(struct tar_folders *f, int top)
{
    for (size_t i = f->count; i-- > 0;) folder_set(top, f->list[i].name, f->list[i].mode, &f->list[i].mtime);
}

void tar_folders_free(struct tar_folders *f)
{
    for (size_t i = 0; i < f->count; i++) free(f->list[i].name);
    free(f->list);
    *f = (struct tar_folders){0};
}
