#include "tar_writer.h"

#include <errno.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

/*
 * A shorter hole is sent as zeros. A file with more ranges than RANGES_MAX is sent as a whole from the last one on: the
 * server's limits apply to the size with holes in any case.
 */
enum { HOLE_MIN = 128 << 10, RANGES_MAX = 8192, RANGE_TEXT_MAX = 42 };

bool tar_writer_start(struct tar_writer *w, struct stream *s)
{
    *w = (struct tar_writer){.s = s, .buffer = malloc(FRAME_MAX)};
    return w->buffer != NULL;
}

bool tar_writer_active(const struct tar_writer *w)
{
    return !w->over && !w->number;
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static void flush(struct tar_writer *w)
{
    for (size_t sent = 0; sent < w->used && !w->over;) {
        size_t n = stream_await_credit(w->s, 1, w->used - sent);
        if (n == 0 || !stream_send(w->s, DATA, w->buffer + sent, n)) w->over = true;
        sent += n;
    }
    w->size += w->used;
    w->used = 0;
}

static void defer(struct tar_writer *w, const void *data, size_t length)
{
    if (w->deferred_length + length > w->deferred_capacity) {
        size_t capacity = 2 * (w->deferred_length + length);
        uint8_t *bigger = realloc(w->deferred, capacity);
        if (!bigger) {
            w->number = ENOMEM;
            return;
        }
        w->deferred = bigger;
        w->deferred_capacity = capacity;
    }
    memcpy(w->deferred + w->deferred_length, data, length);
    w->deferred_length += length;
}

void tar_defer(struct tar_writer *w, bool keep)
{
    w->deferring = keep;
}

void tar_discard_deferred(struct tar_writer *w, size_t length)
{
    if (w->deferred_length > length) {
        w->deferred_length = length;
        w->deferred_count--;
    }
}

static void put(struct tar_writer *w, const void *data, size_t length)
{
    const uint8_t *p = data;
    if (w->deferring) {
        defer(w, data, length);
        return;
    }
    if (w->deferred_length) {
        size_t kept = w->deferred_length;
        w->deferred_length = 0;
        w->count += w->deferred_count;
        w->deferred_count = 0;
        put(w, w->deferred, kept);
    }
    while (length > 0 && !w->over) {
        if (w->used == FRAME_MAX) flush(w);
        size_t n = FRAME_MAX - w->used < length ? FRAME_MAX - w->used : length;
        memcpy(w->buffer + w->used, p, n);
        w->used += n;
        p += n;
        length -= n;
    }
}

static void put_zeros(struct tar_writer *w, uint64_t length)
{
    static const uint8_t zeros[TAR_BLOCK];
    for (; length > 0 && !w->over; length -= length < TAR_BLOCK ? length : TAR_BLOCK)
        put(w, zeros, length < TAR_BLOCK ? (size_t)length : TAR_BLOCK);
}

/* Reads from the position of fd; what is missing is zeros. */
static void put_range(struct tar_writer *w, int fd, uint64_t size)
{
    uint64_t left = size;
    while (left > 0 && tar_writer_active(w)) {
        if (w->used == FRAME_MAX) flush(w);
        size_t room = FRAME_MAX - w->used;
        ssize_t n = read(fd, w->buffer + w->used, room < left ? room : (size_t)left);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) w->number = errno;
        if (n <= 0) break;
        w->used += (size_t)n;
        left -= (uint64_t)n;
    }
    if (tar_writer_active(w)) put_zeros(w, left);
}

void tar_put_content(struct tar_writer *w, int fd, uint64_t size)
{
    put_range(w, fd, size);
    if (tar_writer_active(w)) put_zeros(w, tar_padding(size));
}

/* ---- headers ------------------------------------------------------------------------------------------- */

/* Adds one pax record: its length in decimal, which includes itself, then key and value. */
static void pax_add(struct tar_writer *w, const char *key, const void *value, size_t length)
{
    size_t body = strlen(key) + length + 3; /* blank, '=', newline */
    size_t total = body + 1;
    char digits[24];
    while (body + (size_t)snprintf(digits, sizeof digits, "%zu", total) != total) total = body + strlen(digits);
    if (!w->pax) w->pax = malloc(TAR_PAX_MAX);
    if (!w->pax || w->pax_length + total > TAR_PAX_MAX) {
        if (!w->number) w->number = w->pax ? E2BIG : ENOMEM;
        return;
    }
    char *p = w->pax + w->pax_length;
    p += sprintf(p, "%s %s=", digits, key);
    memcpy(p, value, length);
    p[length] = '\n';
    w->pax_length += total;
}

static void pax_number(struct tar_writer *w, const char *key, uint64_t value)
{
    char text[24];
    pax_add(w, key, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)value));
}

static void pax_time(struct tar_writer *w, const struct timespec *t)
{
    char text[48];
    long long seconds = t->tv_sec;
    long nanos = t->tv_nsec;
    bool negative = seconds < 0;
    if (negative && nanos) { /* -1 s + 0.5 s is written as -0.5 */
        seconds++;
        nanos = 1000000000 - nanos;
    }
    pax_add(w, "mtime", text,
            (size_t)snprintf(text, sizeof text, "%s%lld.%09ld", negative ? "-" : "", negative ? -seconds : seconds,
                             nanos));
}

