/* A folder for one test binary, created in /tmp and removed at the end, and small helpers to fill it. */
#ifndef ISOLA_SANDBOX_FOLDER_H
#define ISOLA_SANDBOX_FOLDER_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64]; /* the outer folder; folder/root is the confined root */

static inline void shell(const char *format, ...)
{
    char command[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    if (system(command) != 0) {
        fprintf(stderr, "command failed: %s\n", command);
        exit(2);
    }
}

static inline bool shell_ok(const char *format, ...)
{
    char command[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return system(command) == 0;
}

static inline const char *at(const char *format, ...)
{
    static char paths[8][8192];
    static int next;
    char *out = paths[next++ % 8];
    int n = snprintf(out, sizeof paths[0], "%s/root/", folder);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out + n, sizeof paths[0] - (size_t)n, format, arguments);
    va_end(arguments);
    return out;
}

static inline void put_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
        fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
        exit(2);
    }
    close(fd);
}

static inline const char *get_text(const char *path)
{
    static char text[65536];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n < 0 ? 0 : n] = 0;
    return text;
}

static inline bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static inline void sandbox_make(void)
{
    strcpy(folder, "/tmp/isola-test-XXXXXX");
    if (!mkdtemp(folder)) exit(2);
    chmod(folder, 0755);
    shell("mkdir %s/root", folder);
    file_view.root_fd = -1;
    file_view.cwd = strdup(at("."));
}

/* Confines to folder/root, called /workspace. */
static inline void confine(void)
{
    file_view.root_fd = open(at("."), O_PATH | O_DIRECTORY | O_CLOEXEC);
    file_view.root = strdup(at(""));
    file_view.mount = "/workspace";
}

static inline void unconfine(void)
{
    close(file_view.root_fd);
    free((char *)file_view.root);
    file_view.root_fd = -1;
    file_view.root = file_view.mount = NULL;
}

static inline void sandbox_remove(void)
{
    shell("chmod -R u+rwX %s 2>/dev/null; rm -rf %s", folder, folder);
    free((char *)file_view.cwd);
}

#endif
