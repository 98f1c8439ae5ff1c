#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <linux/limits.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "file_error.h"
#include "file_request.h"
#include "operations.h"
#include "path.h"

enum { XATTR_LIST = 0, XATTR_GET = 1, XATTR_SET = 2, XATTR_REMOVE = 3 };

static bool name_allowed(const char *name)
{
    /*
     * Where the files belong to the host, only the user namespace is allowed; other names have a meaning for the host.
     */
    return file_view.root_fd < 0 || !strncmp(name, "user.", 5);
}

static int xattr_list(int fd, struct builder *b, char *buffer)
{
    ssize_t length = flistxattr(fd, buffer, XATTR_LIST_MAX);
    if (length < 0) return errno;
    for (ssize_t i = 0; i < length; i += (ssize_t)strlen(buffer + i) + 1)
        if (name_allowed(buffer + i)) build_text(b, T_NAME, buffer + i);
    return b->overflow ? E2BIG : 0;
}

static int xattr_act(struct fields f, int fd, uint64_t action, const char *name, struct builder *b, char *buffer)
{
    struct field value = {0};
    ssize_t length;
    switch (action) {
    case XATTR_LIST:
        return xattr_list(fd, b, buffer);
    case XATTR_GET:
        if ((length = fgetxattr(fd, name, buffer, XATTR_SIZE_MAX)) < 0) return errno;
        build_bytes(b, T_VALUE, buffer, (size_t)length);
        return 0;
    case XATTR_SET:
        fields_find(f, T_VALUE, &value);
        return fsetxattr(fd, name, value.value, value.length, 0) < 0 ? errno : 0;
    default:
        return fremovexattr(fd, name) < 0 ? errno : 0;
    }
}

static void xattr_opened(struct stream *s, struct fields f, const char *path, int fd)
{
    uint64_t action = fields_u64(f, T_ACTION, XATTR_LIST);
    char *name = fields_text(f, T_NAME), *buffer = malloc(XATTR_SIZE_MAX);
    struct builder b = {0};
    int number = 0;
    if (!buffer)
        answer_no_memory(s);
    else if (action > XATTR_REMOVE)
        stream_error(s, E_INVALID, 0, "ACTION must be 0 to 3");
    else if (action != XATTR_LIST && !name)
        stream_error(s, E_INVALID, 0, "NAME is missing or contains a NUL byte");
    else if (action != XATTR_LIST && !name_allowed(name))
        stream_error(s, E_DENIED, 0, "only attributes in the user namespace (user.*) are allowed in this workspace: %s",
                     name);
    else if ((number = xattr_act(f, fd, action, name, &b, buffer)) == ENODATA)
        stream_error(s, E_NOT_FOUND, number, "no attribute %s: %s", name, path);
    else if (number)
        answer_error(s, number, path);
    else
        stream_end(s, &b);
    builder_free(&b);
    free(buffer);
    free(name);
}

static void xattr_path(struct stream *s, struct fields f, const char *path)
{
    struct stat st;
    int fd = path_open(path, O_PATH);
    bool fits = fd >= 0 && fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
    if (fd < 0) {
        answer_error(s, errno, path);
        return;
    }
    close(fd);
    fd = -1;
    if (!fits)
        stream_error(s, E_NOT_A_FILE, 0, "only files and folders have extended attributes: %s", path);
    else if ((fd = path_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)) < 0)
        answer_error(s, errno, path);
    else
        xattr_opened(s, f, path, fd);
    if (fd >= 0) close(fd);
}

void operate_xattr(const struct request *r)
{
    file_operation(r, xattr_path);
}
