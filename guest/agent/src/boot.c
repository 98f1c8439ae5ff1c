#include "boot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_MAX = 1 << 20 };

static const char truncated[] = "the boot record is missing or truncated";

bool boot_is_invalid(const char *problem)
{
    return problem != truncated;
}

static bool read_fully(int fd, uint8_t *at, size_t length)
{
    while (length) {
        ssize_t n = read(fd, at, length);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

static char **texts_of(struct fields f, enum tag tag)
{
    size_t count = 0, position = 0, n = 0;
    struct field field;
    while (fields_next(f, &position, &field)) count += field.tag == tag;
    char **list = calloc(count + 1, sizeof *list);
    position = 0;
    while (list && fields_next(f, &position, &field))
        if (field.tag == tag && !memchr(field.value, 0, field.length))
            list[n++] = strndup((const char *)field.value, field.length);
    return list;
}

static bool has_name(char **list, const char *entry)
{
    size_t length = strcspn(entry, "=");
    for (; *list; list++)
        if (strncmp(*list, entry, length) == 0 && (*list)[length] == '=') return true;
    return false;
}

/* An engine adds these to the variables of an image. */
static bool is_of_engine(const char *entry)
{
    return strncmp(entry, "HOME=", 5) == 0 || strncmp(entry, "HOSTNAME=", 9) == 0
           || strncmp(entry, "KUBERNETES_", 11) == 0;
}

/* Adds the variables of this process that the list does not have. Keeps the list if out of memory. */
static char **inherit(char **list)
{
    size_t count = 0, own = 0;
    while (list && list[count]) count++;
    while (environ[own]) own++;
    char **all = list ? realloc(list, (count + own + 1) * sizeof *all) : NULL;
    if (!all) return list;
    for (char **entry = environ; *entry; entry++)
        if (!is_of_engine(*entry) && !has_name(all, *entry)) {
            all[count++] = *entry;
            all[count] = NULL;
        }
    return all;
}

/* Takes over `data`, which was allocated. */
static bool parse(uint8_t *data, size_t length, struct boot *out, const char **problem)
{
    struct fields f = {data, length};
    struct field secret;
    if (!fields_valid(f)) {
        *problem = "the boot record is damaged";
    } else if (!fields_find(f, T_SECRET, &secret) || secret.length != SECRET_SIZE) {
        *problem = "the boot record has no 32-byte secret";
    } else {
        *out = (struct boot){.fields = f};
        memcpy(out->secret, secret.value, SECRET_SIZE);
        out->sandbox = fields_text(f, T_SANDBOX);
        out->socket = fields_text(f, T_SOCKET);
        out->root = fields_text(f, T_ROOT);
        out->mount = fields_text(f, T_MOUNT);
        out->cwd = fields_text(f, T_CWD);
        out->user = fields_text(f, T_USER);
        out->lock = fields_text(f, T_LOCK);
        out->environment = texts_of(f, T_ENV);
        if (fields_u64(f, T_INHERIT, 0)) out->environment = inherit(out->environment);
        out->deadline_ms = fields_u64(f, T_TIMEOUT_MS, 0);
        out->has_linger = fields_has(f, T_LINGER_MS);
        out->linger_ms = fields_u64(f, T_LINGER_MS, 0);
        out->namespaces = fields_u64(f, T_NAMESPACES, 0);
        *problem = NULL;
        return true;
    }
    free(data);
    return false;
}

bool boot_parse(const uint8_t *fields, size_t length, struct boot *out, const char **problem)
{
    uint8_t *data = malloc(length ? length : 1);
    *problem = "the agent is out of memory";
    if (!data) return false;
    memcpy(data, fields, length);
    return parse(data, length, out, problem);
}

bool boot_read(int fd, struct boot *out, const char **problem)
{
    uint8_t header[4];
    *problem = truncated;
    if (!read_fully(fd, header, sizeof header)) return false;
    size_t length = get_u32(header);
    if (length > RECORD_MAX) {
        *problem = "the boot record is longer than 1 MiB";
        return false;
    }
    uint8_t *data = malloc(length ? length : 1);
    if (!data || !read_fully(fd, data, length)) {
        free(data);
        return false;
    }
    return parse(data, length, out, problem);
}
