#include "file_request.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "file_error.h"
#include "operations.h"
#include "user.h"

/* Assumes the file access rights of `name`. Returns false when that fails; the stream has ended then. */
static bool user_rights_assume(struct stream *s, const char *name)
{
    struct user u;
    if (!user_find(name, &u)) {
        stream_error(s, E_NO_SUCH_USER, 0, "no such user: %s", name);
        return false;
    }
    if (geteuid() != 0 && (u.uid != geteuid() || u.gid != getegid())) {
        stream_error(s, E_DENIED, EPERM, "the agent is not root and cannot act as another user: %s", name);
        return false;
    }
    if (!user_assume(&u)) {
        stream_error(s, E_DENIED, errno, "the kernel does not allow the agent to act as another user: %s", name);
        return false;
    }
    return true;
}

/*
 * Sets the owner of created files from FILE_OWNER, if present. Returns false when that fails; the stream has ended
 * then.
 */
static bool file_owner_set(const struct request *r)
{
    char *name = fields_text(r->fields, T_FILE_OWNER);
    struct user u;
    bool good = false;
    if (name && !user_find(name, &u)) {
        stream_error(r->stream, E_NO_SUCH_USER, 0, "no such user: %s", name);
    } else if (name && geteuid() != 0 && u.uid != geteuid()) {
        stream_error(r->stream, E_DENIED, EPERM, "the agent is not root and cannot change the owner of files: %s",
                     name);
    } else {
        user_set_file_owner(name ? &u : NULL);
        good = true;
    }
    free(name);
    return good;
}

static void operation_as(const struct request *r, file_work *work, const char *otherwise)
{
    char *path = fields_text(r->fields, T_PATH);
    char *named = fields_text(r->fields, T_USER);
    /* A request with FILE_OWNER is privileged: it does not run as the sandbox's default user unless it names a USER. */
    const char *user = named || fields_has(r->fields, T_FILE_OWNER) ? named : otherwise;
    if (!path) {
        stream_error(r->stream, E_INVALID, 0, "PATH is missing or contains a NUL byte");
    } else if (!named && fields_has(r->fields, T_USER)) {
        stream_error(r->stream, E_INVALID, 0, "USER contains a NUL byte");
    } else if (!file_owner_set(r)) {
        /* the stream has ended */
    } else if (!user) {
        work(r->stream, r->fields, path);
    } else if (user_rights_assume(r->stream, user)) {
        work(r->stream, r->fields, path);
        user_return();
    }
    user_set_file_owner(NULL);
    free(named);
    free(path);
}

void file_operation(const struct request *r, file_work *work)
{
    operation_as(r, work, file_view.user);
}

void file_operation_privileged(const struct request *r, file_work *work)
{
    operation_as(r, work, NULL);
}

bool mode_field(struct stream *s, struct fields f, mode_t otherwise, mode_t *out)
{
    uint64_t mode = fields_u64(f, T_MODE, otherwise);
    if (mode > 07777) {
        stream_error(s, E_INVALID, 0, "MODE has bits other than permission bits: 0%llo", (unsigned long long)mode);
        return false;
    }
    if ((mode & 06000) && file_view.root_fd >= 0) {
        stream_error(s, E_DENIED, 0, "setuid and setgid bits are not allowed in this workspace: 0%llo",
                     (unsigned long long)mode);
        return false;
    }
    *out = (mode_t)mode;
    return true;
}
