/*
 * The blocking operations. Each runs on a worker thread, answers on its stream and returns. They use streams, paths and
 * users, but not connections or executions.
 */
#ifndef ISOLA_OPERATIONS_H
#define ISOLA_OPERATIONS_H

#include "stream.h"

/* Set once at boot, read-only afterwards. */
struct file_view {
    int root_fd;       /* O_PATH of ROOT, or -1: the sandbox has its own root and paths are plain */
    const char *root;  /* ROOT as commands see it; NULL when not confined */
    const char *mount; /* the name of ROOT in requests, e.g. /workspace; NULL when not confined */
    const char *cwd;   /* base of relative paths when not confined */
    const char *start; /* base of relative paths beneath ROOT when confined; see path_start_at */
    const char *user;  /* default user; NULL for the agent's own */
};
extern struct file_view file_view;

void operate_stat(const struct request *r);
void operate_list(const struct request *r);
void operate_read(const struct request *r);
void operate_write(const struct request *r);
void operate_mkdir(const struct request *r);
void operate_move(const struct request *r);
void operate_remove(const struct request *r);
void operate_chmod(const struct request *r);
void operate_chown(const struct request *r);
void operate_glob(const struct request *r);
void operate_symlink(const struct request *r);
void operate_xattr(const struct request *r);
void operate_tar_out(const struct request *r);
void operate_tar_in(const struct request *r);
void operate_watch(const struct request *r);
void operate_usage(const struct request *r);

#endif
