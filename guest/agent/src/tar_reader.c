#include "tar_reader.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of consecutive headers that describe an entry without an entry following. */
enum { OVERRIDES_IN_A_ROW_MAX = 16 };

/* ---- bytes --------------------------------------------------------------------------------------------- */

static bool fill(struct tar_reader *r)
{
    if (r->ended || r->over) return false;
    ssize_t n = stream_receive(r->s, &r->data);
    r->position = 0;
    r->length = n > 0 ? (size_t)n : 0;
    r->ended = n == 0;
    r->over = n < 0;
    return n > 0;
}

size_t tar_reader_content(struct tar_reader *r, const uint8_t **data, uint64_t most)
{
    if (r->position == r->length && !fill(r)) {
        if (!r->over) r->problem = "the archive is truncated in the middle of an entry";
        return 0;
    }
    size_t n = r->length - r->position;
    if (n > most) n = (size_t)most;
    *data = r->data + r->position;
    r->position += n;
    return n;
}

bool tar_reader_skip(struct tar_reader *r, uint64_t length)
{
    const uint8_t *data;
    while (length > 0) {
        size_t n = tar_reader_content(r, &data, length);
        if (n == 0) return false;
        length -= n;
    }
    return true;
}

static bool take(struct tar_reader *r, void *out, size_t length)
{
    uint8_t *p = out;
    const uint8_t *data;
    while (length > 0) {
        size_t n = tar_reader_content(r, &data, length);
        if (n == 0) return false;
        memcpy(p, data, n);
        p += n;
        length -= n;
    }
    return true;
}

void tar_reader_drain(struct tar_reader *r)
{
    while (fill(r)) continue;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* Parses octal text, or base 256 when the first bit is set. Returns false when it is neither or too large. */
static bool number(const char *field, size_t width, uint64_t *out)
{
    const uint8_t *p = (const uint8_t *)field;
    uint64_t value = 0;
    size_t i = 0;
    if (p[0] & 0x80) {
        if (p[0] != 0x80) return false; /* negative or too large */
        for (i = 1; i < width; i++) {
            if (value >> 55) return false;
            value = value << 8 | p[i];
        }
        *out = value;
        return true;
    }
    while (i < width && p[i] == ' ') i++;
    for (; i < width && p[i] >= '0' && p[i] <= '7'; i++) value = value << 3 | (uint64_t)(p[i] - '0');
    for (; i < width; i++)
        if (p[i] != ' ' && p[i] != 0) return false;
    *out = value;
    return true;
}

static bool decimal(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value > INT64_MAX / 10 - 1) return false;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    *out = value;
    return true;
}

static bool time_text(const char *text, struct timespec *out)
{
    char whole[24];
    bool negative = *text == '-';
    text += negative;
    size_t length = strcspn(text, ".");
    uint64_t seconds;
    if (length >= sizeof whole) return false;
    memcpy(whole, text, length);
    whole[length] = 0;
    if (!decimal(whole, &seconds) || seconds > (uint64_t)1 << 40) return false;
    long nanos = 0, scale = 100000000;
    for (const char *p = text + length + (text[length] == '.'); *p; p++, scale /= 10) {
        if (*p < '0' || *p > '9') return false;
        nanos += (*p - '0') * scale;
    }
    out->tv_sec = negative ? -(time_t)seconds - (nanos > 0) : (time_t)seconds;
    out->tv_nsec = negative && nanos ? 1000000000 - nanos : nanos;
    return true;
}

/* ---- pax headers and GNU long names -------------------------------------------------------------------- */

static void overrides_clear(struct tar_overrides *n)
{
    free(n->body);
    free(n->name);
    free(n->target);
    memset(n, 0, sizeof *n);
}

/* Applies one record. `value` is NUL-terminated; only the value of an attribute may contain NUL itself. */
static const char *override_apply(struct tar_overrides *n, const char *key, char *value, size_t length)
{
    bool text = strlen(value) == length;
    if (!strncmp(key, TAR_XATTR "user.", sizeof TAR_XATTR + 4)) {
        if (n->attribute_count == TAR_ATTRIBUTES_MAX) return "an entry has more than 64 attributes";
        n->attributes[n->attribute_count++] =
            (struct tar_attribute){key + sizeof TAR_XATTR - 1, (uint8_t *)value, length};
        return NULL;
    }
    if (!strncmp(key, "GNU.sparse.", 11)) return "sparse files are not supported";
    char **copy = !strcmp(key, "path") ? &n->name : !strcmp(key, "linkpath") ? &n->target : NULL;
    if (copy) {
        if (!text) return "a name contains a NUL byte";
        free(*copy);
        *copy = strdup(value);
        return *copy ? NULL : "the agent is out of memory";
    }
    if (!strcmp(key, TAR_RANGES)) {
        n->ranges = value;
        return text ? NULL : "the ranges of a sparse file are malformed";
    }
    bool ok = true;
    if (!strcmp(key, "size"))
        ok = n->has_size = text && decimal(value, &n->size);
    else if (!strcmp(key, "uid"))
        ok = n->has_uid = text && decimal(value, &n->uid);
    else if (!strcmp(key, "gid"))
        ok = n->has_gid = text && decimal(value, &n->gid);
    else if (!strcmp(key, "mtime"))
        ok = n->has_mtime = text && time_text(value, &n->mtime);
    return ok ? NULL : "a pax header has an invalid number";
}

