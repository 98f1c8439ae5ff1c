/* Writes a tar archive as DATA frames. It knows the format only, not trees. */
#ifndef ISOLA_TAR_WRITER_H
#define ISOLA_TAR_WRITER_H

#include <sys/stat.h>

#include "stream.h"
#include "tar.h"

/* A range of a file that holds data. */
struct tar_range {
    uint64_t offset, length;
};

struct tar_writer {
    struct stream *s;
    bool over;          /* cancelled or dropped */
    bool exact_times;   /* to the nanosecond, which needs a pax header for nearly every entry */
    bool marks;         /* add a mark to each file that identifies its unchanged version */
    bool unchanged;     /* the next entry has its mark and size, but no content */
    const char *prefix; /* of all names, without a trailing slash; NULL for none */
    int number;         /* errno of the first failure */
    uint8_t *buffer;    /* small files share one frame */
    size_t used;
    uint64_t count, size; /* entries and bytes */
    char *pax;
    size_t pax_length;
    uint8_t *deferred; /* deferred headers, written only if an entry beneath their folder follows */
    size_t deferred_length, deferred_capacity;
    uint64_t deferred_count;
    bool deferring;
    struct tar_range *ranges; /* of the next sparse file */
    size_t range_count;
};

bool tar_writer_start(struct tar_writer *w, struct stream *s);
bool tar_writer_active(const struct tar_writer *w);

/*
 * Writes the header of an entry, preceded by a pax header where ustar is too limited. `fd` is the entry itself where it
 * can have extended attributes, or -1; `target` is the target of a link, or NULL. A file's content must follow.
 */
void tar_put_entry(struct tar_writer *w, const char *name, char type, const struct stat *st, const char *target,
                   int fd);
/* Defers headers from now on; the first write after `tar_defer(w, false)` includes them. */
void tar_defer(struct tar_writer *w, bool keep);
/* Discards the last deferred entry, back to `length`, if it has not been written. */
void tar_discard_deferred(struct tar_writer *w, size_t length);
/* Reads the content directly into frames. Pads a file that has shrunk with zeros and truncates one that has grown. */
void tar_put_content(struct tar_writer *w, int fd, uint64_t size);
/* Writes a file without its holes. Returns false, and writes nothing, if it has none that are worth it. */
bool tar_put_sparse(struct tar_writer *w, const char *name, const struct stat *st, int fd);
/* Writes the end of the archive and flushes the buffer. */
void tar_finish(struct tar_writer *w);
void tar_writer_stop(struct tar_writer *w);

#endif