/* Fills the field with octal digits and a NUL. Returns false when the value does not fit. */
static bool octal(char *field, size_t width, uint64_t value)
{
    field[width - 1] = 0;
    for (size_t i = width - 1; i-- > 0; value >>= 3) field[i] = (char)('0' + (value & 7));
    return value == 0;
}

uint32_t tar_sum(const struct tar_header *h)
{
    const uint8_t *p = (const uint8_t *)h;
    uint32_t sum = 8 * ' ';
    for (size_t i = 0; i < TAR_BLOCK; i++)
        if (i < offsetof(struct tar_header, checksum) || i >= offsetof(struct tar_header, type)) sum += p[i];
    return sum;
}

static void put_header(struct tar_writer *w, struct tar_header *h)
{
    memcpy(h->magic, "ustar", 6);
    memcpy(h->version, "00", 2);
    octal(h->checksum, 7, tar_sum(h));
    h->checksum[7] = ' ';
    put(w, h, sizeof *h);
}

/* Stores the name whole, or split at a slash into prefix and name, or else in a pax record. */
static void set_name(struct tar_writer *w, struct tar_header *h, const char *name)
{
    size_t length = strlen(name);
    if (length <= sizeof h->name) {
        memcpy(h->name, name, length);
        return;
    }
    for (size_t i = length - sizeof h->name - 1; i < length - 1 && i <= sizeof h->prefix; i++) {
        if (i > 0 && name[i] == '/') {
            memcpy(h->prefix, name, i);
            memcpy(h->name, name + i + 1, length - i - 1);
            return;
        }
    }
    memcpy(h->name, name, sizeof h->name);
    pax_add(w, "path", name, length);
}

/* Equal marks mean the same file with no change at all. */
static void pax_mark(struct tar_writer *w, const struct stat *st)
{
    char text[96];
    pax_add(w, "ISOLA.mark", text,
            (size_t)snprintf(text, sizeof text, "%llx.%llx.%llx.%lx", (unsigned long long)st->st_dev,
                             (unsigned long long)st->st_ino, (unsigned long long)st->st_ctim.tv_sec,
                             (unsigned long)st->st_ctim.tv_nsec));
}

static void pax_xattrs(struct tar_writer *w, int fd)
{
    char names[4096], key[XATTR_NAME_MAX + sizeof TAR_XATTR + 1];
    ssize_t length = flistxattr(fd, names, sizeof names);
    if (length <= 0) {
        if (length < 0 && errno == ERANGE) w->number = E2BIG;
        return;
    }
    char *value = malloc(XATTR_SIZE_MAX);
    for (ssize_t i = 0; value && i < length; i += (ssize_t)strlen(names + i) + 1) {
        if (strncmp(names + i, "user.", 5) != 0) continue;
        ssize_t n = fgetxattr(fd, names + i, value, XATTR_SIZE_MAX);
        if (n >= 0 && snprintf(key, sizeof key, TAR_XATTR "%s", names + i) < (int)sizeof key)
            pax_add(w, key, value, (size_t)n);
    }
    free(value);
}

static uint64_t ranges_length(const struct tar_writer *w)
{
    uint64_t length = 0;
    for (size_t i = 0; i < w->range_count; i++) length += w->ranges[i].length;
    return length;
}

static void pax_ranges(struct tar_writer *w, uint64_t size)
{
    char *text = malloc((w->range_count + 1) * RANGE_TEXT_MAX);
    if (!text) {
        w->number = ENOMEM;
        return;
    }
    char *p = text + sprintf(text, "%llu", (unsigned long long)size);
    for (size_t i = 0; i < w->range_count; i++)
        p += sprintf(p, " %llu %llu", (unsigned long long)w->ranges[i].offset, (unsigned long long)w->ranges[i].length);
    pax_add(w, TAR_RANGES, text, (size_t)(p - text));
    free(text);
}

/* Prepends the prefix; `./` is the prefix itself. Returns NULL when out of memory. The caller frees it. */
static char *prefixed(const char *prefix, const char *name)
{
    const char *rest = strcmp(name, "./") == 0 ? "" : name;
    size_t before = strlen(prefix), length = strlen(rest);
    char *all = malloc(before + length + 2);
    if (all) {
        memcpy(all, prefix, before);
        all[before] = '/';
        memcpy(all + before + 1, rest, length + 1);
    }
    return all;
}