/* Records are `LENGTH KEY=VALUE\n`, where LENGTH includes itself. */
static const char *overrides_parse(struct tar_overrides *n, size_t length)
{
    const char *broken = "a pax header is malformed";
    for (size_t at = 0; at < length;) {
        size_t record = 0, i = at;
        for (; i < length && n->body[i] >= '0' && n->body[i] <= '9' && record < TAR_PAX_MAX; i++)
            record = record * 10 + (size_t)(n->body[i] - '0');
        if (i == at || i >= length || n->body[i] != ' ' || record > length - at || at + record <= i + 1
            || n->body[at + record - 1] != '\n')
            return broken;
        char *key = n->body + i + 1, *end = n->body + at + record - 1;
        char *equals = memchr(key, '=', (size_t)(end - key));
        if (!equals || equals == key || memchr(key, 0, (size_t)(equals - key))) return broken;
        *equals = 0;
        *end = 0;
        const char *problem = override_apply(n, key, equals + 1, (size_t)(end - equals - 1));
        if (problem) return problem;
        at += record;
    }
    return NULL;
}

/* Reads the body of a header into a new NUL-terminated buffer. */
static char *header_body(struct tar_reader *r, uint64_t size)
{
    if (size > TAR_PAX_MAX) {
        r->problem = "a pax header or long name is larger than 1 MiB";
        return NULL;
    }
    char *body = malloc((size_t)size + 1);
    if (!body) {
        r->problem = "the agent is out of memory";
        return NULL;
    }
    body[size] = 0;
    if (!take(r, body, (size_t)size) || !tar_reader_skip(r, tar_padding(size))) {
        free(body);
        return NULL;
    }
    return body;
}

static bool override_read(struct tar_reader *r, char type, uint64_t size)
{
    char *body = header_body(r, size);
    if (!body) return false;
    struct tar_overrides *n = type == TAR_PAX_GLOBAL ? &r->global : &r->next;
    if (type == TAR_GNU_NAME || type == TAR_GNU_LINK) {
        char **copy = type == TAR_GNU_NAME ? &n->name : &n->target;
        free(*copy);
        *copy = body;
        return true;
    }
    /* A second pax header for an entry replaces the first; a GNU long name stays. */
    free(n->body);
    n->body = body;
    n->ranges = NULL;
    n->attribute_count = 0;
    r->problem = overrides_parse(n, (size_t)size);
    return !r->problem;
}

/* ---- entries ------------------------------------------------------------------------------------------- */

int32_t tar_sum_signed(const struct tar_header *h)
{
    const int8_t *p = (const int8_t *)h;
    int32_t sum = 8 * ' ';
    for (size_t i = 0; i < TAR_BLOCK; i++)
        if (i < offsetof(struct tar_header, checksum) || i >= offsetof(struct tar_header, type)) sum += p[i];
    return sum;
}

static bool all_zero(const struct tar_header *h)
{
    static const struct tar_header zero;
    return !memcmp(h, &zero, sizeof zero);
}

/* Returns false at the end; sets `problem` or `over` if the end is premature. */
static bool header_read(struct tar_reader *r, struct tar_header *h, bool fresh)
{
    if (r->position == r->length && !fill(r)) {
        /* No trailer: many programs omit it, and between entries nothing is lost. */
        if (!r->over && !fresh) r->problem = "the archive ends after a header that describes an entry";
        return false;
    }
    if (!take(r, h, sizeof *h)) return false;
    uint64_t sum;
    if (all_zero(h)) return false;
    if (!number(h->checksum, sizeof h->checksum, &sum) || (sum != tar_sum(h) && (int64_t)sum != tar_sum_signed(h))) {
        r->problem = "a header's checksum is wrong";
        return false;
    }
    return true;
}

static void field_copy(char *out, const char *field, size_t width)
{
    size_t length = strnlen(field, width);
    memcpy(out, field, length);
    out[length] = 0;
}

