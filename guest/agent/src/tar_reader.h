/*
 * Reads a tar stream as a series of entries: ustar, pax, GNU long names and base-256 numbers. It checks the format and
 * does not touch files; tar_in.c decides what an entry may do.
 */
#ifndef ISOLA_TAR_READER_H
#define ISOLA_TAR_READER_H

#include <sys/types.h>
#include <time.h>

#include "stream.h"
#include "tar.h"

enum { TAR_ATTRIBUTES_MAX = 64, TAR_NAME_MAX = 65536 };

struct tar_attribute {
    const char *name;
    const uint8_t *value;
    size_t length;
};

/* The strings are valid until the next entry is read. */
struct tar_entry {
    const char *name, *target;
    char type;          /* TAR_FILE for all variants */
    uint64_t size;      /* of the content in the archive */
    uint64_t file_size; /* with holes */
    const char *ranges; /* of TAR_SPARSE, behind the size: offset and length of each */
    mode_t mode;
    uint64_t uid, gid;
    struct timespec mtime;
    struct tar_attribute attributes[TAR_ATTRIBUTES_MAX];
    int attribute_count;
};

/* Metadata from a pax header or a GNU long name, for following entries. */
struct tar_overrides {
    char *body; /* of the pax header; the attributes point into it */
    char *name, *target;
    const char *ranges; /* in the body */
    bool has_size, has_uid, has_gid, has_mtime;
    uint64_t size, uid, gid;
    struct timespec mtime;
    struct tar_attribute attributes[TAR_ATTRIBUTES_MAX];
    int attribute_count;
};

struct tar_reader {
    struct stream *s;
    const uint8_t *data; /* from the stream, valid until the next receive */
    size_t position, length;
    bool ended;          /* the server's EOF */
    bool over;           /* cancelled or dropped */
    const char *problem; /* reason why the archive is invalid, or NULL */
    struct tar_overrides next, global;
    char name[sizeof((struct tar_header *)0)->prefix + sizeof((struct tar_header *)0)->name + 2];
    char target[sizeof((struct tar_header *)0)->linkname + 1];
};

/* Reads the next entry. Returns false at the end of the archive, or with `over` or `problem` set. */
bool tar_reader_next(struct tar_reader *r, struct tar_entry *e);
/* Takes the next range from the text that `*ranges` points to. Returns false at its end, or if it is malformed. */
bool tar_range_next(const char **ranges, uint64_t *offset, uint64_t *length);
/* Returns some of the entry's content, at most `most` bytes; 0 when over or truncated (problem). */
size_t tar_reader_content(struct tar_reader *r, const uint8_t **data, uint64_t most);
/* Skips content or padding. */
bool tar_reader_skip(struct tar_reader *r, uint64_t length);
/* Discards what follows the end of the archive, up to the server's EOF. */
void tar_reader_drain(struct tar_reader *r);
void tar_reader_stop(struct tar_reader *r);

#endif