static void put_entry(struct tar_writer *w, const char *name, char type, const struct stat *st, const char *target,
                      int fd)
{
    struct tar_header h = {.type = type};
    bool file = type == TAR_FILE || type == TAR_SPARSE;
    uint64_t size = type == TAR_SPARSE                  ? ranges_length(w)
                    : type == TAR_FILE && !w->unchanged ? (uint64_t)st->st_size
                                                        : 0;
    w->pax_length = 0;
    set_name(w, &h, name);
    if (target) {
        size_t length = strlen(target);
        memcpy(h.linkname, target, length < sizeof h.linkname ? length : sizeof h.linkname);
        if (length > sizeof h.linkname) pax_add(w, "linkpath", target, length);
    }
    octal(h.mode, sizeof h.mode, st->st_mode & 07777);
    if (!octal(h.uid, sizeof h.uid, st->st_uid)) pax_number(w, "uid", st->st_uid);
    if (!octal(h.gid, sizeof h.gid, st->st_gid)) pax_number(w, "gid", st->st_gid);
    if (!octal(h.size, sizeof h.size, size)) pax_number(w, "size", size);
    bool late = !octal(h.mtime, sizeof h.mtime, st->st_mtim.tv_sec < 0 ? 0 : (uint64_t)st->st_mtim.tv_sec);
    if (late || st->st_mtim.tv_sec < 0 || (w->exact_times && st->st_mtim.tv_nsec && !w->unchanged))
        pax_time(w, &st->st_mtim);
    if (file && w->marks) pax_mark(w, st);
    if (type == TAR_SPARSE) pax_ranges(w, (uint64_t)st->st_size);
    if (type == TAR_FILE && w->unchanged) pax_number(w, "ISOLA.unchanged", (uint64_t)st->st_size);
    if (fd >= 0) pax_xattrs(w, fd);
    if (w->number) return;
    if (w->pax_length) {
        struct tar_header x = {.name = "././@PaxHeader", .type = TAR_PAX};
        octal(x.mode, sizeof x.mode, 0644);
        octal(x.uid, sizeof x.uid, 0);
        octal(x.gid, sizeof x.gid, 0);
        octal(x.mtime, sizeof x.mtime, 0);
        octal(x.size, sizeof x.size, w->pax_length);
        put_header(w, &x);
        put(w, w->pax, w->pax_length);
        put_zeros(w, tar_padding(w->pax_length));
    }
    put_header(w, &h);
    if (w->deferring)
        w->deferred_count++;
    else
        w->count++;
}

void tar_put_entry(struct tar_writer *w, const char *name, char type, const struct stat *st, const char *target, int fd)
{
    if (!w->prefix) {
        put_entry(w, name, type, st, target, fd);
        return;
    }
    char *full = prefixed(w->prefix, name);
    char *other = target && type == TAR_HARD_LINK ? prefixed(w->prefix, target) : NULL;
    if (!full || (target && type == TAR_HARD_LINK && !other))
        w->number = ENOMEM;
    else
        put_entry(w, full, type, st, other ? other : target, fd);
    free(full);
    free(other);
}

/* ---- sparse files -------------------------------------------------------------------------------------- */

/* Finds the ranges that hold data. Returns false if the file system does not tell, or the stream is over. */
static bool ranges_find(struct tar_writer *w, int fd, uint64_t size)
{
    uint64_t at = 0, steps = 0;
    w->range_count = 0;
    while (at < size) {
        off_t begin = lseek(fd, (off_t)at, SEEK_DATA);
        if (begin < 0) return errno == ENXIO; /* a hole up to the end */
        if ((uint64_t)begin >= size) return true;
        off_t end = lseek(fd, begin, SEEK_HOLE);
        if (end < 0 || (++steps % 1024 == 0 && stream_over(w->s))) return false;
        if (end <= begin || (uint64_t)end > size) end = (off_t)size;
        struct tar_range *last = w->range_count ? &w->ranges[w->range_count - 1] : NULL;
        if (last && (uint64_t)begin - (last->offset + last->length) < HOLE_MIN) {
            last->length = (uint64_t)end - last->offset;
        } else if (w->range_count == RANGES_MAX) {
            last->length = size - last->offset;
            return true;
        } else {
            w->ranges[w->range_count++] = (struct tar_range){(uint64_t)begin, (uint64_t)(end - begin)};
        }
        at = (uint64_t)end;
    }
    return true;
}

bool tar_put_sparse(struct tar_writer *w, const char *name, const struct stat *st, int fd)
{
    uint64_t size = (uint64_t)st->st_size;
    if (size < HOLE_MIN || (uint64_t)st->st_blocks * 512 + HOLE_MIN > size) return false;
    if (!w->ranges) w->ranges = malloc(RANGES_MAX * sizeof *w->ranges);
    if (!w->ranges || !ranges_find(w, fd, size) || ranges_length(w) + HOLE_MIN > size) {
        if (lseek(fd, 0, SEEK_SET) < 0) w->number = errno;
        return false;
    }
    tar_put_entry(w, name, TAR_SPARSE, st, NULL, fd);
    for (size_t i = 0; i < w->range_count && tar_writer_active(w); i++) {
        if (lseek(fd, (off_t)w->ranges[i].offset, SEEK_SET) < 0)
            w->number = errno;
        else
            put_range(w, fd, w->ranges[i].length);
    }
    if (tar_writer_active(w)) put_zeros(w, tar_padding(ranges_length(w)));
    return true;
}

void tar_finish(struct tar_writer *w)
{
    put_zeros(w, 2 * TAR_BLOCK);
    flush(w);
}

void tar_writer_stop(struct tar_writer *w)
{
    free(w->ranges);
    free(w->deferred);
    free(w->pax);
    free(w->buffer);
}