static void names_set(struct tar_reader *r, const struct tar_header *h, struct tar_entry *e)
{
    size_t length = 0;
    if (!memcmp(h->magic, "ustar", 6) && h->prefix[0]) { /* including its NUL: GNU tar has other fields there */
        field_copy(r->name, h->prefix, sizeof h->prefix);
        length = strlen(r->name);
        r->name[length++] = '/';
    }
    field_copy(r->name + length, h->name, sizeof h->name);
    field_copy(r->target, h->linkname, sizeof h->linkname);
    e->name = r->next.name ? r->next.name : r->name;
    e->target = r->next.target ? r->next.target : r->target;
}

/* Takes decimal digits, and a blank before them unless they are the first. */
static bool range_number(const char **text, bool first, uint64_t *out)
{
    char digits[24];
    const char *p = *text;
    if (!first && *p++ != ' ') return false;
    size_t length = strspn(p, "0123456789");
    if (length == 0 || length >= sizeof digits) return false;
    memcpy(digits, p, length);
    digits[length] = 0;
    *text = p + length;
    return decimal(digits, out);
}

bool tar_range_next(const char **ranges, uint64_t *offset, uint64_t *length)
{
    return range_number(ranges, false, offset) && range_number(ranges, false, length);
}

/* Verifies the ranges, which must be in order, within the file, and as long as the content. */
static bool sparse_set(const char *ranges, struct tar_entry *e)
{
    uint64_t end = 0, data = 0, offset, length;
    if (!ranges || !range_number(&ranges, true, &e->file_size)) return false;
    e->ranges = ranges;
    while (*ranges) {
        if (!tar_range_next(&ranges, &offset, &length) || offset < end || length > e->file_size
            || offset > e->file_size - length)
            return false;
        end = offset + length;
        data += length;
    }
    return data == e->size;
}

static bool entry_set(struct tar_reader *r, const struct tar_header *h, struct tar_entry *e)
{
    const struct tar_overrides *n = &r->next, *g = &r->global;
    uint64_t mode, mtime = 0;
    memset(e, 0, sizeof *e);
    names_set(r, h, e);
    e->type = h->type;
    if (!number(h->mode, sizeof h->mode, &mode) || !number(h->uid, sizeof h->uid, &e->uid)
        || !number(h->gid, sizeof h->gid, &e->gid) || !number(h->size, sizeof h->size, &e->size)) {
        r->problem = "a header has an invalid number";
        return false;
    }
    number(h->mtime, sizeof h->mtime, &mtime); /* times before 1970 become 1970 */
    e->mode = (mode_t)(mode & 07777);
    e->mtime.tv_sec = (time_t)mtime;
    if (n->has_size) e->size = n->size;
    if (n->has_uid || g->has_uid) e->uid = n->has_uid ? n->uid : g->uid;
    if (n->has_gid || g->has_gid) e->gid = n->has_gid ? n->gid : g->gid;
    if (n->has_mtime || g->has_mtime) e->mtime = n->has_mtime ? n->mtime : g->mtime;
    if (e->size > INT64_MAX / 2 || strlen(e->name) > TAR_NAME_MAX || strlen(e->target) > TAR_NAME_MAX) {
        r->problem = "an entry's size or name is too large";
        return false;
    }
    e->file_size = e->size;
    if (e->type == TAR_SPARSE && n->ranges && !sparse_set(n->ranges, e)) {
        r->problem = "the ranges of a sparse file are invalid";
        return false;
    }
    if (e->type == TAR_FILE_OLD || e->type == TAR_FILE_DENSE) e->type = TAR_FILE;
    size_t length = strlen(e->name);
    if (e->type == TAR_FILE && length > 0 && e->name[length - 1] == '/') e->type = TAR_FOLDER; /* pre-ustar folders */
    memcpy(e->attributes, n->attributes, sizeof e->attributes);
    e->attribute_count = n->attribute_count;
    return true;
}

bool tar_reader_next(struct tar_reader *r, struct tar_entry *e)
{
    struct tar_header h;
    overrides_clear(&r->next);
    for (int notes = 0;; notes++) {
        if (!header_read(r, &h, notes == 0)) return false;
        if (h.type != TAR_PAX && h.type != TAR_PAX_GLOBAL && h.type != TAR_GNU_NAME && h.type != TAR_GNU_LINK)
            return entry_set(r, &h, e);
        uint64_t size;
        if (notes == OVERRIDES_IN_A_ROW_MAX || !number(h.size, sizeof h.size, &size)) {
            r->problem = "a pax header or long name is malformed";
            return false;
        }
        if (!override_read(r, h.type, size)) return false;
    }
}

void tar_reader_stop(struct tar_reader *r)
{
    overrides_clear(&r->next);
    overrides_clear(&r->global);
}
