#include "file_error.h"

#include <errno.h>
#include <string.h>

struct error_message {
    int number;
    enum error_code code;
    const char *words;
};

static const struct error_message meanings[] = {
    {ENOENT, E_NOT_FOUND, "no such file"},
    {EEXIST, E_EXISTS, "already exists"},
    {ENOTDIR, E_NOT_A_FOLDER, "not a folder"},
    {EISDIR, E_IS_A_FOLDER, "is a folder"},
    {ENOTEMPTY, E_NOT_EMPTY, "the folder is not empty"},
    {EACCES, E_DENIED, "permission denied"},
    {EPERM, E_DENIED, "the operation is not permitted"},
    {EXDEV, E_OUTSIDE, "the path leads out of the workspace"},
    {ENXIO, E_NOT_A_FILE, "not a regular file"},
    {ENODEV, E_NOT_A_FILE, "not a regular file"},
    {ENOSPC, E_NO_SPACE, "no space left on the device"},
    {EDQUOT, E_NO_SPACE, "the disk limit is exceeded"},
    {EOVERFLOW, E_LIMIT, "the tree is deeper than 256 folders"},
    {EFBIG, E_LIMIT, "the file would exceed the limit of the file system or of the sandbox"},
    {EMFILE, E_LIMIT, "the agent has too many files open"},
    {ENFILE, E_LIMIT, "the system has too many files open"},
    {ENOMEM, E_LIMIT, "the agent is out of memory"},
    {EMLINK, E_LIMIT, "the file has too many links"},
    {E2BIG, E_LIMIT, "the value is too large"},
    {ENOTSUP, E_UNSUPPORTED, "the file system does not support this operation"},
    {ENOSYS, E_UNSUPPORTED, "the kernel does not support this operation"},
    {ELOOP, E_TOO_MANY_LINKS, "too many symbolic links"},
    {EROFS, E_READ_ONLY, "the file system is read-only"},
    {EINVAL, E_INVALID, "the path is not valid for this operation"},
    {ENAMETOOLONG, E_INVALID, "the name is too long"},
    {EILSEQ, E_INVALID, "the file system does not accept this name"},
    {EBUSY, E_IO, "in use"},
    {ETXTBSY, E_IO, "the program is running"},
    {EIO, E_IO, "I/O error"},
    {EAGAIN, E_IO, "the path kept changing while it was resolved"},
};

static const struct error_message *message_of(int number)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (meanings[i].number == number) return &meanings[i];
    return NULL;
}

enum error_code error_code_of(int number)
{
    const struct error_message *m = message_of(number);
    return m ? m->code : E_IO;
}

void answer_error(struct stream *s, int number, const char *path)
{
    const struct error_message *m = message_of(number);
    if (m)
        stream_error(s, m->code, number, "%s: %s", m->words, path);
    else
        stream_error(s, E_IO, number, "error %d: %s", number, path);
}

void answer_cancelled(struct stream *s)
{
    stream_error(s, E_CANCELLED, 0, "cancelled");
}

void answer_no_memory(struct stream *s)
{
    stream_error(s, E_LIMIT, ENOMEM, "the agent is out of memory");
}
