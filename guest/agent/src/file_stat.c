#include "file_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "file_error.h"
#include "file_request.h"
#include "link_text.h"
#include "operations.h"
#include "path.h"
#include "user.h"

static uint64_t type_of(mode_t mode)
{
    return S_ISREG(mode) ? TYPE_FILE : S_ISDIR(mode) ? TYPE_FOLDER : S_ISLNK(mode) ? TYPE_LINK : TYPE_OTHER;
}

void build_stat(struct builder *b, const char *path, const struct stat *st, const char *target)
{
    char name[64];
    build_text(b, T_PATH, path);
    build_u64(b, T_TYPE, type_of(st->st_mode));
    build_u64(b, T_MODE, st->st_mode & 07777);
    build_u64(b, T_SIZE, (uint64_t)st->st_size);
    build_u64(b, T_UID, st->st_uid);
    build_u64(b, T_GID, st->st_gid);
    user_name(st->st_uid, name, sizeof name);
    if (name[0]) build_text(b, T_OWNER, name);
    group_name(st->st_gid, name, sizeof name);
    if (name[0]) build_text(b, T_GROUP, name);
    build_u64(b, T_MTIME_NS, (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec);
    build_u64(b, T_INODE, st->st_ino);
    build_u64(b, T_LINKS, st->st_nlink);
    if (target) build_text(b, T_TARGET, target);
}

static void stat_path(struct stream *s, struct fields f, const char *path)
{
    bool follow = fields_u64(f, T_FOLLOW, 0);
    int fd = path_open(path, follow ? O_PATH : O_PATH | O_NOFOLLOW);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0) {
        answer_error(s, errno, path);
    } else {
        char target[PATH_MAX], real[PATH_MAX];
        bool link = S_ISLNK(st.st_mode) && link_text(fd, "", target, sizeof target);
        struct builder b = {0};
        if (follow) path_of(fd, path, real, sizeof real);
        build_stat(&b, follow ? real : path, &st, link ? target : NULL);
        stream_end(s, &b);
        builder_free(&b);
    }
    if (fd >= 0) close(fd);
}

void operate_stat(const struct request *r)
{
    file_operation(r, stat_path);
}
